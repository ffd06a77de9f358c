//! Quantities as text: exact both ways, and every refusal says why.

use backlane_units::{
    Angle, Bytes, Decibels, Duration, Frequency, Length, Power, Quantity, Rate, Speed, UnitError,
};
use proptest::prelude::*;

fn text<T: std::str::FromStr<Err = UnitError> + ToString>(text: &str) -> String {
    text.parse::<T>()
        .map_or_else(|error| format!("error: {error}"), |value| value.to_string())
}

#[test]
fn each_quantity_prints_in_its_canonical_unit() {
    assert_eq!(text::<Rate>("0.5 Gbit/s"), "500 Mbit/s");
    assert_eq!(text::<Rate>("500Mbps"), "500 Mbit/s");
    assert_eq!(text::<Rate>("1 MB/s"), "8 Mbit/s");
    assert_eq!(text::<Rate>("1 Kibit/s"), "1024 bit/s");
    assert_eq!(text::<Duration>("0.5 ms"), "500 us");
    assert_eq!(text::<Duration>("2 min"), "120 s");
    assert_eq!(text::<Duration>("0 ms"), "0 s");
    assert_eq!(text::<Duration>("5e-3 s"), "5 ms");
    assert_eq!(text::<Bytes>("10 MB"), "10 MB");
    assert_eq!(text::<Bytes>("6291456 B"), "6 MiB");
    assert_eq!(text::<Bytes>("8 kbit"), "1 kB");
    assert_eq!(text::<Length>("-0.12 km"), "-120 m");
    assert_eq!(text::<Length>("12.345 m"), "12.345 m");
    assert_eq!(text::<Frequency>("2.65 GHz"), "2650 MHz");
    assert_eq!(text::<Power>("-174 dBm"), "-174 dBm");
    assert_eq!(text::<Power>("-0.5 dBm"), "-0.5 dBm");
    assert_eq!(text::<Decibels>("-0.25 dB"), "-0.25 dB");
    assert_eq!(text::<Angle>("45.5 deg"), "45.5 deg");
    assert_eq!(text::<Speed>("60 km/h"), "60 km/h");
    assert_eq!(text::<Speed>("10 m/s"), "36 km/h");
}

#[test]
fn a_bare_number_is_refused_with_the_number_in_the_mend() {
    let error = "4.5".parse::<Duration>().unwrap_err();
    assert_eq!(
        error,
        UnitError::MissingUnit {
            quantity: Quantity::Duration,
            number: "4.5".into()
        }
    );
    assert_eq!(error.help(), r#"write "4.5 ms" (or "4.5 s")"#);
}

#[test]
fn a_misspelled_unit_names_the_nearest() {
    let nearest = |error: UnitError| match error {
        UnitError::UnknownUnit { nearest, .. } => nearest,
        _ => panic!("{error:?}"),
    };
    assert_eq!(
        nearest("5 mbit/s".parse::<Rate>().unwrap_err()),
        Some("Mbit/s")
    );
    assert_eq!(nearest("5 sec".parse::<Duration>().unwrap_err()), Some("s"));
    assert_eq!(nearest("5 Mb".parse::<Bytes>().unwrap_err()), Some("MB"));
    assert_eq!(nearest("5 furlongs".parse::<Length>().unwrap_err()), None);
}

#[test]
fn what_cannot_be_kept_exactly_is_refused() {
    assert_eq!(
        "0.3 ps".parse::<Duration>(),
        Err(UnitError::Lossy {
            quantity: Quantity::Duration
        })
    );
    assert_eq!(
        "1 bit".parse::<Bytes>(),
        Err(UnitError::Lossy {
            quantity: Quantity::Bytes
        })
    );
    assert_eq!(
        "1e-400000000 s".parse::<Duration>(),
        Err(UnitError::Lossy {
            quantity: Quantity::Duration
        })
    );
    assert_eq!(
        "-1 ms".parse::<Duration>(),
        Err(UnitError::Negative {
            quantity: Quantity::Duration
        })
    );
    assert!("300 days".parse::<Duration>().is_err());
    assert_eq!(
        "1e9 h".parse::<Duration>(),
        Err(UnitError::Overflow {
            quantity: Quantity::Duration
        })
    );
    assert_eq!(
        "999999999999999999999999999999999999999999 B".parse::<Bytes>(),
        Err(UnitError::Overflow {
            quantity: Quantity::Bytes
        })
    );
    assert_eq!(
        "fast".parse::<Rate>(),
        Err(UnitError::NotANumber {
            quantity: Quantity::Rate
        })
    );
    assert_eq!(
        "NaN s".parse::<Duration>(),
        Err(UnitError::NotANumber {
            quantity: Quantity::Duration
        })
    );
    assert_eq!(
        "".parse::<Rate>(),
        Err(UnitError::NotANumber {
            quantity: Quantity::Rate
        })
    );
    assert_eq!(
        ". s".parse::<Duration>(),
        Err(UnitError::NotANumber {
            quantity: Quantity::Duration
        })
    );
}

proptest! {
    #[test]
    fn printing_and_reading_are_inverse(value: u64, signed: i64) {
        prop_assert_eq!(Duration::from_ps(value).to_string().parse(), Ok(Duration::from_ps(value)));
        prop_assert_eq!(Rate::from_bps(value).to_string().parse(), Ok(Rate::from_bps(value)));
        prop_assert_eq!(Bytes::new(value).to_string().parse(), Ok(Bytes::new(value)));
        prop_assert_eq!(Frequency::from_hz(value).to_string().parse(), Ok(Frequency::from_hz(value)));
        prop_assert_eq!(Length::from_um(signed).to_string().parse(), Ok(Length::from_um(signed)));
        prop_assert_eq!(Power::from_mdbm(signed).to_string().parse(), Ok(Power::from_mdbm(signed)));
        let speed = Speed::from_um_per_h(value >> 1);
        prop_assert_eq!(speed.to_string().parse(), Ok(speed));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", number in "[-+]?[0-9]{0,45}\\.?[0-9]{0,45}(e-?[0-9]{1,12})? ?[a-zA-Zµ/]{0,7}") {
        for text in [text, number] {
            let _ = text.parse::<Duration>();
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Length>();
            let _ = text.parse::<Frequency>();
            let _ = text.parse::<Power>();
            let _ = text.parse::<Speed>();
        }
    }
}
