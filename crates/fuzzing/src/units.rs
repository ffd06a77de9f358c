//! Any quantity that can be read prints as a text that reads as the same.

use backlane_units::{Angle, Bytes, Duration, Frequency, Length, Power, Rate, Speed};

/// Reads the bytes as every quantity.
///
/// # Panics
/// If a printed quantity is parsed to another one.
pub fn units(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    macro_rules! round_trip {
        ($($quantity:ty),*) => {
            $(match text.parse::<$quantity>() {
                Ok(value) => assert_eq!(value.to_string().parse(), Ok(value)),
                Err(error) => assert!(!error.to_string().is_empty()),
            })*
        };
    }
    round_trip!(
        Angle, Bytes, Duration, Frequency, Length, Power, Rate, Speed
    );
}
