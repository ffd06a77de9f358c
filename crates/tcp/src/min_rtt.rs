//! The smallest RTT of the last five minutes (Linux: `tcp_min_rtt_wlen`, 300 s), by Nichols's
//! filter of three candidates.

/// How long a minimum is valid.
const WINDOW_US: u64 = 300_000_000;

#[derive(Clone, Copy, Debug)]
struct Candidate {
    at_us: u64,
    rtt_us: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct MinRtt {
    /// The smallest sample, the smallest since then, and the smallest since that one.
    best: Option<[Candidate; 3]>,
}

impl MinRtt {
    #[inline]
    pub(crate) fn on_sample(&mut self, at_us: u64, rtt_us: u64) {
        let sample = Candidate { at_us, rtt_us };
        let Some(best) = &mut self.best else {
            self.best = Some([sample; 3]);
            return;
        };
        if rtt_us <= best[0].rtt_us || at_us - best[2].at_us > WINDOW_US {
            *best = [sample; 3];
            return;
        }
        if rtt_us <= best[1].rtt_us {
            best[1] = sample;
            best[2] = sample;
        } else if rtt_us <= best[2].rtt_us {
            best[2] = sample;
        }
        let age_us = at_us - best[0].at_us;
        if age_us > WINDOW_US {
            *best = [best[1], best[2], sample];
            if at_us - best[0].at_us > WINDOW_US {
                *best = [best[1], best[2], sample];
            }
        } else if best[1].at_us == best[0].at_us && age_us > WINDOW_US / 4 {
            best[1] = sample;
            best[2] = sample;
        } else if best[2].at_us == best[1].at_us && age_us > WINDOW_US / 2 {
            best[2] = sample;
        }
    }

    #[inline]
    pub(crate) fn rtt_us(&self) -> Option<u64> {
        self.best.map(|best| best[0].rtt_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_is_forgotten_after_five_minutes() {
        let mut min = MinRtt::default();
        min.on_sample(0, 40_000);
        for second in 1..=300 {
            min.on_sample(second * 1_000_000, 50_000);
        }
        assert_eq!(min.rtt_us(), Some(40_000));
        min.on_sample(301_000_000, 50_000);
        assert_eq!(min.rtt_us(), Some(50_000));
    }

    #[test]
    fn a_smaller_sample_counts_at_once() {
        let mut min = MinRtt::default();
        min.on_sample(0, 40_000);
        min.on_sample(1, 39_000);
        min.on_sample(2, 45_000);
        assert_eq!(min.rtt_us(), Some(39_000));
    }
}
