//! What is measured over the slots after the warm-up.

/// What is known of a flow. A slot is looked at when it begins, before anything moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowStatistics {
    /// Packets that arrived at the source.
    pub injected_pkts: u64,
    /// Packets that reached the destination.
    pub delivered_pkts: u64,
    /// Packets dropped from a full buffer at the source.
    pub dropped_at_source_pkts: u64,
    /// Packets dropped from a full buffer further on.
    pub dropped_in_transit_pkts: u64,
    /// Sum over slots of the flow's packets in all queues.
    pub backlog_sum_pkts: u128,
    /// Sum over slots of its packets at the source.
    pub source_backlog_sum_pkts: u128,
    /// Slots in which one packet waited at the source.
    pub single_slots: u64,
    /// Slots in which a packet left the source.
    pub served_slots: u64,
}

/// A trend with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// Change in packets per slot.
    pub slope: f64,
    /// Its standard error, from the scatter of batch means about the line.
    pub standard_error: f64,
}

/// Batches of the second half: few enough that their means are nearly independent.
pub(crate) const BATCHES: u64 = 20;

/// Sums over equal batches of slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batches {
    /// Slots in a batch; zero if there are too few slots for batches.
    length: u64,
    /// The slot at which the current batch ends.
    pub(crate) end: u64,
    sum_at_start: u128,
    means: Vec<f64>,
}

impl Batches {
    /// For the second half of `slots` slots that end before slot `end`.
    pub(crate) fn new(slots: u64, end: u64) -> Self {
        let length = slots / 2 / BATCHES;
        Self {
            length,
            // The first "batch" is all that comes before.
            end: if length == 0 {
                u64::MAX
            } else {
                end - length * BATCHES
            },
            sum_at_start: 0,
            means: Vec::new(),
        }
    }

    /// The slot [`Batches::end`] begins, with this sum over all slots before it.
    pub(crate) fn close(&mut self, sum: u128, is_first: bool) {
        if !is_first {
            self.means
                .push((sum - self.sum_at_start) as f64 / self.length as f64);
        }
        self.sum_at_start = sum;
        self.end += self.length;
    }

    /// The line through the means, by least squares.
    pub(crate) fn slope(&self) -> Option<Slope> {
        let n = self.means.len() as f64;
        if self.means.len() < 3 {
            return None;
        }
        let centre = (n - 1.0) / 2.0;
        let mean = self.means.iter().sum::<f64>() / n;
        let points = || {
            self.means
                .iter()
                .enumerate()
                .map(|(i, y)| (i as f64 - centre, y - mean))
        };
        let square: f64 = points().map(|(x, _)| x * x).sum();
        let slope = points().map(|(x, y)| x * y).sum::<f64>() / square;
        let residual: f64 = points()
            .map(|(x, y)| (y - slope * x) * (y - slope * x))
            .sum();
        let per_slot = 1.0 / self.length as f64;
        Some(Slope {
            slope: slope * per_slot,
            standard_error: (residual / (n - 2.0) / square).sqrt() * per_slot,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope_and_no_error() {
        let mut batches = Batches::new(400, 400);
        let mut sum = 0;
        let mut closed = 0;
        for slot in 0..=400 {
            if slot == batches.end && closed <= BATCHES {
                batches.close(sum, closed == 0);
                closed += 1;
            }
            sum += 3 * u128::from(slot);
        }
        let slope = batches.slope().unwrap();
        assert!(
            (slope.slope - 3.0).abs() < 1e-12 && slope.standard_error < 1e-9,
            "{slope:?}"
        );
    }

    /// Scatter of ± 1 about a level over 20 batches: the error is that of the textbook,
    /// √(Σ r²/(n − 2)/Σ x²), and the slope lies within it.
    #[test]
    fn scatter_gives_an_error() {
        let batches = Batches {
            length: 1,
            end: 0,
            sum_at_start: 0,
            means: (0..20)
                .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
                .collect(),
        };
        let slope = batches.slope().unwrap();
        let expected = (20.0f64 / 18.0 / 665.0).sqrt();
        assert!(
            (slope.standard_error / expected - 1.0).abs() < 0.02,
            "{slope:?}"
        );
        assert!(slope.slope.abs() < slope.standard_error);
    }
}
