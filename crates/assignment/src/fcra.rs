//! Flow-based channel and rate assignment: links in the order of what they carry, each onto the
//! channel on which the fullest collision domain stays emptiest.

use std::cmp::Ordering;

use crate::demand::FlowRates;
use crate::error::Error;
use crate::load::{Load, compare};
use crate::mesh::{Channels, Interference, Mesh};

/// A channel, a rate and a flow rate for each link.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The channel; `None`: the link's ends share none, and it is not used.
    pub channels: Vec<Option<u8>>,
    /// The rate in bit/s, one of the mesh's.
    pub rates_bps: Vec<u64>,
    /// The flow rates that can be scheduled: those asked for times `scale`.
    pub flow_rates: FlowRates,
    /// λ: at most 1, and smaller where what was asked for is too much.
    pub scale: f64,
    /// Share of the time in which a link or one that disturbs it on its channel is busy when the
    /// links carry their flow rates: at most 1. It is 0 for a link that carries nothing.
    pub utilisation: Vec<f64>,
}

/// Assigns channels, unless they are given, and rates.
///
/// 1. Links are sorted by falling flow rate and have the highest rate that their length allows.
/// 2. Each gets, of the channels that its ends have or could have on a free radio, the one whose
///    fullest collision domain is emptiest; then the one of the smallest sum of domains; then the
///    first.
/// 3. If there is none, a channel of one end is replaced by one of the other, at this node and at
///    all that have no radio left for both. Of all such pairs that is taken which leaves the
///    fullest domain emptiest; of these, that which moves the least airtime.
/// 4. With `adjust_rates`, a link in the fullest domain is slowed down by a step as long as that
///    makes the fullest domain emptier, or of equally full ones fewer: a slower link bears more
///    interference, so that it may be busy together with others.
/// 5. Links without a flow rate get a channel that their ends share or free radios can; without
///    one they are left out, unless the mesh would fall apart.
/// 6. If a domain is busy for more than all of the time, all flow rates are scaled down.
///
/// That no domain (a link and all that disturb it) is busy for more than all of the time suffices
/// for a schedule: links take turns in any order, and each finds as much time as it needs.
///
/// # Errors
///
/// Those of [`Mesh::validate`]; [`Error::Unconnected`] when given channels split what links join;
/// [`Error::Malformed`] for flow rates that are negative, not numbers, or on a link without a
/// given channel.
pub fn assign(mesh: &Mesh, flows: &FlowRates, adjust_rates: bool) -> Result<Assignment, Error> {
    mesh.validate()?;
    if flows.0.len() != mesh.links.len()
        || !flows
            .0
            .iter()
            .flatten()
            .all(|rate| rate.is_finite() && *rate >= 0.0)
    {
        return Err(Error::Malformed(
            "each link has flow rates that are not negative".into(),
        ));
    }
    let mut rates = mesh.fastest()?;
    let mut load = Load::new(mesh, flows, &rates);
    let mut order: Vec<usize> = (0..mesh.links.len()).collect();
    order.sort_by(|&a, &b| flows.of(b).total_cmp(&flows.of(a)));
    let loaded = order.partition_point(|&link| flows.of(link) > 0.0);
    let channels = match &mesh.channels {
        Channels::Given(channels) => {
            if order[..loaded].iter().any(|&link| channels[link].is_none()) {
                return Err(Error::Malformed(
                    "a link without a channel has no flow rate".into(),
                ));
            }
            if adjust_rates {
                adjust(mesh, flows, channels, &mut rates, &mut load);
            }
            channels.clone()
        }
        Channels::Available(available) => {
            let mut plan = Plan::new(mesh, available, load);
            for &link in &order[..loaded] {
                if !plan.place(link) {
                    plan.merge(link);
                }
            }
            if adjust_rates {
                adjust(mesh, flows, &plan.channels, &mut rates, &mut plan.load);
            }
            plan.complete(&order[loaded..]);
            load = plan.load;
            plan.channels
        }
    };
    connected(mesh, &channels)?;
    let utilisation = load.utilisations(&channels);
    let fullest = utilisation.iter().copied().fold(0.0, f64::max);
    let scale = if fullest > 1.0 { 1.0 / fullest } else { 1.0 };
    Ok(Assignment {
        rates_bps: rates.iter().map(|&rate| mesh.rates_bps[rate]).collect(),
        flow_rates: FlowRates(
            flows
                .0
                .iter()
                .map(|both| both.map(|rate| rate * scale))
                .collect(),
        ),
        utilisation: utilisation.iter().map(|busy| busy * scale).collect(),
        channels,
        scale,
    })
}

/// Step 4. Where interference is not by geometry, a slower link bears no more of it.
fn adjust(
    mesh: &Mesh,
    flows: &FlowRates,
    channels: &[Option<u8>],
    rates: &mut [usize],
    load: &mut Load,
) {
    if !matches!(mesh.interference, Interference::Sinr { .. }) {
        return;
    }
    let mut now = load.utilisations(channels);
    loop {
        let fullest = (0..now.len()).fold(
            0,
            |most, link| if now[link] > now[most] { link } else { most },
        );
        let mut domain = load.conflicts.get(fullest).cloned().unwrap_or_default();
        domain.retain(|&other| channels[other] == channels[fullest]);
        domain.push(fullest);
        domain.sort_unstable();
        let mut best: Option<(usize, Vec<f64>, Load)> = None;
        for link in domain {
            if rates
                .get(link)
                .is_none_or(|&rate| rate + 1 >= mesh.rates_bps.len())
            {
                continue;
            }
            rates[link] += 1;
            let slower = load.at_rate(mesh, flows, rates, link);
            rates[link] -= 1;
            let then = slower.utilisations(channels);
            let reference = best.as_ref().map_or(&now, |(_, best, _)| best);
            if compare(&then, reference) == Ordering::Less {
                best = Some((link, then, slower));
            }
        }
        let Some((link, then, slower)) = best else {
            return;
        };
        rates[link] += 1;
        (now, *load) = (then, slower);
    }
}

/// An assignment in the making.
struct Plan<'a> {
    mesh: &'a Mesh,
    available: &'a [u8],
    /// The links at each node.
    links_at: Vec<Vec<usize>>,
    load: Load,
    channels: Vec<Option<u8>>,
}

impl<'a> Plan<'a> {
    fn new(mesh: &'a Mesh, available: &'a [u8], load: Load) -> Self {
        Self {
            mesh,
            available,
            links_at: mesh.links_at(),
            load,
            channels: vec![None; mesh.links.len()],
        }
    }

    /// The channels of a node, in ascending order.
    fn of_node(&self, channels: &[Option<u8>], node: usize) -> Vec<u8> {
        let at = self.links_at[node].iter();
        let mut of: Vec<u8> = at.filter_map(|&link| channels[link]).collect();
        of.sort_unstable();
        of.dedup();
        of
    }

    fn could_have(&self, node: usize, channel: u8) -> bool {
        let of = self.of_node(&self.channels, node);
        of.len() < usize::from(self.mesh.nodes[node].radios) || of.contains(&channel)
    }

    /// The channels that a link may have without a change elsewhere.
    fn allowed(&self, link: usize) -> Vec<u8> {
        let ends = self.mesh.links[link];
        let both =
            |&channel: &u8| self.could_have(ends.a, channel) && self.could_have(ends.b, channel);
        self.available.iter().copied().filter(both).collect()
    }

    /// Step 2; whether there was a channel.
    fn place(&mut self, link: usize) -> bool {
        let mut best: Option<(f64, f64, u8)> = None;
        for channel in self.allowed(link) {
            let own = self.load.utilisation(&self.channels, link, channel);
            let (mut most, mut sum) = (own, own);
            for &other in &self.load.conflicts[link] {
                if self.channels[other] == Some(channel) {
                    let others = self.load.utilisation(&self.channels, other, channel);
                    most = most.max(others + self.load.airtime[link]);
                    sum += others + self.load.airtime[link];
                }
            }
            if best.is_none_or(|(least, total, _)| (most, sum) < (least, total)) {
                best = Some((most, sum, channel));
            }
        }
        self.channels[link] = best.map(|(_, _, channel)| channel);
        best.is_some()
    }

    /// Step 3: both ends are full and share nothing.
    fn merge(&mut self, link: usize) {
        let ends = self.mesh.links[link];
        let (of_a, of_b) = (
            self.of_node(&self.channels, ends.a),
            self.of_node(&self.channels, ends.b),
        );
        let mut best: Option<(Vec<f64>, f64, Vec<Option<u8>>)> = None;
        for &at_a in &of_a {
            for &at_b in &of_b {
                for (node, old, new) in [(ends.a, at_a, at_b), (ends.b, at_b, at_a)] {
                    let channels = self.replaced(link, node, old, new);
                    let then = self.load.utilisations(&channels);
                    let moved = |&other: &usize| channels[other] != self.channels[other];
                    let airtime = (0..channels.len())
                        .filter(moved)
                        .map(|l| self.load.airtime[l]);
                    let airtime = airtime.sum::<f64>();
                    let better = best.as_ref().is_none_or(|(least, lightest, _)| {
                        let order = compare(&then, least);
                        order.then(airtime.total_cmp(lightest)) == Ordering::Less
                    });
                    if better {
                        best = Some((then, airtime, channels));
                    }
                }
            }
        }
        if let Some((_, _, channels)) = best {
            self.channels = channels;
        }
    }

    /// The channels when `node` gives up `old` for `new` and `link` is on the latter. A neighbour
    /// over such a link keeps `old` beside it if it has a radio for both; if not, it gives up
    /// `old` as well.
    fn replaced(&self, link: usize, node: usize, old: u8, new: u8) -> Vec<Option<u8>> {
        let mut channels = self.channels.clone();
        channels[link] = Some(new);
        let mut giving_up = vec![node];
        while let Some(node) = giving_up.pop() {
            for &moved in &self.links_at[node] {
                if channels[moved] == Some(old) {
                    channels[moved] = Some(new);
                    let other = self.mesh.links[moved].other(node);
                    let radios = usize::from(self.mesh.nodes[other].radios);
                    if self.of_node(&channels, other).len() > radios {
                        giving_up.push(other);
                    }
                }
            }
        }
        channels
    }

    /// Step 5.
    fn complete(&mut self, idle: &[usize]) {
        for &link in idle {
            let ends = self.mesh.links[link];
            let channels = &self.channels;
            let hops = self
                .mesh
                .hops_over(ends.a, |other| channels[other].is_some());
            if hops[ends.b].is_none() && !self.adopt(link) {
                self.merge(link);
            }
        }
        for &link in idle {
            if self.channels[link].is_none() {
                self.adopt(link);
            }
        }
    }

    /// A link without a flow rate onto the channel that makes most such links possible, of these
    /// the emptiest; whether there was one.
    fn adopt(&mut self, link: usize) -> bool {
        let mut best: Option<(usize, f64, u8)> = None;
        for channel in self.allowed(link) {
            let mut with = self.channels.clone();
            with[link] = Some(channel);
            let ends = self.mesh.links[link];
            let possible = |&&other: &&usize| {
                let near = self.mesh.links[other];
                let of_near = self.of_node(&with, near.a);
                let common = |channel: &u8| of_near.contains(channel);
                with[other].is_none() && self.of_node(&with, near.b).iter().any(common)
            };
            let near = [ends.a, ends.b].map(|end| self.links_at[end].iter());
            let reached = near.into_iter().flatten().filter(possible).count();
            let busy = self.load.utilisation(&self.channels, link, channel);
            if best.is_none_or(|(most, least, _)| reached > most || reached == most && busy < least)
            {
                best = Some((reached, busy, channel));
            }
        }
        self.channels[link] = best.map(|(_, _, channel)| channel);
        best.is_some()
    }
}

/// Whether links with channels join all that links join.
fn connected(mesh: &Mesh, channels: &[Option<u8>]) -> Result<(), Error> {
    let mut seen = vec![false; mesh.nodes.len()];
    for start in 0..mesh.nodes.len() {
        if seen[start] {
            continue;
        }
        let whole: Vec<usize> = reached(&mesh.hops_from(start));
        let mut pieces: Vec<Vec<usize>> = Vec::new();
        for &node in &whole {
            if !seen[node] {
                let piece = reached(&mesh.hops_over(node, |link| channels[link].is_some()));
                for &member in &piece {
                    seen[member] = true;
                }
                pieces.push(piece);
            }
        }
        if pieces.len() > 1 {
            return Err(Error::Unconnected { pieces });
        }
    }
    Ok(())
}

fn reached(hops: &[Option<usize>]) -> Vec<usize> {
    (0..hops.len())
        .filter(|&node| hops[node].is_some())
        .collect()
}
