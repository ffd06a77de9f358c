//! The choice among equal paths by a hash, as the Linux kernel makes it (`fib_multipath_hash`,
//! hash-threshold of RFC 2992): a packet's fields give a number, and each path has an interval of
//! numbers as long as its share.

use backlane_net::Packet;

use super::config::Hash;

/// Equal paths to one exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Interfaces, each with the end of its interval in 2³² · share.
    ends: Vec<(u32, u16)>,
    weights: Vec<u64>,
}

impl Paths {
    /// Paths by `interfaces` with their weights; zero weights count as one.
    pub fn new(interfaces: &[u16], weight: impl Fn(u16) -> u64) -> Self {
        let weights: Vec<u64> = interfaces.iter().map(|&at| weight(at).max(1)).collect();
        let sum: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        let mut until = 0;
        let ends = interfaces
            .iter()
            .zip(&weights)
            .map(|(&interface, &weight)| {
                until += u128::from(weight);
                let end = (until << 32) / sum.max(1);
                (u32::try_from(end - 1).unwrap_or(u32::MAX), interface)
            });
        Self {
            ends: ends.collect(),
            weights,
        }
    }

    /// The interfaces, in order.
    pub fn interfaces(&self) -> impl Iterator<Item = u16> {
        self.ends.iter().map(|(_, interface)| *interface)
    }

    /// Their weights.
    pub fn weights(&self) -> impl Iterator<Item = u64> {
        self.weights.iter().copied()
    }

    /// Whether a path leads over this interface.
    pub fn has(&self, interface: u16) -> bool {
        self.interfaces().any(|other| other == interface)
    }

    /// The interface of a number.
    #[inline]
    pub fn choose(&self, hash: u32) -> Option<u16> {
        let (_, interface) = self.ends.iter().find(|(end, _)| hash <= *end)?;
        Some(*interface)
    }
}

/// The number of a packet under a router's key.
#[inline]
pub fn hash(key: u64, packet: &Packet, fields: Hash) -> u32 {
    let addresses = u64::from(packet.source.0) << 32 | u64::from(packet.destination.0);
    let mut state = mix(key ^ addresses);
    if fields == Hash::Ports {
        state = mix(state ^ u64::from(packet.flow.0));
    }
    (state >> 32) as u32
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014), after its increment.
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_net::{FlowId, NodeId};

    fn packet(flow: u32, source: u32, destination: u32) -> Packet {
        Packet::new(FlowId(flow), NodeId(source), NodeId(destination), 1500)
    }

    /// The first output of SplitMix64 from seed 1234567, by its authors' program.
    #[test]
    fn the_mixer_is_splitmix64() {
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn shares_are_those_of_the_weights() {
        let paths = Paths::new(&[4, 7, 9], |interface| if interface == 7 { 2 } else { 1 });
        let draws = 100_000u32;
        let mut counts = [0u32; 10];
        for flow in 0..draws {
            let number = hash(99, &packet(flow, 1, 2), Hash::Ports);
            counts[usize::from(paths.choose(number).unwrap())] += 1;
        }
        // Five standard deviations of a binomial count are below 800.
        for (interface, share) in [(4, 0.25), (7, 0.5), (9, 0.25)] {
            let expected = f64::from(draws) * share;
            assert!(
                (f64::from(counts[interface]) - expected).abs() < 800.0,
                "{counts:?}"
            );
        }
        assert_eq!(paths.choose(0), Some(4));
        assert_eq!(paths.choose(u32::MAX), Some(9));
    }

    #[test]
    fn flows_between_two_hosts_share_a_path_unless_ports_count() {
        let numbers = |fields| {
            let all = (0..50).map(|flow| hash(7, &packet(flow, 1, 2), fields));
            all.collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(numbers(Hash::Addresses), 1);
        assert_eq!(numbers(Hash::Ports), 50);
    }
}
