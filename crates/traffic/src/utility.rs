//! Flow control by utility: a source sends at the rates that maximise the utility of its flows less
//! the cost of their backlogs (Seferoglu and Modiano 2014, eq. (5), with a logarithmic utility).

use backlane_units::Duration;

/// Flow control of a load over UDP. In each slot the source chooses the rates x of its flows, in
/// packets a slot, so that Σ (M · ln x − U · x) is maximal, with Σ x bounded by its rate. U is the
/// flow's backlog at the router of its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utility {
    /// M, in packets squared; above zero. Larger values tolerate longer queues.
    pub m: f64,
    /// Length of a slot; not zero.
    pub slot: Duration,
}

/// One flow in a source's choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Demand {
    /// M.
    pub(crate) m: f64,
    /// U.
    pub(crate) backlog_pkts: u32,
    /// The rate of one packet per slot.
    pub(crate) unit_bps: f64,
}

impl Demand {
    /// x = M / (U + μ · unit), the rate at which the marginal utility of a bit is its `price` μ.
    pub(crate) fn pkts_per_slot(&self, price: f64) -> f64 {
        self.m / (f64::from(self.backlog_pkts) + price * self.unit_bps)
    }

    fn rate_bps(&self, price: f64) -> f64 {
        self.pkts_per_slot(price) * self.unit_bps
    }
}

/// The price μ at which the total rate of a source's flows is at most `most_bps`; zero if it is
/// lower without a price.
pub(crate) fn price(flows: &[Demand], most_bps: f64) -> f64 {
    let total = |price| -> f64 { flows.iter().map(|flow| flow.rate_bps(price)).sum() };
    if total(0.0) <= most_bps {
        return 0.0;
    }
    // At this price even flows without a backlog send no more than that.
    let mut high = flows.iter().map(|flow| flow.m).sum::<f64>() / most_bps;
    let mut low = 0.0;
    // Until the two are adjacent floating-point numbers, or nearly.
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if total(middle) > most_bps {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNIT_BPS: f64 = 800_000.0;

    fn demand(m: f64, backlog_pkts: u32) -> Demand {
        Demand {
            m,
            backlog_pkts,
            unit_bps: UNIT_BPS,
        }
    }

    #[test]
    fn a_queue_of_m_packets_gets_one_packet_a_slot() {
        let flow = demand(50.0, 50);
        assert_eq!(price(&[flow], 2e6), 0.0);
        assert_eq!(flow.pkts_per_slot(0.0), 1.0);
    }

    #[test]
    fn an_empty_queue_gets_all_that_the_source_may_send() {
        let flow = demand(50.0, 0);
        let rate = flow.rate_bps(price(&[flow], 1.5e6));
        assert!((rate / 1.5e6 - 1.0).abs() < 1e-12, "{rate}");
    }

    /// The best division of the rate between two flows, by trying a hundred thousand.
    #[test]
    fn two_flows_share_the_rate_as_the_convex_optimum_does() {
        for (one, other) in [(0, 0), (3, 17), (10, 90), (0, 40)] {
            let flows = [demand(50.0, one), demand(50.0, other)];
            let most_pkts = 2.5;
            let price = price(&flows, most_pkts * UNIT_BPS);
            let worth = |x: [f64; 2]| {
                let costs = [one, other].map(f64::from);
                (0..2)
                    .map(|i| 50.0 * libm::log(x[i]) - costs[i] * x[i])
                    .sum::<f64>()
            };
            let ours = flows.map(|flow| flow.pkts_per_slot(price));
            let steps = 100_000;
            let best = (1..steps)
                .map(|step| most_pkts * f64::from(step) / f64::from(steps))
                .map(|x| worth([x, most_pkts - x]))
                .fold(f64::MIN, f64::max);
            assert!(ours.iter().sum::<f64>() <= most_pkts * (1.0 + 1e-9));
            assert!(worth(ours) >= best - 1e-6, "{ours:?} for {one} and {other}");
        }
    }

    proptest! {
        /// Karush, Kuhn and Tucker: M/x − U is the same for all flows, and zero unless the rate is
        /// used up.
        #[test]
        fn the_conditions_of_an_optimum_hold(
            backlogs in prop::collection::vec(0u32..200, 1..8),
            most_bps in 1e5f64..1e8,
        ) {
            let flows: Vec<_> = backlogs.into_iter().map(|pkts| demand(50.0, pkts)).collect();
            let price = price(&flows, most_bps);
            let total: f64 = flows.iter().map(|flow| flow.rate_bps(price)).sum();
            prop_assert!(total <= most_bps * (1.0 + 1e-9));
            prop_assert!(price == 0.0 || total >= most_bps * (1.0 - 1e-9));
            for flow in &flows {
                let gain = flow.m / flow.pkts_per_slot(price) - f64::from(flow.backlog_pkts);
                let scale = f64::from(flow.backlog_pkts).max(1.0);
                prop_assert!((gain - price * UNIT_BPS).abs() < 1e-6 * scale.max(price * UNIT_BPS));
            }
        }
    }
}
