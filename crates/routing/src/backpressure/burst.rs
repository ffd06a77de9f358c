//! When a burst ends: the next packet of the flow is then decided like the first packet of a new
//! flow.
//!
//! Patriciello et al. 2017 propose bursts of a fixed time, on congestion, or both in §6.2 without
//! details; flowlets end at a gap in the flow (Kandula, Katabi, Sinha and Berger 2007).

use backlane_units::Duration;

use super::config::{Burst, Reaction};

impl Burst {
    /// Whether time alone ends a burst whose decision is `age` old and whose last packet came
    /// `gap` ago.
    #[inline]
    pub(super) fn is_over(&self, age: Duration, gap: Duration) -> bool {
        match self {
            Self::Periodic { period } | Self::Hybrid { period, .. } => age >= *period,
            Self::Reactive { .. } => false,
            Self::Flowlet { gap: limit } => gap > *limit,
        }
    }

    /// The definition of congestion, and the minimum age of a decision that congestion may end.
    #[inline]
    pub(super) fn reaction(&self) -> Option<(&Reaction, Duration)> {
        match self {
            Self::Periodic { .. } | Self::Flowlet { .. } => None,
            Self::Reactive { reaction } => Some((reaction, reaction.hold)),
            Self::Hybrid {
                min_age, reaction, ..
            } => Some((reaction, reaction.hold.max(*min_age))),
        }
    }
}

impl Reaction {
    /// Whether a queue of this length is congested.
    pub(super) fn is_full(&self, queue_pkts: u32, limit_pkts: u32) -> bool {
        f64::from(queue_pkts) > self.queue_share * f64::from(limit_pkts)
    }

    /// Whether the best other weight exceeds the chosen neighbour's by the margin. A weight that is
    /// not positive is no alternative.
    pub(super) fn stands_out(&self, other: f64, chosen: f64) -> bool {
        other > (1.0 + self.advantage) * chosen.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACTION: Reaction = Reaction {
        queue_share: 0.75,
        advantage: 0.25,
        hold: Duration::from_millis(100),
    };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_periodic_burst_ends_at_its_age_and_a_flowlet_after_its_gap() {
        let periodic = Burst::Periodic { period: ms(1000) };
        assert!(!periodic.is_over(ms(999), ms(900)));
        assert!(periodic.is_over(ms(1000), ms(0)));
        let flowlet = Burst::Flowlet { gap: ms(20) };
        assert!(!flowlet.is_over(ms(5000), ms(20)));
        assert!(flowlet.is_over(ms(30), ms(21)));
    }

    #[test]
    fn only_reactive_and_hybrid_bursts_react_and_a_hybrid_waits_for_its_minimum_age() {
        assert_eq!(Burst::Flowlet { gap: ms(20) }.reaction(), None);
        assert!(!Burst::Reactive { reaction: REACTION }.is_over(ms(60_000), ms(60_000)));
        let age = |burst: Burst| burst.reaction().map(|(_, age)| age);
        assert_eq!(age(Burst::Reactive { reaction: REACTION }), Some(ms(100)));
        let hybrid = Burst::Hybrid {
            period: ms(5000),
            min_age: ms(500),
            reaction: REACTION,
        };
        assert_eq!(age(hybrid), Some(ms(500)));
        assert!(hybrid.is_over(ms(5000), ms(0)));
    }

    #[test]
    fn congestion_is_a_queue_above_its_share_or_a_weight_that_stands_out() {
        // 0.75 · 340 = 255.
        assert!(!REACTION.is_full(255, 340));
        assert!(REACTION.is_full(256, 340));
        assert!(!REACTION.stands_out(125.0, 100.0));
        assert!(REACTION.stands_out(126.0, 100.0));
        // A neighbour without positive weight loses to any neighbour with one.
        assert!(REACTION.stands_out(1.0, -50.0));
        assert!(!REACTION.stands_out(0.0, -50.0));
    }
}
