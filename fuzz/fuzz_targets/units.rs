//! Any quantity that can be read prints as a text that reads as the same.
#![no_main]

use backlane_units::{Bytes, Duration, Frequency, Length, Power, Rate, Speed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    macro_rules! round_trip {
        ($($quantity:ty),*) => {
            $(if let Ok(value) = text.parse::<$quantity>() {
                assert_eq!(value.to_string().parse(), Ok(value));
            })*
        };
    }
    round_trip!(Bytes, Duration, Frequency, Length, Power, Rate, Speed);
});
