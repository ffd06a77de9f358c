//! Verifies an assignment from the mesh alone. This file shares no code with the algorithms that
//! make assignments: it has its own hops, distances, conflicts and components, and where the
//! assignment claims that flow rates can be scheduled, it writes the schedule.

use crate::fcra::Assignment;
use crate::mesh::{Channels, Interference, Mesh};

/// An error in an assignment.
#[derive(Clone, Debug, PartialEq)]
pub enum Violation {
    /// A table has not one entry for each link, or a number in it is none or negative.
    Shape(&'static str),
    /// A node's links are on more channels than it has radios.
    Radios {
        /// The node.
        node: usize,
        /// Channels of its links.
        channels: usize,
    },
    /// A link is on a channel that is not available, or not on the given one.
    Channel {
        /// The link.
        link: usize,
    },
    /// A link's rate is not one of the mesh's, is above its highest, or needs a shorter link.
    Rate {
        /// The link.
        link: usize,
    },
    /// A link without a channel has a flow rate.
    Unused {
        /// The link.
        link: usize,
    },
    /// A link and those that disturb it are busy for more than all of the time.
    Overload {
        /// The link.
        link: usize,
        /// Seconds in a second.
        busy: f64,
    },
    /// A link finds no time that is left by those that disturb it.
    NoTime {
        /// The link.
        link: usize,
    },
    /// The utilisation that the assignment states is not the one that it has.
    Stated {
        /// The link.
        link: usize,
        /// What it is.
        busy: f64,
    },
    /// Two nodes that a link joins are not joined by links with channels.
    Split {
        /// The link.
        link: usize,
    },
}

/// What floating point may add up to beyond a whole second, a picosecond for each.
const ROUNDING: f64 = 1e-12;

/// Goes through all that an assignment must keep.
///
/// # Errors
///
/// All violations found.
pub fn check(mesh: &Mesh, assignment: &Assignment) -> Result<(), Vec<Violation>> {
    let count = mesh.links.len();
    if [
        assignment.channels.len(),
        assignment.rates_bps.len(),
        assignment.flow_rates.0.len(),
        assignment.utilisation.len(),
    ]
    .iter()
    .any(|&entries| entries != count)
    {
        return Err(vec![Violation::Shape("an entry for each link")]);
    }
    let rates = assignment.flow_rates.0.iter().flatten();
    if !rates
        .chain([&assignment.scale])
        .all(|value| value.is_finite() && *value >= 0.0)
    {
        return Err(vec![Violation::Shape("rates and scale are not negative")]);
    }
    let judge = Judge {
        mesh,
        assignment,
        hops: all_hops(mesh),
    };
    let mut found = Vec::new();
    judge.channels(&mut found);
    judge.rates(&mut found);
    judge.connected(&mut found);
    if found.is_empty() {
        judge.time(&mut found);
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

struct Judge<'a> {
    mesh: &'a Mesh,
    assignment: &'a Assignment,
    hops: Vec<Vec<usize>>,
}

impl Judge<'_> {
    fn channels(&self, found: &mut Vec<Violation>) {
        for (node, has) in self.mesh.nodes.iter().enumerate() {
            let mut tuned = [false; 256];
            for (link, channel) in self.mesh.links.iter().zip(&self.assignment.channels) {
                if let (Some(channel), true) = (channel, link.a == node || link.b == node) {
                    tuned[usize::from(*channel)] = true;
                }
            }
            let channels = tuned.iter().filter(|&&used| used).count();
            if channels > usize::from(has.radios) {
                found.push(Violation::Radios { node, channels });
            }
        }
        for (link, channel) in self.assignment.channels.iter().enumerate() {
            let fine = match (&self.mesh.channels, channel) {
                (Channels::Available(all), Some(channel)) => all.contains(channel),
                (Channels::Available(_), None) => true,
                (Channels::Given(given), channel) => given[link] == *channel,
            };
            if !fine {
                found.push(Violation::Channel { link });
            }
            let flow = self.assignment.flow_rates.0[link];
            if channel.is_none() && (flow[0] > 0.0 || flow[1] > 0.0) {
                found.push(Violation::Unused { link });
            }
        }
    }

    fn rates(&self, found: &mut Vec<Violation>) {
        for (link, rate) in self.assignment.rates_bps.iter().enumerate() {
            let index = self.mesh.rates_bps.iter().position(|known| known == rate);
            let top = self.mesh.links[link].top_rate_bps;
            let bears = top.is_none_or(|top| *rate <= top)
                && index.is_some_and(|index| match &self.mesh.interference {
                    Interference::Sinr { thresholds_db, .. } => {
                        // The noise alone, without any interferer.
                        10.0 * libm::log10(self.signal_over(link, None))
                            >= thresholds_db[index] - 1e-9
                    }
                    _ => true,
                });
            if !bears {
                found.push(Violation::Rate { link });
            }
        }
    }

    fn connected(&self, found: &mut Vec<Violation>) {
        let mut piece: Vec<usize> = (0..self.mesh.nodes.len()).collect();
        for (link, channel) in self.mesh.links.iter().zip(&self.assignment.channels) {
            if channel.is_some() {
                let (from, to) = (piece[link.a], piece[link.b]);
                piece
                    .iter_mut()
                    .filter(|of| **of == from)
                    .for_each(|of| *of = to);
            }
        }
        for (index, link) in self.mesh.links.iter().enumerate() {
            if piece[link.a] != piece[link.b] {
                found.push(Violation::Split { link: index });
            }
        }
    }

    fn time(&self, found: &mut Vec<Violation>) {
        let count = self.mesh.links.len();
        let needs = |link: usize| {
            let both = self.assignment.flow_rates.0[link];
            (both[0] + both[1]) / self.assignment.rates_bps[link] as f64
        };
        let together = |one: usize, other: usize| {
            self.assignment.channels[one].is_some()
                && self.assignment.channels[one] == self.assignment.channels[other]
                && self.exclude(one, other)
        };
        // Busy seconds of each link within one second, in order and apart.
        let mut schedule: Vec<Vec<(f64, f64)>> = vec![Vec::new(); count];
        for link in 0..count {
            let others: Vec<usize> = (0..count)
                .filter(|&other| other != link && together(link, other))
                .collect();
            if needs(link) == 0.0 {
                // A link without traffic needs no airtime.
                continue;
            }
            let busy = needs(link) + others.iter().map(|&other| needs(other)).sum::<f64>();
            let stated = self.assignment.utilisation[link];
            if (busy - stated).abs() > 1e-9 {
                found.push(Violation::Stated { link, busy });
            }
            if busy > 1.0 + ROUNDING * count as f64 {
                found.push(Violation::Overload { link, busy });
            }
            let mut taken: Vec<(f64, f64)> = others
                .iter()
                .flat_map(|&other| schedule[other].iter().copied())
                .collect();
            taken.sort_by(|one, other| one.0.total_cmp(&other.0));
            taken.push((1.0, 1.0));
            let (mut left, mut clock, mut own) = (needs(link), 0.0_f64, Vec::new());
            for (begin, end) in taken {
                let free = (begin - clock).min(left);
                if free > 0.0 {
                    own.push((clock, clock + free));
                    left -= free;
                }
                clock = clock.max(end);
            }
            if left > ROUNDING * (count * count) as f64 {
                found.push(Violation::NoTime { link });
            }
            schedule[link] = own;
        }
    }

    /// Whether two links on one channel cannot be busy at once.
    fn exclude(&self, one: usize, other: usize) -> bool {
        let ends = |link: usize| [self.mesh.links[link].a, self.mesh.links[link].b];
        let apart = ends(one)
            .iter()
            .flat_map(|&from| ends(other).map(|to| self.hops[from][to]))
            .min()
            .unwrap_or(0);
        match &self.mesh.interference {
            _ if apart == 0 => true,
            Interference::All => true,
            Interference::Hops { hops } => apart < usize::from(*hops),
            Interference::Sinr { thresholds_db, .. } => {
                [(one, other), (other, one)]
                    .iter()
                    .any(|&(heard, against)| {
                        let rate = self.assignment.rates_bps[heard];
                        let index = self.mesh.rates_bps.iter().position(|&known| known == rate);
                        let needed = index.map_or(f64::INFINITY, |index| thresholds_db[index]);
                        10.0 * libm::log10(self.signal_over(heard, Some(against))) < needed
                    })
            }
        }
    }

    /// Ratio of a link's signal to the noise and to the strongest signal of another's ends.
    fn signal_over(&self, link: usize, against: Option<usize>) -> f64 {
        let Interference::Sinr {
            exponent,
            snr_at_1_m_db,
            ..
        } = &self.mesh.interference
        else {
            return f64::INFINITY;
        };
        // Over the noise, at some distance.
        let over = |from: usize, to: usize| {
            let at = |node: usize| self.mesh.nodes[node].position_m.unwrap_or((0.0, 0.0));
            let (dx, dy) = (at(from).0 - at(to).0, at(from).1 - at(to).1);
            let metres = libm::sqrt(dx * dx + dy * dy).max(1.0);
            libm::pow(metres, -exponent)
        };
        let noise = libm::pow(10.0, -snr_at_1_m_db / 10.0);
        let ends = |link: usize| [self.mesh.links[link].a, self.mesh.links[link].b];
        let [a, b] = ends(link);
        let heard = against.map_or(0.0, |against| {
            let pairs = ends(against)
                .into_iter()
                .flat_map(|from| [over(from, a), over(from, b)]);
            pairs.fold(0.0, f64::max)
        });
        over(a, b) / (noise + heard)
    }
}

/// Hops between all nodes; `usize::MAX` where no links lead.
fn all_hops(mesh: &Mesh) -> Vec<Vec<usize>> {
    let count = mesh.nodes.len();
    let mut hops = vec![vec![usize::MAX; count]; count];
    for (node, row) in hops.iter_mut().enumerate() {
        row[node] = 0;
    }
    for link in &mesh.links {
        hops[link.a][link.b] = 1;
        hops[link.b][link.a] = 1;
    }
    for over in 0..count {
        for from in 0..count {
            for to in 0..count {
                let sum = hops[from][over].saturating_add(hops[over][to]);
                hops[from][to] = hops[from][to].min(sum);
            }
        }
    }
    hops
}
