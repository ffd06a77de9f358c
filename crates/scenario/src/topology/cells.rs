//! Routers at random places of square cells, linked by their cells.

use std::collections::BTreeMap;

use backlane_units::Length;

use super::draws::SplitMix;
use super::network::{Network, Placed, too_many};
use super::rules::pieces;
use super::template::template;
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::NodeKind;
use crate::problems::Problems;
use crate::spec::tables::MOST_NODES;
use crate::tree::{Table, Value};

/// Drawn placements of which one must be connected. Twelve nodes in twelve cells of which four are
/// joined are one in nine times.
const MOST_PLACEMENTS: usize = 10_000;

/// The cells, each named by its row and column.
struct Cells {
    rows: i64,
    columns: i64,
    spacing: Length,
    with_corners: bool,
}

/// A node's cell and its place in the whole area.
#[derive(Clone, Copy)]
struct Place {
    cell: (i64, i64),
    position: (Length, Length),
}

impl Cells {
    /// A place in a cell.
    fn within(&self, (row, column): (i64, i64), draws: &mut SplitMix) -> Place {
        let mut at = |step: i64| {
            let cell = self.spacing.as_um().saturating_mul(step);
            Length::from_um(cell.saturating_add(draws.within(self.spacing)))
        };
        Place {
            cell: (row, column),
            position: (at(column), at(row)),
        }
    }

    /// One place in each cell, row by row.
    fn one_in_each(&self, draws: &mut SplitMix) -> Vec<Place> {
        (0..self.rows)
            .flat_map(|row| (0..self.columns).map(move |column| (row, column)))
            .map(|cell| self.within(cell, draws))
            .collect()
    }

    /// Places anywhere: each in a cell that is drawn.
    fn anywhere(&self, nodes: usize, draws: &mut SplitMix) -> Vec<Place> {
        (0..nodes)
            .map(|_| {
                let cell = (draws.below(self.rows), draws.below(self.columns));
                self.within(cell, draws)
            })
            .collect()
    }

    /// The pairs of nodes in one cell or in cells that are joined, each with the lower index first:
    /// by that index, then cell by cell. `None` if they are more than a network can have.
    fn links(&self, places: &[Place]) -> Result<Vec<(usize, usize)>, u64> {
        let mut in_cell: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
        for (node, place) in places.iter().enumerate() {
            in_cell.entry(place.cell).or_default().push(node);
        }
        let beside: &[(i64, i64)] = if self.with_corners {
            &[
                (0, 0),
                (0, 1),
                (1, -1),
                (1, 0),
                (1, 1),
                (0, -1),
                (-1, 1),
                (-1, 0),
                (-1, -1),
            ]
        } else {
            &[(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)]
        };
        let mut links = Vec::new();
        for (
            node,
            Place {
                cell: (row, column),
                ..
            },
        ) in places.iter().enumerate()
        {
            for (down, right) in beside {
                let there = in_cell.get(&(row + down, column + right));
                let others = there.into_iter().flatten().filter(|other| **other > node);
                links.extend(others.map(|other| (node, *other)));
                if links.len() > MOST_NODES as usize {
                    return Err(links.len() as u64);
                }
            }
        }
        Ok(links)
    }
}

/// Builds the network: n1, n2, …, each linked to those in its own cell and in those beside it.
pub(super) fn build(table: &Table, seed: u64, problems: &mut Problems) -> Option<Network> {
    let (rows, columns) = (
        table.integer::<i64>("rows")?,
        table.integer::<i64>("columns")?,
    );
    let cells = Cells {
        rows,
        columns,
        spacing: table.quantity("spacing")?,
        with_corners: table.get("joined").map(|item| &item.value) == Some(&Value::Integer(8)),
    };
    let nodes: Option<usize> = table.integer("nodes");
    let span = table.place("rows", Span::default());
    let most = nodes.map_or(rows.saturating_mul(columns) as u64, |nodes| nodes as u64);
    if most > MOST_NODES as u64 {
        too_many(span, most, problems);
        return None;
    }
    let mut draws = SplitMix::of(table, seed)?;
    let mut drawn = None;
    for _ in 0..MOST_PLACEMENTS {
        if !problems.go_on() {
            return None;
        }
        let places = match nodes {
            None => cells.one_in_each(&mut draws),
            Some(nodes) => cells.anywhere(nodes, &mut draws),
        };
        let links = match cells.links(&places) {
            Ok(links) => links,
            Err(count) => {
                too_many(span, count, problems);
                return None;
            }
        };
        if pieces(places.len(), links.iter().copied())
            .iter()
            .all(|piece| *piece == 0)
        {
            drawn = Some((places, links));
            break;
        }
    }
    let Some((places, links)) = drawn else {
        let message = format!("{MOST_PLACEMENTS} placements were drawn, and none is connected");
        let label = "take more nodes or fewer cells, or join eight";
        problems.error(
            Code::Disconnected,
            table.place("nodes", span),
            message,
            label,
        );
        return None;
    };
    let template = template(table);
    let mut network = Network::default();
    for (node, place) in places.iter().enumerate() {
        network.nodes.push(Placed {
            id: format!("n{}", node + 1),
            kind: NodeKind::Router,
            position: Some(place.position),
            geographic_deg: None,
            channels: None,
            radios: None,
            span,
        });
    }
    let laid = links
        .into_iter()
        .map(|(a, b)| (template.link(a, b, None, None), template.span));
    network.links.extend(laid);
    network.check_wires(&template, problems);
    Some(network)
}
