//! Any sites file is read or refused with a report.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = backlane_scenario::check_sites(text, "fuzzed.csv").map_err(|report| report.to_string());
});
