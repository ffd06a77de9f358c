//! What is wrong, and how to mend it, in words.

use crate::error::Error;
use crate::infeasible::{Constraint, Infeasible, Remedy};
use crate::mesh::Mesh;

impl Error {
    /// What happened, and what to do, with the nodes named by `name`.
    pub fn describe(&self, mesh: &Mesh, name: impl Fn(usize) -> String) -> (String, String) {
        let count = |number: usize, one: &str| match number {
            1 => format!("1 {one}"),
            _ => format!("{number} {one}s"),
        };
        match self {
            Self::Malformed(rule) => ("nothing can be assigned here".to_string(), rule.clone()),
            Self::NoRadio { node } => (
                format!("{} has links but no radio", name(*node)),
                "give it one, or take its links away".to_string(),
            ),
            Self::MoreRadiosThanChannels {
                node,
                radios,
                channels,
            } => (
                format!(
                    "{} has {} for {}, and two radios of a node on one channel disturb each other",
                    name(*node),
                    count(usize::from(*radios), "radio"),
                    count(*channels, "channel"),
                ),
                format!("give it at most {channels}, or make more channels available"),
            ),
            Self::TooManyChannels {
                node,
                channels,
                radios,
            } => {
                let listed: Vec<String> = channels.iter().map(u8::to_string).collect();
                let what = format!(
                    "the links of {} are on {} ({}), but it has {}",
                    name(*node),
                    count(channels.len(), "channel"),
                    listed.join(", "),
                    count(usize::from(*radios), "radio"),
                );
                let radios = count(channels.len(), "radio");
                (
                    what,
                    format!("give it {radios}, or put its links on fewer channels"),
                )
            }
            Self::OutOfRange { link } => (
                format!(
                    "{} and {} are too far from each other for the lowest rate",
                    name(mesh.links[*link].a),
                    name(mesh.links[*link].b),
                ),
                "move them together, or take the link away".to_string(),
            ),
            Self::Unconnected { pieces } => {
                let named = |piece: &Vec<usize>| {
                    let names: Vec<String> = piece.iter().map(|&node| name(node)).collect();
                    format!("{{{}}}", names.join(", "))
                };
                let pieces: Vec<String> = pieces.iter().map(named).collect();
                (
                    format!(
                        "with these channels the mesh falls apart into {}",
                        pieces.join(" and ")
                    ),
                    "give a link between them a channel that both its ends have".to_string(),
                )
            }
            Self::NoPath { from, to, .. } => (
                format!(
                    "no links with a channel lead from {} to {}",
                    name(*from),
                    name(*to)
                ),
                "join them, or take the demand away".to_string(),
            ),
            Self::TooManyPaths {
                from, to, limit, ..
            } => (
                format!(
                    "with those from {} to {} there are more than {limit} paths within the bound on \
                     hops",
                    name(*from),
                    name(*to),
                ),
                "lower extra_hops, or use flow rates that need no paths (\"equal\")".to_string(),
            ),
            Self::Infeasible(infeasible) => infeasible.describe(mesh, &name),
            Self::Solver(words) => (
                format!("the flow rates could not be computed ({words})"),
                "use \"paths\" or \"equal\"".to_string(),
            ),
        }
    }
}

impl Infeasible {
    /// The binding constraints and a remedy, with the nodes named by `name`.
    pub fn describe(&self, mesh: &Mesh, name: &impl Fn(usize) -> String) -> (String, String) {
        let percent = |factor: f64| {
            // Rounded down: the advice is to be feasible.
            let parts = if factor < 0.01 { 1000.0 } else { 10.0 };
            let whole = libm::floor(factor * 100.0 * parts + 1e-6);
            format!("{} %", whole / parts)
        };
        let all: Vec<&Constraint> = self
            .remedies
            .iter()
            .map(|remedy| &remedy.constraint)
            .collect();
        let reasons: Vec<String> = all.iter().map(|one| one.describe(mesh, name)).collect();
        let mends: Vec<String> = if self.together {
            let each: Vec<String> = all.iter().map(|one| one.mend(mesh, name)).collect();
            let factor = self
                .remedies
                .first()
                .map_or(self.factor, |remedy| remedy.factor);
            vec![format!(
                "have all of: {} (then {})",
                each.join(", "),
                percent(factor)
            )]
        } else {
            let one = |remedy: &Remedy| {
                format!(
                    "have {} (then {})",
                    remedy.constraint.mend(mesh, name),
                    percent(remedy.factor),
                )
            };
            self.remedies.iter().map(one).collect()
        };
        let factor = percent(self.factor);
        (
            format!(
                "the demands can be met to {factor} of their rates at most, since {}",
                reasons.join(", and "),
            ),
            format!(
                "lower each to {factor} of its rate, or {}",
                mends.join(", or ")
            ),
        )
    }
}

impl Constraint {
    /// What is short, with the nodes named by `name`.
    pub fn describe(&self, mesh: &Mesh, name: &impl Fn(usize) -> String) -> String {
        match *self {
            Self::Radios { node, radios: 1 } => {
                format!("the only radio of {} is always busy", name(node))
            }
            Self::Radios { node, radios } => {
                format!("the {radios} radios of {} are always busy", name(node))
            }
            Self::Channels { link, channels: 1 } => {
                format!(
                    "the only channel is always busy around {}",
                    ends(mesh, link, name)
                )
            }
            Self::Channels { link, channels } => {
                format!(
                    "all {channels} channels are always busy around {}",
                    ends(mesh, link, name)
                )
            }
            Self::Link { link } => {
                format!("the link {} is always busy", ends(mesh, link, name))
            }
            Self::Domain { link, channel } => {
                format!(
                    "channel {channel} is always busy around {}",
                    ends(mesh, link, name)
                )
            }
        }
    }

    /// One more of it.
    fn mend(&self, mesh: &Mesh, name: &impl Fn(usize) -> String) -> String {
        match *self {
            Self::Radios { node, .. } => format!("one more radio at {}", name(node)),
            Self::Channels { .. } => "one more channel".to_string(),
            Self::Link { link } => {
                format!("twice the rate on {}", ends(mesh, link, name))
            }
            Self::Domain { link, channel } => {
                let place = ends(mesh, link, name);
                format!(
                    "links around {place} moved from channel {channel} to a channel of their own"
                )
            }
        }
    }
}

fn ends(mesh: &Mesh, link: usize, name: &impl Fn(usize) -> String) -> String {
    format!("{}-{}", name(mesh.links[link].a), name(mesh.links[link].b))
}
