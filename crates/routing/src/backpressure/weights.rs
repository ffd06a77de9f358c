//! The weight of a neighbour: pure functions.

use super::V;
use backlane_net::packet::INITIAL_TTL;

/// A packet whose TTL has fallen below this has wandered for more than 24 hops.
const WANDERED_TTL: u8 = 40;

/// The position of a neighbour with respect to a packet and its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Penalty {
    /// −1: a step forward, or the only exit from a dead end.
    Forward,
    /// 0: back to the previous hop, though nearer.
    Back,
    /// +1: a detour.
    Detour,
}

impl Penalty {
    /// The penalty for sparse networks, with the previous hop as the only memory ("variant C").
    ///
    /// `closer`: the neighbour is nearer to the destination than the node itself; `came_from`:
    /// the packet came from it; `closer_neighbours`: how many valid neighbours are nearer;
    /// `one_closer_is_from`: the only one of them is where the packet came from.
    #[inline]
    pub fn of(
        closer: bool,
        came_from: bool,
        closer_neighbours: usize,
        one_closer_is_from: bool,
    ) -> Self {
        match (closer, came_from) {
            (true, false) => Self::Forward,
            (true, true) => Self::Back,
            (false, true) if closer_neighbours == 0 => Self::Back,
            (false, false) if closer_neighbours == 0 => Self::Forward,
            (false, _) if closer_neighbours == 1 && one_closer_is_from => Self::Forward,
            (false, _) => Self::Detour,
        }
    }

    /// [`Penalty::of`] by `closer` and `came_from`.
    #[inline]
    pub(super) fn table(closer_neighbours: usize, one_closer_is_from: bool) -> [[Self; 2]; 2] {
        [false, true].map(|closer| {
            [false, true]
                .map(|came_from| Self::of(closer, came_from, closer_neighbours, one_closer_is_from))
        })
    }

    #[inline]
    pub(super) fn value(self) -> f64 {
        match self {
            Self::Forward => -1.0,
            Self::Back => 0.0,
            Self::Detour => 1.0,
        }
    }
}

/// A neighbour to weigh.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Qᵢ: the node's own queue that leads to the neighbour, in full packets.
    pub own_queue_pkts: u32,
    /// Qⱼ: the neighbour's shortest queue among those of its interfaces, in full packets. The
    /// best of the weights over the interfaces is the one of the shortest queue.
    pub neighbour_queue_pkts: u32,
    /// Its position.
    pub penalty: Penalty,
    /// Whether the packet came from it.
    pub came_from: bool,
    /// Rᵢⱼ, in bits per second.
    pub rate_bps: f64,
}

/// w = (Qᵢ − Qⱼ − V·p) · Rᵢⱼ.
///
/// `queue_limit_pkts` is `Q_MAX`; `ttl` is the packet's, or `None` where the rule for packets
/// that have wandered is off.
#[inline]
pub fn weight(candidate: &Candidate, v: V, queue_limit_pkts: u32, ttl: Option<u8>) -> f64 {
    let q_max = f64::from(queue_limit_pkts);
    let own = f64::from(candidate.own_queue_pkts);
    let mut weight_of_proximity = match v {
        V::Fixed(v) => v,
        V::Variable if candidate.came_from => q_max,
        V::Variable => (q_max - own).max(0.0),
    };
    if let Some(ttl) = ttl {
        weight_of_proximity = raised(weight_of_proximity, q_max, ttl);
    }
    let backlog = own - f64::from(candidate.neighbour_queue_pkts);
    (backlog - weight_of_proximity * candidate.penalty.value()) * candidate.rate_bps
}

/// V of a packet with this TTL: raised towards `q_max` once its hop count is high.
#[inline]
pub(super) fn raised(v: f64, q_max: f64, ttl: u8) -> f64 {
    if ttl >= WANDERED_TTL {
        return v;
    }
    let full = f64::from(INITIAL_TTL - 1);
    let wandered = (full - f64::from(ttl)) / full;
    q_max.min(v + wandered * (q_max - v))
}

#[cfg(test)]
mod tests {
    use super::*;

    const Q_MAX: u32 = 340;

    fn candidate(own: u32, neighbour: u32, penalty: Penalty) -> Candidate {
        Candidate {
            own_queue_pkts: own,
            neighbour_queue_pkts: neighbour,
            penalty,
            came_from: penalty == Penalty::Back,
            rate_bps: 1.0,
        }
    }

    fn variable(own: u32, neighbour: u32, penalty: Penalty) -> f64 {
        weight(
            &candidate(own, neighbour, penalty),
            V::Variable,
            Q_MAX,
            Some(60),
        )
    }

    #[test]
    fn a_closer_neighbour_weighs_its_free_queue_space_regardless_of_the_own_queue() {
        for own in [0, 1, 100, 339, 340] {
            for neighbour in [0, 50, 339] {
                let free = f64::from(Q_MAX - neighbour);
                assert_eq!(variable(own, neighbour, Penalty::Forward), free);
            }
            assert_eq!(variable(own, Q_MAX, Penalty::Forward), 0.0);
        }
    }

    #[test]
    fn a_farther_neighbour_counts_once_the_own_queue_passes_half_of_the_limit() {
        for neighbour in [0, 100, 200] {
            let threshold = Q_MAX.midpoint(neighbour);
            assert!(variable(threshold, neighbour, Penalty::Detour) <= 0.0);
            assert!(variable(threshold + 1, neighbour, Penalty::Detour) > 0.0);
        }
    }

    #[test]
    fn back_to_the_previous_hop_only_the_difference_of_queues_counts() {
        assert_eq!(variable(100, 40, Penalty::Back), 60.0);
        assert_eq!(variable(40, 100, Penalty::Back), -60.0);
    }

    #[test]
    fn a_packet_that_wandered_weighs_proximity_more_the_longer_it_does() {
        let weigh = |ttl| {
            weight(
                &candidate(300, 0, Penalty::Detour),
                V::Variable,
                Q_MAX,
                Some(ttl),
            )
        };
        // V = 340 − 300 = 40; at TTL 20, V = 40 + 43/63 · 300.
        assert_eq!(weigh(40), 260.0);
        assert!((weigh(20) - (300.0 - (40.0 + 43.0 / 63.0 * 300.0))).abs() < 1e-9);
        assert!(weigh(1) < weigh(20));
    }

    #[test]
    fn penalties_follow_the_table_of_the_sparse_variant() {
        use Penalty::{Back, Detour, Forward};
        let of = Penalty::of;
        assert_eq!(of(true, false, 1, false), Forward);
        assert_eq!(of(true, true, 1, true), Back);
        assert_eq!(of(false, true, 0, false), Back);
        assert_eq!(of(false, false, 0, false), Forward);
        assert_eq!(of(false, false, 1, true), Forward);
        assert_eq!(of(false, false, 1, false), Detour);
        assert_eq!(of(false, false, 2, false), Detour);
        assert_eq!(of(false, true, 2, false), Detour);
    }
}
