#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backlane_fuzzing::slotted(bytes));
