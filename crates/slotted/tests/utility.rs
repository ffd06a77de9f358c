//! Theorem 2: with the flow control of equation (5), rates come to those of largest utility.

mod common;

use backlane_slotted::{Arrivals, Config, FlowControl, Interference};
use common::{diamond, downlink, finished, flow};

/// What the rates lack of the best sum of logarithms, as a share of it.
fn gap(config: &Config, m: f64, k_pkts: u32, best: &[f64]) -> f64 {
    let config = Config {
        k_pkts,
        flow_control: FlowControl { m, r_max_pkts: 2.0 },
        warm_up_slots: 100_000,
        ..config.clone()
    };
    let model = finished(&config, 1);
    let utility: f64 = (model.statistics().iter())
        .map(|flow| (flow.delivered_pkts as f64 / config.slots as f64).ln())
        .sum();
    let optimum: f64 = best.iter().copied().map(f64::ln).sum();
    (optimum - utility) / optimum.abs()
}

#[test]
fn the_gap_falls_with_m_and_is_within_2_percent_at_500() {
    // x1 ≤ 0.8, x2 ≤ 0.4, x1 + x2 ≤ 1 − 0.2 · 0.6: equal rates are out of reach of the second,
    // so it gets all that it can.
    let one_hop = downlink([0.8, 0.4], [Arrivals::Utility; 2], 300_000);
    // Each packet from A to D takes two slots: x1 + 2 x2 ≤ 1, so x1 = 1/2 and x2 = 1/4.
    let mut two_hops = diamond(Interference::CollisionDomain, Arrivals::Utility, 300_000);
    two_hops.flow.insert(0, flow(0, 1, Arrivals::Utility));
    for (config, best) in [(one_hop, [0.48, 0.4]), (two_hops, [0.5, 0.25])] {
        for k_pkts in [0, 10, 50] {
            let gaps = [5.0, 50.0, 500.0].map(|m| gap(&config, m, k_pkts, &best));
            assert!(gaps[2].abs() <= 0.02, "K {k_pkts}: {gaps:?}");
            assert!(
                gaps[0] > gaps[1] && gaps[1] > gaps[2],
                "K {k_pkts}: {gaps:?}"
            );
        }
    }
}
