//! Any text is refused with a report or resolves to a fixed point.
#![no_main]

use backlane_scenario::{Described, plan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(plan) = plan(text, "fuzzed.toml", &[], None) {
        for cell in &plan.cells {
            Described::from_resolved(&cell.resolved).expect("a resolved cell is a scenario");
            let again = self::plan(&cell.resolved, "resolved.toml", &[], None)
                .expect("a resolved cell resolves");
            assert_eq!(again.cells[0].resolved, cell.resolved);
        }
    }
});
