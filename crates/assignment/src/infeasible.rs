//! Demands that cannot all be met: the factor by which they could, the binding constraints, and the
//! remedies. A binding constraint is found by relaxing it and solving again.

use crate::error::Error;
use crate::mesh::Mesh;
use crate::program::{Goal, Program, Solution};

/// A resource of limited time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// The radios of a node.
    Radios {
        /// The node.
        node: usize,
        /// Its radios.
        radios: u8,
    },
    /// The channels that a link and those that would disturb it have between them.
    Channels {
        /// The link.
        link: usize,
        /// The channels that there are.
        channels: usize,
    },
    /// A link at its highest rate.
    Link {
        /// The link.
        link: usize,
    },
    /// A link and those that disturb it on its given channel.
    Domain {
        /// The link.
        link: usize,
        /// Its channel.
        channel: u8,
    },
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

/// One more radio or channel, or twice a link's rate, and what it brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remedy {
    /// Of what.
    pub constraint: Constraint,
    /// The demands could then be met by this factor.
    pub factor: f64,
}

/// Demands that cannot all be met.
#[derive(Clone, Debug, PartialEq)]
pub struct Infeasible {
    /// All could be met to this factor of their rates, below 1.
    pub factor: f64,
    /// The binding constraints: one more unit of any of them would help; with `together`, only one
    /// more of each.
    pub remedies: Vec<Remedy>,
    /// Whether no remedy alone would help.
    pub together: bool,
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

/// What keeps the demands from being met, given how far they can be.
pub(crate) fn explain(program: &Program, met: &Solution) -> Result<Infeasible, Error> {
    let busy = |row: &&usize| {
        let row = &program.rows[**row];
        Program::airtime(row, met) > row.capacity * (1.0 - 1e-6)
    };
    let all: Vec<usize> = (0..program.rows.len()).collect();
    let full: Vec<usize> = all.iter().filter(busy).copied().collect();
    let with_more = |rows: &[usize]| -> Result<f64, Error> {
        Ok(program.with_more(rows).solve(&Goal::Factor)?.value)
    };
    let enough = met.value * (1.0 + 1e-6);
    let mut remedies: Vec<Remedy> = Vec::new();
    for &row in &full {
        let constraint = program.rows[row].constraint;
        // A channel is one more everywhere.
        let channels = |one: &Constraint| matches!(one, Constraint::Channels { .. });
        let known = remedies.iter().any(|old| channels(&old.constraint));
        if !(channels(&constraint) && known) {
            let factor = with_more(&[row])?;
            if factor > enough {
                remedies.push(Remedy { constraint, factor });
            }
        }
    }
    let together = remedies.is_empty();
    if together {
        let mut needed = full;
        for row in needed.clone() {
            let without: Vec<usize> = needed.iter().copied().filter(|&one| one != row).collect();
            if with_more(&without)? > enough {
                needed = without;
            }
        }
        let factor = with_more(&needed)?;
        let remedy = |&row: &usize| Remedy {
            constraint: program.rows[row].constraint,
            factor,
        };
        remedies = needed.iter().map(remedy).collect();
    }
    Ok(Infeasible {
        factor: met.value,
        remedies,
        together,
    })
}
