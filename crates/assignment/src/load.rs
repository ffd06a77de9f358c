//! Loads of collision domains: how much of the time a link and those that disturb it on its
//! channel are to be busy.

use std::cmp::Ordering;

use crate::demand::FlowRates;
use crate::mesh::Mesh;

/// U(e) of each link of an assignment, scaled or not: the share of the time in which it, or a link
/// that disturbs it on its channel, is busy. 0 for a link that carries nothing or has no channel.
/// Channels, rates in bit/s and flow rates have an entry for each link; a rate that is not one of
/// the mesh's bears the interference that the next lower one does.
pub fn utilisation(
    mesh: &Mesh,
    channels: &[Option<u8>],
    rates_bps: &[u64],
    flows: &FlowRates,
) -> Vec<f64> {
    let last = mesh.rates_bps.len().saturating_sub(1);
    let index = |rate: &u64| mesh.rates_bps.iter().position(|known| known <= rate);
    let rates: Vec<usize> = rates_bps
        .iter()
        .map(|rate| index(rate).unwrap_or(last))
        .collect();
    let airtime = |link: usize| flows.of(link) / rates_bps[link] as f64;
    let load = Load {
        airtime: (0..mesh.links.len()).map(airtime).collect(),
        conflicts: mesh.conflicts(&rates),
    };
    load.utilisations(channels)
}

/// Conflicts at some rates and the time that each link needs at its own.
#[derive(Clone)]
pub(crate) struct Load {
    /// Seconds of airtime in a second, of each link.
    pub airtime: Vec<f64>,
    /// For each link those that disturb it if they are on its channel, in ascending order.
    pub conflicts: Vec<Vec<usize>>,
}

impl Load {
    pub fn new(mesh: &Mesh, flows: &FlowRates, rates: &[usize]) -> Self {
        let airtime = |link: usize| flows.of(link) / mesh.rates_bps[rates[link]] as f64;
        Self {
            airtime: (0..mesh.links.len()).map(airtime).collect(),
            conflicts: mesh.conflicts(rates),
        }
    }

    /// With `link` at another one of `rates`, where interference is by geometry.
    pub fn at_rate(&self, mesh: &Mesh, flows: &FlowRates, rates: &[usize], link: usize) -> Self {
        let mut load = self.clone();
        load.airtime[link] = flows.of(link) / mesh.rates_bps[rates[link]] as f64;
        let near = mesh.conflicts_of(link, rates, &[]);
        for (other, conflicts) in load.conflicts.iter_mut().enumerate() {
            match (
                near.binary_search(&other).is_ok(),
                conflicts.binary_search(&link),
            ) {
                (true, Err(place)) => conflicts.insert(place, link),
                (false, Ok(place)) => _ = conflicts.remove(place),
                _ => {}
            }
        }
        load.conflicts[link] = near;
        load
    }

    /// U(e) of a link, were it on `channel`.
    pub fn utilisation(&self, channels: &[Option<u8>], link: usize, channel: u8) -> f64 {
        let others = self.conflicts[link]
            .iter()
            .filter(|&&other| channels[other] == Some(channel));
        self.airtime[link] + others.map(|&other| self.airtime[other]).sum::<f64>()
    }

    /// U(e) of each link that carries something; 0 of the others, which need no time.
    pub fn utilisations(&self, channels: &[Option<u8>]) -> Vec<f64> {
        let of = |(link, channel): (usize, &Option<u8>)| match channel {
            Some(channel) if self.airtime[link] > 0.0 => self.utilisation(channels, link, *channel),
            _ => 0.0,
        };
        channels.iter().enumerate().map(of).collect()
    }
}

/// Which of two sets of utilisations is better: the one whose largest is smaller, or of equal
/// ones the next largest, and so on.
pub(crate) fn compare(one: &[f64], other: &[f64]) -> Ordering {
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_unstable_by(|a, b| b.total_cmp(a));
        values
    };
    let (one, other) = (sorted(one), sorted(other));
    // Sums in another order differ in the last bits; that is no better and no worse.
    let differ = |a: f64, b: f64| (a - b).abs() > 1e-12 * a.abs().max(b.abs());
    let first = one.iter().zip(&other).find(|&(&a, &b)| differ(a, b));
    first.map_or(Ordering::Equal, |(a, b)| a.total_cmp(b))
}
