//! Times in messages, eight bits each.

use backlane_units::Duration;

/// A time as a HELLO or a message header carries it: C·(1 + a/16)·2ᵇ with C = 1/16 s, a in the
/// upper four bits and b in the lower (RFC 3626 §3.3.2, §18.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeCode(pub u8);

/// C/16.
const STEP_PS: u64 = 1_000_000_000_000 / 256;

impl TimeCode {
    /// The shortest representable time that is not shorter than `time`; 3968 s at most.
    pub fn encode(time: Duration) -> Self {
        for b in 0..16u32 {
            // The RFC rounds a up, so that no entry expires early.
            let mantissa = time.as_ps().div_ceil(STEP_PS << b);
            if mantissa < 32 {
                return Self((mantissa.saturating_sub(16) as u8) << 4 | b as u8);
            }
        }
        Self(u8::MAX)
    }

    /// The decoded time.
    pub fn decode(self) -> Duration {
        let (a, b) = (u64::from(self.0 >> 4), self.0 & 0xf);
        Duration::from_ps((STEP_PS * (16 + a)) << b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 3626 §18.3 writes NEIGHB_HOLD_TIME as 0x86 and TOP_HOLD_TIME as 0xe7.
    #[test]
    fn times_are_written_as_the_rfc_does() {
        for (secs, code) in [(2, 0x05), (5, 0x46), (6, 0x86), (15, 0xe7), (30, 0xe8)] {
            let time = Duration::from_secs(secs);
            assert_eq!(TimeCode::encode(time), TimeCode(code), "{secs} s");
            assert_eq!(TimeCode(code).decode(), time);
        }
        assert_eq!(TimeCode::encode(Duration::ZERO), TimeCode(0));
        assert_eq!(TimeCode::encode(Duration::MAX), TimeCode(0xff));
        assert_eq!(TimeCode(0xff).decode(), Duration::from_secs(3968));
        // 100 ms is 1.6 C: a = 9.6, rounded up to 10.
        assert_eq!(TimeCode::encode(Duration::from_millis(100)), TimeCode(0xa0));
    }

    proptest! {
        #[test]
        fn a_time_is_rounded_up_by_less_than_a_sixteenth(us in 62_500u64..3_968_000_000) {
            let time = Duration::from_micros(us);
            let read = TimeCode::encode(time).decode();
            prop_assert!(read >= time);
            prop_assert!(read.as_ps() - time.as_ps() < time.as_ps() / 16 + 1);
        }
    }
}
