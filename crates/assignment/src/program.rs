//! The linear program of a multi-commodity flow: a variable for each short path, a row for each
//! thing that has only so much time. Rates are in Mbit/s here, so that coefficients are near one.

use std::mem::discriminant;

use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, Variable};

use crate::demand::{Demand, FlowRates};
use crate::error::Error;
use crate::infeasible::Constraint;
use crate::mesh::{Channels, Mesh};
use crate::paths::{Hop, MOST_PATHS, short_paths, too_many};

/// What to optimise. In all but the first, demands that name a rate get it.
pub(crate) enum Goal {
    /// The largest factor by which the rates that demands name can be met at once; the other
    /// demands get nothing.
    Factor,
    /// The largest least rate of the demands that name none.
    Least,
    /// The largest sum of these, each having at least so much.
    Total {
        /// Mbit/s.
        least: f64,
    },
    /// The least airtime at which each demand has at least so much.
    Airtime {
        /// Mbit/s.
        amounts: Vec<f64>,
    },
}

/// Where a solution may be worse than the optimum of the goal before it. Far below a bit/s, and
/// enough for what the solver rounds.
const SLACK: f64 = 1.0 - 1e-9;

#[derive(Clone)]
pub(crate) struct Row {
    pub constraint: Constraint,
    links: Vec<usize>,
    /// Seconds of airtime in a second.
    pub capacity: f64,
    /// What a unit of each column takes of it, where it takes something.
    costs: Vec<(usize, f64)>,
}

/// A unit of a demand over a path, with what flows back for it over the same links. Nothing is lost
/// by that: a link's time is that of both directions together, and all paths lead both ways.
#[derive(Clone)]
struct Column {
    demand: usize,
    path: Vec<Hop>,
}

#[derive(Clone)]
pub(crate) struct Program<'a> {
    demands: &'a [Demand],
    /// Of each link, in Mbit/s.
    rates: Vec<f64>,
    columns: Vec<Column>,
    pub rows: Vec<Row>,
    links: usize,
}

pub(crate) struct Solution {
    /// Value of the goal.
    pub value: f64,
    /// Of each demand, forward.
    pub amounts: Vec<f64>,
    /// Of each column.
    flows: Vec<f64>,
}

impl<'a> Program<'a> {
    pub fn new(mesh: &Mesh, demands: &'a [Demand], extra_hops: u8) -> Result<Self, Error> {
        mesh.validate()?;
        let fastest = mesh.fastest()?;
        let mut columns = Vec::new();
        for (demand, ends) in demands.iter().enumerate() {
            let paths = short_paths(mesh, demand, ends, extra_hops)?;
            columns.extend(paths.into_iter().map(|path| Column { demand, path }));
            if columns.len() > MOST_PATHS {
                return Err(too_many(demand, ends));
            }
        }
        let rates: Vec<f64> = fastest
            .iter()
            .map(|&rate| mesh.rates_bps[rate] as f64 / 1e6)
            .collect();
        let links = mesh.links.len();
        let mut program = Self {
            demands,
            rates,
            columns,
            rows: Vec::new(),
            links,
        };
        for (constraint, mut links, capacity) in constraints(mesh, &fastest) {
            links.sort_unstable();
            let costs = program.costs(&links);
            // Links with equal constraints share one row. The radios of two nodes never do: both may
            // be equally busy, and one more radio at one of them alone does not help.
            let shared = matches!(
                constraint,
                Constraint::Domain { .. } | Constraint::Channels { .. }
            );
            let same = |old: &Row| {
                discriminant(&old.constraint) == discriminant(&constraint) && old.links == links
            };
            let known = shared && program.rows.iter().any(same);
            if !known && !costs.is_empty() {
                program.rows.push(Row {
                    constraint,
                    links,
                    capacity,
                    costs,
                });
            }
        }
        Ok(program)
    }

    /// The same with one more of what some rows have: of a node's radios, of channels (everywhere),
    /// of a domain's channels, or of a link's rate.
    pub fn with_more(&self, rows: &[usize]) -> Self {
        let mut more = self.clone();
        for &row in rows {
            match self.rows[row].constraint {
                Constraint::Radios { .. } | Constraint::Domain { .. } => {
                    more.rows[row].capacity += 1.0;
                }
                Constraint::Channels { channels, .. } => {
                    for other in &mut more.rows {
                        if matches!(other.constraint, Constraint::Channels { .. }) {
                            other.capacity = channels as f64 + 1.0;
                        }
                    }
                }
                Constraint::Link { link } => more.rates[link] *= 2.0,
            }
        }
        for row in 0..more.rows.len() {
            more.rows[row].costs = more.costs(&more.rows[row].links);
        }
        more
    }

    /// Seconds of airtime in a second that links spend on a unit of each column, where they do.
    fn costs(&self, links: &[usize]) -> Vec<(usize, f64)> {
        let mut within = vec![false; self.links];
        for &link in links {
            within[link] = true;
        }
        let cost = |column: &Column| -> f64 {
            let hops = column.path.iter().filter(|hop| within[hop.link]);
            hops.map(|hop| self.time(column.demand, hop)).sum()
        };
        let costs = self.columns.iter().map(cost).enumerate();
        costs.filter(|&(_, cost)| cost > 0.0).collect()
    }

    /// The same for a hop.
    fn time(&self, demand: usize, hop: &Hop) -> f64 {
        (1.0 + self.demands[demand].reverse_share) / self.rates[hop.link]
    }

    pub fn airtime(row: &Row, solution: &Solution) -> f64 {
        row.costs
            .iter()
            .map(|&(column, cost)| cost * solution.flows[column])
            .sum()
    }

    pub fn per_link(&self, solution: &Solution) -> FlowRates {
        let mut rates = vec![[0.0; 2]; self.links];
        for (column, flow) in self.columns.iter().zip(&solution.flows) {
            for hop in &column.path {
                let share = self.demands[column.demand].reverse_share;
                rates[hop.link][hop.direction] += flow * 1e6;
                rates[hop.link][1 - hop.direction] += share * flow * 1e6;
            }
        }
        FlowRates(rates)
    }

    /// The best flow.
    pub fn solve(&self, goal: &Goal) -> Result<Solution, Error> {
        let direction = match goal {
            Goal::Airtime { .. } => OptimizationDirection::Minimize,
            _ => OptimizationDirection::Maximize,
        };
        let mut problem = Problem::new(direction);
        let flows: Vec<Variable> = self
            .columns
            .iter()
            .map(|column| {
                let airtime = column
                    .path
                    .iter()
                    .map(|hop| 1.0 / self.rates[hop.link])
                    .sum();
                let weight = if matches!(goal, Goal::Airtime { .. }) {
                    airtime
                } else {
                    0.0
                };
                problem.add_var(weight, (0.0, f64::INFINITY))
            })
            .collect();
        let named = |demand: usize| self.demands[demand].rate_bps.map(|rate| rate / 1e6);
        let amounts: Vec<Variable> = (0..self.demands.len())
            .map(|demand| match (goal, named(demand)) {
                (Goal::Factor, Some(_)) | (Goal::Least, None) => {
                    problem.add_var(0.0, (0.0, f64::INFINITY))
                }
                (Goal::Factor, None) => problem.add_var(0.0, (0.0, 0.0)),
                (Goal::Airtime { amounts }, _) => {
                    problem.add_var(0.0, (amounts[demand] * SLACK, f64::INFINITY))
                }
                (_, Some(rate)) => problem.add_var(0.0, (rate, rate)),
                (Goal::Total { least }, None) => {
                    problem.add_var(1.0, (least * SLACK, f64::INFINITY))
                }
            })
            .collect();
        if matches!(goal, Goal::Factor | Goal::Least) {
            let common = problem.add_var(1.0, (0.0, f64::INFINITY));
            for (demand, &amount) in amounts.iter().enumerate() {
                match (goal, named(demand)) {
                    (Goal::Factor, Some(rate)) => {
                        let terms = [(amount, 1.0), (common, -rate)];
                        problem.add_constraint(terms, ComparisonOp::Eq, 0.0);
                    }
                    (Goal::Least, None) => {
                        let terms = [(amount, 1.0), (common, -1.0)];
                        problem.add_constraint(terms, ComparisonOp::Ge, 0.0);
                    }
                    _ => {}
                }
            }
        }
        for (demand, &amount) in amounts.iter().enumerate() {
            let mut sum = LinearExpr::empty();
            for (column, &flow) in self.columns.iter().zip(&flows) {
                if column.demand == demand {
                    sum.add(flow, 1.0);
                }
            }
            sum.add(amount, -1.0);
            problem.add_constraint(sum, ComparisonOp::Eq, 0.0);
        }
        for row in &self.rows {
            let mut sum = LinearExpr::empty();
            for &(column, cost) in &row.costs {
                sum.add(flows[column], cost);
            }
            problem.add_constraint(sum, ComparisonOp::Le, row.capacity);
        }
        let solved = problem
            .solve()
            .map_err(|error| Error::Solver(error.to_string()))?;
        let solved = solved
            .into_solution()
            .map_err(|_| Error::Solver("interrupted".into()))?;
        let values = |variables: &[Variable]| {
            variables
                .iter()
                .map(|&variable| solved.var_value(variable).max(0.0))
                .collect()
        };
        Ok(Solution {
            value: solved.objective(),
            amounts: values(&amounts),
            flows: values(&flows),
        })
    }
}

/// What has only so much time, the links that share it, and how much.
fn constraints(mesh: &Mesh, rates: &[usize]) -> Vec<(Constraint, Vec<usize>, f64)> {
    let conflicts = mesh.conflicts(rates);
    let links = 0..mesh.links.len();
    match &mesh.channels {
        Channels::Given(channels) => links
            .filter_map(|link| channels[link].map(|channel| (link, channel)))
            .map(|(link, channel)| {
                let mut domain = conflicts[link].clone();
                domain.retain(|&other| channels[other] == Some(channel));
                domain.push(link);
                (Constraint::Domain { link, channel }, domain, 1.0)
            })
            .collect(),
        Channels::Available(channels) => {
            let channels = channels.len();
            let nodes = mesh.nodes.iter().enumerate().map(|(node, has)| {
                let at = |&link: &usize| mesh.links[link].a == node || mesh.links[link].b == node;
                let constraint = Constraint::Radios {
                    node,
                    radios: has.radios,
                };
                (
                    constraint,
                    (0..mesh.links.len()).filter(at).collect(),
                    f64::from(has.radios),
                )
            });
            let single = links
                .clone()
                .map(|link| (Constraint::Link { link }, vec![link], 1.0));
            let around = links.map(|link| {
                let mut all = conflicts[link].clone();
                all.push(link);
                (
                    Constraint::Channels { link, channels },
                    all,
                    channels as f64,
                )
            });
            nodes.chain(single).chain(around).collect()
        }
    }
}
