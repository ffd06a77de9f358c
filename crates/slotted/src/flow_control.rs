//! The flow control of equation (5) for the utility log x.

/// Halvings of an interval; the rates are then exact to the last bits.
const HALVINGS: u32 = 64;

/// Writes into `rates` the rates x that maximise Σ (m log x − backlog x) with Σ x ≤ r_max.
///
/// Where the bound does not bind, the derivative is zero at x = m/backlog. Where it does, x =
/// m/(backlog + μ) with the one price μ at which the rates add up to the bound, which bisection
/// finds: the sum falls with μ, is above the bound at μ = 0, and at most at the bound at μ = n
/// m/r_max.
pub fn rates(m: f64, r_max_pkts: f64, backlogs_pkts: &[u64], rates: &mut Vec<f64>) {
    let sum = |price: f64| -> f64 {
        let rate = |&backlog: &u64| m / (backlog as f64 + price);
        backlogs_pkts.iter().map(rate).sum()
    };
    let mut price = 0.0;
    // An empty queue alone asks for more than any bound: m/0 is infinite.
    if sum(0.0) > r_max_pkts {
        let (mut low, mut high) = (0.0, backlogs_pkts.len() as f64 * m / r_max_pkts);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if sum(middle) > r_max_pkts {
                low = middle;
            } else {
                high = middle;
            }
        }
        price = high;
    }
    rates.clear();
    let rate = |&backlog: &u64| m / (backlog as f64 + price);
    rates.extend(backlogs_pkts.iter().map(rate));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(m: f64, r_max: f64, backlogs: &[u64]) -> Vec<f64> {
        let mut found = Vec::new();
        rates(m, r_max, backlogs, &mut found);
        found
    }

    #[test]
    fn rates_are_m_over_backlog_where_the_bound_does_not_bind() {
        assert_eq!(of(50.0, 4.0, &[50, 100]), [1.0, 0.5]);
    }

    #[test]
    fn empty_queues_share_the_bound() {
        let found = of(50.0, 1.0, &[0, 0, 0, 0]);
        for rate in found {
            assert!((rate - 0.25).abs() < 1e-12, "{rate}");
        }
        assert!((of(10.0, 2.0, &[0])[0] - 2.0).abs() < 1e-12);
    }

    /// Karush, Kuhn and Tucker: the rates use the bound, and m/x − backlog is one price.
    #[test]
    fn where_the_bound_binds_all_flows_pay_one_price() {
        let backlogs = [0, 3, 17, 90];
        let found = of(20.0, 1.5, &backlogs);
        assert!((found.iter().sum::<f64>() - 1.5).abs() < 1e-12);
        let prices: Vec<f64> = found
            .iter()
            .zip(&backlogs)
            .map(|(rate, &backlog)| 20.0 / rate - backlog as f64)
            .collect();
        for price in &prices {
            assert!(
                *price > 0.0 && (price - prices[0]).abs() < 1e-9,
                "{prices:?}"
            );
        }
    }
}
