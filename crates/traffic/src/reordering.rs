//! How far packets are out of order: reorder density and reorder buffer-occupancy density
//! (RFC 5236), reordering extent, n-reordering and late time offset (RFC 4737).
//!
//! The densities follow the algorithms that the authors of RFC 5236 published with it
//! (`rd_algo.txt` and `rbd_algo.txt` of Colorado State University): a packet is judged when
//! [`Reordering::THRESHOLD`] further ones have arrived, to distinguish lost packets from late ones.
//! There are two differences. Both densities use the same packets here, while the authors' RBD
//! ignores one that arrives just as the buffer becomes empty. And a packet displaced beyond the
//! threshold, which takes many losses, consumes its receive index here, so that later packets are
//! not all displaced by one.
//!
//! Memory does not grow with the number of packets.

use std::collections::VecDeque;

use backlane_units::{Duration, SimTime};

/// The packets of one direction of a flow, as they arrive.
#[derive(Clone, Debug)]
pub struct Reordering {
    threshold: usize,
    packets: u64,
    /// RFC 4737's NextExp.
    next_expected: u64,
    /// The last arrivals, the newest at the back.
    recent: VecDeque<Arrival>,
    reordered: u64,
    extent_sum_pkts: u64,
    extent_max_pkts: u64,
    n_reordered_3: u64,
    late_sum: Duration,
    late_max: Duration,
    /// Arrived and not yet judged, in the order of arrival.
    window: VecDeque<u64>,
    /// The packets of the window without a smaller one behind them; the first is the smallest of
    /// the window.
    minima: VecDeque<u64>,
    /// Numbers that arrived and have not been assigned as a receive index, in ascending order. The
    /// smallest is the next; lost numbers are skipped.
    unassigned: VecDeque<u64>,
    last_index: Option<u64>,
    /// RBD's buffer: judged, and waiting for a smaller number of the window. In ascending order.
    held: VecDeque<u64>,
    /// Packets by displacement, from −threshold on.
    displacements: Vec<u64>,
    /// Packets by the buffer's occupancy after them.
    occupancies: Vec<u64>,
    discarded: u64,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    number: u64,
    at: SimTime,
    /// The largest number so far.
    highest: u64,
}

/// Inserts a number in order, usually at the end. False if it was present.
fn insert(numbers: &mut VecDeque<u64>, number: u64) -> bool {
    if numbers.back().is_none_or(|&last| last < number) {
        numbers.push_back(number);
        return true;
    }
    match numbers.binary_search(&number) {
        Ok(_) => false,
        Err(place) => {
            numbers.insert(place, number);
            true
        }
    }
}

/// The reordering of a flow's packets. Means and shares are `None` without packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReorderingReadings {
    /// Packets that arrived, duplicates apart.
    pub packets: u64,
    /// Singletons of type P-reordered.
    pub reordered: u64,
    /// Mean extent of the reordered packets: arrivals from the first that overtook it.
    pub extent_mean_pkts: Option<f64>,
    /// The largest extent, limited to the threshold.
    pub extent_max_pkts: u64,
    /// The share of packets that are n-reordered with n of 3 or more: each of the three before
    /// it was sent later, so that TCP sends three duplicate acknowledgments.
    pub n_reordered_3_ratio: Option<f64>,
    /// Mean time between the arrival of a reordered packet and that of the first that overtook it.
    pub late_mean_s: Option<f64>,
    /// The longest such time, in seconds.
    pub late_max_s: f64,
    /// Mean absolute displacement.
    pub displacement_mean_pkts: Option<f64>,
    /// Packets in neither density: displaced beyond the threshold and counted as lost.
    pub discarded: u64,
    /// The reorder density: displacement and the share of packets that have it. Early packets are
    /// below zero.
    pub density: Vec<(i64, f64)>,
    /// The reorder buffer-occupancy density: the number of packets in a resequencing buffer, and
    /// the share of arrivals after which it holds this number.
    pub occupancy: Vec<(u64, f64)>,
}

impl Default for Reordering {
    fn default() -> Self {
        Self::new(Self::THRESHOLD)
    }
}

impl Reordering {
    /// The displacement from which on a packet counts as lost (DT). It is Linux's default of
    /// `tcp_max_reordering`, the largest degree of reordering that its TCP adapts to.
    pub const THRESHOLD: usize = 300;

    /// Measures with another threshold of at least one packet.
    pub fn new(threshold: usize) -> Self {
        let threshold = threshold.max(1);
        Self {
            threshold,
            packets: 0,
            next_expected: 0,
            recent: VecDeque::new(),
            reordered: 0,
            extent_sum_pkts: 0,
            extent_max_pkts: 0,
            n_reordered_3: 0,
            late_sum: Duration::ZERO,
            late_max: Duration::ZERO,
            window: VecDeque::new(),
            minima: VecDeque::new(),
            unassigned: VecDeque::new(),
            last_index: None,
            held: VecDeque::new(),
            displacements: vec![0; 2 * threshold + 1],
            occupancies: vec![0; threshold + 1],
            discarded: 0,
        }
    }

    /// Records the arrival of the packet that was sent as the `number`-th. A number among the last
    /// arrivals is a duplicate and ignored.
    pub fn add(&mut self, now: SimTime, number: u64) {
        if number >= self.next_expected {
            self.next_expected = number + 1;
        } else {
            // Before this index all numbers are smaller.
            let from = self.recent.partition_point(|other| other.highest < number);
            let mut others = self.recent.range(from..);
            if others.any(|other| other.number == number) {
                return;
            }
            self.add_reordered(now, number, from);
        }
        self.packets += 1;
        if self.recent.len() == self.threshold {
            self.recent.pop_front();
        }
        self.recent.push_back(Arrival {
            number,
            at: now,
            highest: self.next_expected - 1,
        });
        let assigned = self.last_index.is_some_and(|last| number <= last);
        if assigned || !insert(&mut self.unassigned, number) {
            self.discarded += 1;
            return;
        }
        self.window.push_back(number);
        while self.minima.back().is_some_and(|&other| other > number) {
            self.minima.pop_back();
        }
        self.minima.push_back(number);
        if self.window.len() > self.threshold {
            self.judge();
        }
    }

    /// Extent, late time and n-reordering (RFC 4737). The packets that overtook it are at `from` or
    /// later.
    fn add_reordered(&mut self, now: SimTime, number: u64, from: usize) {
        self.reordered += 1;
        let later = |other: &Arrival| other.number > number;
        if let Some(place) = self.recent.range(from..).position(later) {
            let first = from + place;
            let extent = (self.recent.len() - first) as u64;
            self.extent_sum_pkts += extent;
            self.extent_max_pkts = self.extent_max_pkts.max(extent);
            let late = now - self.recent[first].at;
            self.late_sum += late;
            self.late_max = self.late_max.max(late);
        }
        if self.recent.len() >= 3 && self.recent.iter().rev().take(3).all(later) {
            self.n_reordered_3 += 1;
        }
    }

    /// Adds the oldest packet of the window to both densities. The number of unassigned numbers
    /// equals the number of packets in the window.
    fn judge(&mut self) {
        let (Some(number), Some(index)) = (self.window.pop_front(), self.unassigned.pop_front())
        else {
            return;
        };
        self.last_index = Some(index);
        insert(&mut self.held, number);
        if self.minima.front() == Some(&number) {
            self.minima.pop_front();
        }
        let expected = self.minima.front().copied().unwrap_or(u64::MAX);
        while self.held.front().is_some_and(|&held| held < expected) {
            self.held.pop_front();
        }
        let place = self.threshold as i64 + (index as i64 - number as i64);
        let displacement = usize::try_from(place)
            .ok()
            .and_then(|place| self.displacements.get_mut(place));
        match (displacement, self.occupancies.get_mut(self.held.len())) {
            (Some(displacement), Some(occupancy)) => {
                *displacement += 1;
                *occupancy += 1;
            }
            _ => self.discarded += 1,
        }
    }

    /// The result for all packets so far, including those of the window.
    pub fn readings(&self) -> ReorderingReadings {
        let mut all = self.clone();
        while !all.window.is_empty() {
            all.judge();
        }
        let share = |part: f64, of: u64| (of > 0).then(|| part / of as f64);
        let judged: u64 = all.displacements.iter().sum();
        let density: Vec<(i64, f64)> = (-(all.threshold as i64)..)
            .zip(&all.displacements)
            .filter(|&(_, &packets)| packets > 0)
            .map(|(displacement, &packets)| (displacement, packets as f64 / judged as f64))
            .collect();
        let occupancy = (0..)
            .zip(&all.occupancies)
            .filter(|&(_, &packets)| packets > 0)
            .map(|(places, &packets)| (places, packets as f64 / judged as f64))
            .collect();
        ReorderingReadings {
            packets: all.packets,
            reordered: all.reordered,
            extent_mean_pkts: share(all.extent_sum_pkts as f64, all.reordered),
            extent_max_pkts: all.extent_max_pkts,
            n_reordered_3_ratio: share(all.n_reordered_3 as f64, all.packets),
            late_mean_s: share(all.late_sum.as_secs_f64(), all.reordered),
            late_max_s: all.late_max.as_secs_f64(),
            displacement_mean_pkts: (judged > 0).then(|| {
                density
                    .iter()
                    .map(|&(displacement, share)| displacement.unsigned_abs() as f64 * share)
                    .sum()
            }),
            discarded: all.discarded,
            density,
            occupancy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn readings(threshold: usize, numbers: &[u64]) -> ReorderingReadings {
        let mut reordering = Reordering::new(threshold);
        for (arrival, &number) in (0..).zip(numbers) {
            reordering.add(SimTime::ZERO + Duration::from_millis(arrival), number);
        }
        reordering.readings()
    }

    /// Receive indices are 1 to 8, so the displacements are 0, −2, 1, −1, 2, 0, 0, 0. The buffer holds 4 until 3 has
    /// come, and then 5 as well.
    #[test]
    fn densities_are_those_of_the_definitions() {
        let readings = readings(4, &[1, 4, 2, 5, 3, 6, 7, 8]);
        let density = [(-2, 1.0), (-1, 1.0), (0, 4.0), (1, 1.0), (2, 1.0)];
        assert_eq!(readings.density, density.map(|(k, n)| (k, n / 8.0)));
        let occupancy = [(0, 5.0), (1, 2.0), (2, 1.0)];
        assert_eq!(readings.occupancy, occupancy.map(|(k, n)| (k, n / 8.0)));
        assert_eq!(readings.displacement_mean_pkts, Some(6.0 / 8.0));
    }

    #[test]
    fn a_packet_that_is_late_by_more_than_the_threshold_is_lost() {
        let numbers = [1, 2, 4, 5, 6, 7, 3, 8];
        let lost = readings(3, &numbers);
        assert_eq!(lost.density, [(0, 1.0)]);
        assert_eq!(lost.occupancy, [(0, 1.0)]);
        assert_eq!(lost.discarded, 1);
        let late = readings(4, &numbers);
        let density = [(-1, 4.0 / 8.0), (0, 3.0 / 8.0), (4, 1.0 / 8.0)];
        assert_eq!(late.density, density);
        let occupancy = [(0, 4.0), (1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0)];
        assert_eq!(late.occupancy, occupancy.map(|(k, n)| (k, n / 8.0)));
        assert_eq!(late.discarded, 0);
    }

    /// With 4, 5 and 6 delayed: they are the 6th to 8th arrival and the first that overtook them
    /// was the 4th, so their extents are 2, 3 and 4. Only two packets stand before 4, and those
    /// before 5 and 6 were sent earlier.
    #[test]
    fn extent_and_late_time_count_from_the_first_that_overtook() {
        let readings = readings(300, &[1, 2, 3, 7, 8, 4, 5, 6, 9, 10]);
        assert_eq!(readings.reordered, 3);
        assert_eq!(readings.extent_mean_pkts, Some(3.0));
        assert_eq!(readings.extent_max_pkts, 4);
        assert_eq!(readings.n_reordered_3_ratio, Some(0.0));
        assert!((readings.late_mean_s.unwrap() - 0.003).abs() < 1e-12);
        assert_eq!(readings.late_max_s, 0.004);
    }

    #[test]
    fn three_later_packets_in_a_row_before_one_make_it_3_reordered() {
        assert_eq!(readings(300, &[2, 3, 1]).n_reordered_3_ratio, Some(0.0));
        assert_eq!(readings(300, &[2, 3, 4, 1]).n_reordered_3_ratio, Some(0.25));
        // 1 arrives between, so that the three duplicates are not consecutive.
        assert_eq!(
            readings(300, &[3, 4, 1, 5, 2]).n_reordered_3_ratio,
            Some(0.0)
        );
    }

    /// The first is overtaken by ten that are far apart; later packets are in order.
    #[test]
    fn a_displacement_beyond_the_threshold_displaces_nothing_after_it() {
        let mut numbers: Vec<u64> = (1..=10).map(|place| place * 90 + 2).collect();
        numbers.push(2);
        numbers.extend(1000..1100);
        let readings = readings(100, &numbers);
        assert_eq!(readings.discarded, 1);
        assert_eq!(readings.density, [(-90, 10.0 / 110.0), (0, 100.0 / 110.0)]);
    }

    #[test]
    fn without_packets_there_are_no_measures() {
        let readings = readings(300, &[]);
        assert_eq!(readings, ReorderingReadings::default());
    }

    #[test]
    fn memory_is_bounded_by_the_threshold() {
        let mut reordering = Reordering::new(10);
        for round in 0..1000_u64 {
            for place in 0..40 {
                // 17 and 40 have no common divisor: a shuffle of each forty.
                reordering.add(SimTime::ZERO, round * 40 + place * 17 % 40);
                assert!(reordering.window.len() <= 10);
                assert!(reordering.recent.len() <= 10);
                assert!(reordering.unassigned.len() <= 10);
                assert!(reordering.held.len() <= 10);
                assert!(reordering.minima.len() <= 10);
            }
        }
    }

    /// Groups of up to eight numbers, each in its own order.
    fn shuffled() -> impl Strategy<Value = Vec<Vec<u64>>> {
        let group =
            (1..9_u64).prop_flat_map(|count| Just((0..count).collect::<Vec<_>>()).prop_shuffle());
        prop::collection::vec(group, 1..40).prop_map(|groups| {
            let mut first = 1;
            groups
                .into_iter()
                .map(|group| {
                    let numbers = group.iter().map(|number| first + number).collect();
                    first += group.len() as u64;
                    numbers
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn densities_sum_to_one_and_displacements_to_zero(groups in shuffled()) {
            let readings = readings(8, &groups.concat());
            let sum = |shares: Vec<f64>| shares.iter().sum::<f64>();
            prop_assert!((sum(readings.density.iter().map(|entry| entry.1).collect()) - 1.0).abs() < 1e-9);
            prop_assert!((sum(readings.occupancy.iter().map(|entry| entry.1).collect()) - 1.0).abs() < 1e-9);
            prop_assert!(sum(readings.density.iter().map(|&(k, share)| k as f64 * share).collect()).abs() < 1e-9);
            prop_assert_eq!(readings.discarded, 0);
        }

        /// Losses, duplicates and very late packets, compared with an exhaustive computation on
        /// plain lists.
        #[test]
        fn the_measures_equal_those_computed_on_plain_lists(numbers in prop::collection::vec(0..90_u64, 1..300)) {
            let threshold = 7;
            // An increasing trend plus scatter: most packets are near their position.
            let numbers: Vec<u64> = (0..).zip(&numbers).map(|(place, number)| place / 2 + number / 6).collect();
            let (mut recent, mut window, mut unassigned) = (vec![], vec![], vec![]);
            let (mut held, mut last_index, mut next_expected) = (vec![], None, 0);
            let (mut extents, mut densities, mut discarded) = (vec![], vec![], 0);
            let mut judge = |window: &mut Vec<u64>, unassigned: &mut Vec<u64>| {
                let number = window.remove(0);
                unassigned.sort_unstable();
                let index = unassigned.remove(0);
                held.push(number);
                held.retain(|held| window.iter().any(|other| other <= held));
                densities.push((index as i64 - number as i64, held.len() as u64));
                index
            };
            for &number in &numbers {
                let end: Vec<u64> = recent.iter().rev().take(threshold).rev().copied().collect();
                if number < next_expected {
                    if end.contains(&number) {
                        continue;
                    }
                    let first = end.iter().position(|&other| other > number);
                    extents.push(first.map_or(0, |first| (end.len() - first) as u64));
                }
                next_expected = next_expected.max(number + 1);
                recent.push(number);
                if last_index.is_some_and(|last| number <= last) || unassigned.contains(&number) {
                    discarded += 1;
                    continue;
                }
                unassigned.push(number);
                window.push(number);
                if window.len() > threshold {
                    last_index = Some(judge(&mut window, &mut unassigned));
                }
            }
            while !window.is_empty() {
                judge(&mut window, &mut unassigned);
            }
            let (kept, lost): (Vec<_>, Vec<_>) = densities.into_iter()
                .partition(|&(k, held)| k.unsigned_abs() <= threshold as u64 && held <= threshold as u64);
            let found = readings(threshold, &numbers);
            prop_assert_eq!(found.packets, recent.len() as u64);
            prop_assert_eq!(found.discarded, discarded + lost.len() as u64);
            prop_assert_eq!(found.reordered, extents.len() as u64);
            prop_assert_eq!(found.extent_max_pkts, extents.iter().copied().max().unwrap_or(0));
            let mean = extents.iter().sum::<u64>() as f64 / extents.len() as f64;
            prop_assert_eq!(found.extent_mean_pkts, (!extents.is_empty()).then_some(mean));
            let share = |count: usize| count as f64 / kept.len() as f64;
            for (displacement, part) in found.density {
                prop_assert_eq!(part, share(kept.iter().filter(|entry| entry.0 == displacement).count()));
            }
            for (places, part) in found.occupancy {
                prop_assert_eq!(part, share(kept.iter().filter(|entry| entry.1 == places).count()));
            }
        }

        /// Without losses, the receive index is the order of arrival.
        #[test]
        fn without_losses_displacements_are_places_less_numbers(groups in shuffled()) {
            let numbers = groups.concat();
            let readings = readings(8, &numbers);
            for k in -8..=8_i64 {
                let count = (1..).zip(&numbers).filter(|&(place, &number)| place - number as i64 == k).count();
                let share = readings.density.iter().find(|entry| entry.0 == k).map_or(0.0, |entry| entry.1);
                prop_assert!((share - count as f64 / numbers.len() as f64).abs() < 1e-9);
            }
        }

        #[test]
        fn losses_in_order_are_no_reordering(lost in prop::collection::vec(any::<bool>(), 1..400)) {
            let numbers: Vec<u64> = (1..).zip(&lost).filter(|&(_, &lost)| !lost).map(|(number, _)| number).collect();
            let readings = readings(5, &numbers);
            if !numbers.is_empty() {
                prop_assert_eq!(&readings.density, &[(0, 1.0)]);
                prop_assert_eq!(&readings.occupancy, &[(0, 1.0)]);
            }
            prop_assert_eq!((readings.reordered, readings.discarded), (0, 0));
        }

        /// If whole groups are lost, the displacements of the others do not change.
        #[test]
        fn losses_elsewhere_displace_nothing(groups in shuffled(), lost in prop::collection::vec(any::<bool>(), 40)) {
            let left: Vec<Vec<u64>> = groups.iter().zip(&lost).filter(|&(_, &lost)| !lost).map(|(group, _)| group.clone()).collect();
            let packets = left.concat().len() as f64;
            let mut expected = vec![0.0; 17];
            for group in &left {
                let first = group.iter().min().copied().unwrap_or_default();
                for (place, &number) in (first..).zip(group) {
                    expected[(8 + place as i64 - number as i64) as usize] += 1.0;
                }
            }
            let readings = readings(8, &left.concat());
            for (k, count) in (-8..).zip(expected) {
                let share = readings.density.iter().find(|entry| entry.0 == k).map_or(0.0, |entry| entry.1);
                prop_assert!((share * packets - count).abs() < 1e-6);
            }
        }

        #[test]
        fn duplicates_change_nothing(groups in shuffled(), twice in prop::collection::vec(any::<bool>(), 320)) {
            let numbers = groups.concat();
            let doubled: Vec<u64> = numbers.iter().zip(&twice).flat_map(|(&number, &twice)| vec![number; 1 + usize::from(twice)]).collect();
            let [once, more] = [&numbers, &doubled].map(|numbers| readings(8, numbers));
            prop_assert_eq!(once.density, more.density);
            prop_assert_eq!(once.occupancy, more.occupancy);
            prop_assert_eq!((once.packets, once.reordered, once.extent_mean_pkts), (more.packets, more.reordered, more.extent_mean_pkts));
        }
    }
}
