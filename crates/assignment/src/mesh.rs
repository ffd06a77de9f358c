//! A mesh: nodes with radios, links that radios could make, channels, rates, and who disturbs
//! whom.

use std::collections::VecDeque;

use crate::error::Error;

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Number of radios; each is on one channel at a time.
    pub radios: u8,
    /// Where it stands, in metres; needed for [`Interference::Sinr`] alone.
    pub position_m: Option<(f64, f64)>,
}

/// Two nodes that can communicate when they share a channel. A link works in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// One end: an index of [`Mesh::nodes`].
    pub a: usize,
    /// The other end.
    pub b: usize,
    /// The highest rate that it may have, one of [`Mesh::rates_bps`]; `None`: any.
    pub top_rate_bps: Option<u64>,
}

impl Link {
    /// A link of any rate.
    pub fn new(a: usize, b: usize) -> Self {
        Self {
            a,
            b,
            top_rate_bps: None,
        }
    }

    /// The end that is not `node`.
    pub fn other(&self, node: usize) -> usize {
        if self.a == node { self.b } else { self.a }
    }
}

/// Which channels there are, or which link has which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Channels {
    /// To be assigned from these.
    Available(Vec<u8>),
    /// The channel of each link; `None`: its ends share none, and it is not used.
    Given(Vec<Option<u8>>),
}

/// Which links on one channel cannot be busy at the same time. Two links that share a node and a
/// channel never can: they are served by one radio.
#[derive(Clone, Debug, PartialEq)]
pub enum Interference {
    /// All links on a channel disturb each other.
    All,
    /// The K-hop model (Sharma, Mazumdar and Shroff, MobiCom 2006): links disturb each other when
    /// fewer than `hops` hops lie between their nearest ends, over links of the mesh on any
    /// channel. 1: only links that share a node; 2: an end of one may be a neighbour of an end of
    /// the other, which is as far as RTS and CTS reach.
    Hops {
        /// K, at least 1.
        hops: u8,
    },
    /// By geometry: a link is disturbed when one of its ends, receiving from the other, would have
    /// less than its rate's ratio of signal to noise and to the signal of one end of the other
    /// link. Signals fall with distance to the power of `exponent`; all nodes have one power.
    /// Links disturb each other when either is disturbed.
    Sinr {
        /// Exponent of the path loss.
        exponent: f64,
        /// Ratio of signal to noise at one metre; infinite: no noise.
        snr_at_1_m_db: f64,
        /// Ratio that each of [`Mesh::rates_bps`] needs.
        thresholds_db: Vec<f64>,
    },
}

/// What is to be assigned to.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The links; at most one between two nodes.
    pub links: Vec<Link>,
    /// The rates of a link, in bit/s, the highest first.
    pub rates_bps: Vec<u64>,
    /// The channels, to be assigned or given.
    pub channels: Channels,
    /// Which links disturb each other.
    pub interference: Interference,
}

impl Mesh {
    /// Looks for what makes assigning meaningless.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] where the data contradict themselves, [`Error::NoRadio`],
    /// [`Error::MoreRadiosThanChannels`], [`Error::TooManyChannels`], and [`Error::OutOfRange`].
    pub fn validate(&self) -> Result<(), Error> {
        let malformed = |what: &str| Err(Error::Malformed(what.to_string()));
        for (index, link) in self.links.iter().enumerate() {
            if link.a.max(link.b) >= self.nodes.len() || link.a == link.b {
                return malformed("a link needs two different nodes");
            }
            let twice = |other: &Link| {
                (other.a, other.b) == (link.a, link.b) || (other.b, other.a) == (link.a, link.b)
            };
            if self.links[..index].iter().any(twice) {
                return malformed("there is at most one link between two nodes");
            }
            for end in [link.a, link.b] {
                if self.nodes[end].radios == 0 {
                    return Err(Error::NoRadio { node: end });
                }
            }
        }
        if self.rates_bps.is_empty()
            || self.rates_bps.contains(&0)
            || self.rates_bps.windows(2).any(|pair| pair[0] <= pair[1])
        {
            return malformed("rates are positive and fall");
        }
        let known = |link: &Link| {
            link.top_rate_bps
                .is_none_or(|top| self.rates_bps.contains(&top))
        };
        if !self.links.iter().all(known) {
            return malformed("the highest rate of a link is one of the rates");
        }
        match &self.channels {
            Channels::Available(channels) => self.validate_available(channels)?,
            Channels::Given(channels) => self.validate_given(channels)?,
        }
        self.validate_interference()?;
        self.fastest().map(|_| ())
    }

    fn validate_available(&self, channels: &[u8]) -> Result<(), Error> {
        if channels.is_empty() || (1..channels.len()).any(|i| channels[..i].contains(&channels[i]))
        {
            return Err(Error::Malformed(
                "channels are at least one, and each is listed once".to_string(),
            ));
        }
        match self
            .nodes
            .iter()
            .position(|node| usize::from(node.radios) > channels.len())
        {
            Some(node) => Err(Error::MoreRadiosThanChannels {
                node,
                radios: self.nodes[node].radios,
                channels: channels.len(),
            }),
            None => Ok(()),
        }
    }

    fn validate_given(&self, channels: &[Option<u8>]) -> Result<(), Error> {
        if channels.len() != self.links.len() {
            return Err(Error::Malformed(
                "each link has its entry of channels".to_string(),
            ));
        }
        for (node, radios) in self.nodes.iter().map(|node| node.radios).enumerate() {
            let mut used: Vec<u8> = (self.links.iter().zip(channels))
                .filter(|(link, _)| link.a == node || link.b == node)
                .filter_map(|(_, &channel)| channel)
                .collect();
            used.sort_unstable();
            used.dedup();
            if used.len() > usize::from(radios) {
                return Err(Error::TooManyChannels {
                    node,
                    channels: used,
                    radios,
                });
            }
        }
        Ok(())
    }

    fn validate_interference(&self) -> Result<(), Error> {
        let malformed = |what: &str| Err(Error::Malformed(what.to_string()));
        match &self.interference {
            Interference::Hops { hops: 0 } => malformed("interference reaches at least one hop"),
            Interference::All | Interference::Hops { .. } => Ok(()),
            Interference::Sinr {
                exponent,
                snr_at_1_m_db,
                thresholds_db,
            } => {
                if thresholds_db.len() != self.rates_bps.len() {
                    return malformed("each rate has its threshold");
                }
                if !(exponent.is_finite() && *exponent > 0.0)
                    || snr_at_1_m_db.is_nan()
                    || thresholds_db.iter().any(|db| !db.is_finite())
                {
                    return malformed("the exponent is positive, and ratios are numbers");
                }
                let lies = |end: usize| match self.nodes[end].position_m {
                    Some((x, y)) => x.is_finite() && y.is_finite(),
                    None => false,
                };
                if !self.links.iter().all(|link| lies(link.a) && lies(link.b)) {
                    return malformed("interference by geometry needs the position of each node");
                }
                Ok(())
            }
        }
    }

    /// For each link the index of the highest rate at which it works undisturbed.
    pub(crate) fn fastest(&self) -> Result<Vec<usize>, Error> {
        let works = |link: usize| {
            let Link { a, b, top_rate_bps } = self.links[link];
            let allowed = |rate: usize| top_rate_bps.is_none_or(|top| self.rates_bps[rate] <= top);
            let heard = |rate: usize| match &self.interference {
                Interference::All | Interference::Hops { .. } => true,
                Interference::Sinr {
                    exponent,
                    snr_at_1_m_db,
                    thresholds_db,
                } => {
                    let loss_db = 10.0 * exponent * libm::log10(self.distance_m(a, b));
                    snr_at_1_m_db - loss_db >= thresholds_db[rate]
                }
            };
            (0..self.rates_bps.len()).find(|&rate| allowed(rate) && heard(rate))
        };
        (0..self.links.len())
            .map(|link| works(link).ok_or(Error::OutOfRange { link }))
            .collect()
    }

    /// For each link, in ascending order, the others that would disturb it or be disturbed by it
    /// on one channel, when each sends at its rate.
    pub(crate) fn conflicts(&self, rates: &[usize]) -> Vec<Vec<usize>> {
        let hops: Vec<_> = match self.interference {
            Interference::Hops { .. } => (0..self.nodes.len())
                .map(|from| self.hops_from(from))
                .collect(),
            _ => Vec::new(),
        };
        (0..self.links.len())
            .map(|link| self.conflicts_of(link, rates, &hops))
            .collect()
    }

    /// The same of one link; `hops` between all nodes matter for [`Interference::Hops`] alone.
    pub(crate) fn conflicts_of(
        &self,
        link: usize,
        rates: &[usize],
        hops: &[Vec<Option<usize>>],
    ) -> Vec<usize> {
        let conflict = |other: usize| {
            let (l, m) = (self.links[link], self.links[other]);
            let pairs = [(l.a, m.a), (l.a, m.b), (l.b, m.a), (l.b, m.b)];
            if pairs.iter().any(|(from, to)| from == to) {
                return true;
            }
            match &self.interference {
                Interference::All => true,
                Interference::Hops { hops: reach } => {
                    let near = |&(from, to): &(usize, usize)| matches!(hops[from][to], Some(between) if between < usize::from(*reach));
                    pairs.iter().any(near)
                }
                Interference::Sinr { .. } => {
                    self.disturbed(link, other, rates[link])
                        || self.disturbed(other, link, rates[other])
                }
            }
        };
        (0..self.links.len())
            .filter(|&other| other != link && conflict(other))
            .collect()
    }

    /// Whether `link` at a rate loses what it receives while an end of `other` sends.
    fn disturbed(&self, link: usize, other: usize, rate: usize) -> bool {
        let Interference::Sinr {
            exponent,
            snr_at_1_m_db,
            thresholds_db,
        } = &self.interference
        else {
            return false;
        };
        let power = |distance_m: f64| libm::pow(distance_m, -exponent);
        let (l, m) = (self.links[link], self.links[other]);
        let signal = power(self.distance_m(l.a, l.b));
        let noise = libm::pow(10.0, -snr_at_1_m_db / 10.0);
        let needed = libm::pow(10.0, thresholds_db[rate] / 10.0);
        [(m.a, l.a), (m.a, l.b), (m.b, l.a), (m.b, l.b)]
            .iter()
            .any(|&(from, to)| signal < needed * (noise + power(self.distance_m(from, to))))
    }

    /// At least one metre: below that the path-loss law is not valid.
    fn distance_m(&self, a: usize, b: usize) -> f64 {
        match (self.nodes[a].position_m, self.nodes[b].position_m) {
            (Some(from), Some(to)) => libm::hypot(from.0 - to.0, from.1 - to.1).max(1.0),
            _ => 1.0,
        }
    }

    /// Hops to each node over links of the mesh on any channel.
    pub(crate) fn hops_from(&self, from: usize) -> Vec<Option<usize>> {
        self.hops_over(from, |_| true)
    }

    /// Hops to each node over those links alone that are `used`.
    pub(crate) fn hops_over(
        &self,
        from: usize,
        used: impl Fn(usize) -> bool,
    ) -> Vec<Option<usize>> {
        let links_at = self.links_at();
        let mut hops = vec![None; self.nodes.len()];
        hops[from] = Some(0);
        let mut waiting = VecDeque::from([(from, 0)]);
        while let Some((node, far)) = waiting.pop_front() {
            for &link in links_at[node].iter().filter(|link| used(**link)) {
                let next = self.links[link].other(node);
                if hops[next].is_none() {
                    hops[next] = Some(far + 1);
                    waiting.push_back((next, far + 1));
                }
            }
        }
        hops
    }

    /// The links at each node, in ascending order.
    pub(crate) fn links_at(&self) -> Vec<Vec<usize>> {
        let mut links_at = vec![Vec::new(); self.nodes.len()];
        for (index, link) in self.links.iter().enumerate() {
            links_at[link.a].push(index);
            links_at[link.b].push(index);
        }
        links_at
    }

    /// Whether a link may be used: it has a channel, or may get one.
    pub(crate) fn usable(&self, link: usize) -> bool {
        match &self.channels {
            Channels::Available(_) => true,
            Channels::Given(channels) => channels[link].is_some(),
        }
    }
}
