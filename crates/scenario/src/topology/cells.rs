//! A router at a random place in each cell of a lattice.

use backlane_units::Length;

use super::draws::SplitMix;
use super::network::{Network, Placed, too_many};
use super::template::template;
use crate::diagnostic::Span;
use crate::model::NodeKind;
use crate::problems::Problems;
use crate::spec::tables::MOST_NODES;
use crate::tree::{Table, Value};

/// Builds the network: n1, n2, … row by row, each linked to its right and lower neighbours and, if
/// eight cells are joined, to those at its lower corners.
pub(super) fn build(table: &Table, problems: &mut Problems) -> Option<Network> {
    let (rows, columns) = (
        table.integer::<u64>("rows")?,
        table.integer::<u64>("columns")?,
    );
    let spacing: Length = table.quantity("spacing")?;
    let span = table.place("rows", Span::default());
    let with_corners = table.get("joined").map(|item| &item.value) == Some(&Value::Integer(8));
    let most = (rows * columns).max(if with_corners { 4 } else { 2 } * rows * columns);
    if most > MOST_NODES as u64 {
        too_many(span, most, problems);
        return None;
    }
    let template = template(table);
    let mut draws = SplitMix(table.integer::<u64>("placement_seed")?);
    let mut network = Network::default();
    for row in 0..rows as i64 {
        if !problems.go_on() {
            return None;
        }
        for column in 0..columns as i64 {
            let mut at = |step: i64| {
                let cell = spacing.as_um().saturating_mul(step);
                Length::from_um(cell.saturating_add(draws.within(spacing)))
            };
            let position = Some((at(column), at(row)));
            network.nodes.push(Placed {
                id: format!("n{}", row * columns as i64 + column + 1),
                kind: NodeKind::Router,
                position,
                channels: None,
                radios: None,
                span,
            });
        }
    }
    let beside: &[(i64, i64)] = if with_corners {
        &[(0, 1), (1, -1), (1, 0), (1, 1)]
    } else {
        &[(0, 1), (1, 0)]
    };
    for row in 0..rows as i64 {
        if !problems.go_on() {
            return None;
        }
        for column in 0..columns as i64 {
            for (down, right) in beside {
                let (below, right) = (row + down, column + right);
                if below < rows as i64 && (0..columns as i64).contains(&right) {
                    let index = |row, column| (row * columns as i64 + column) as usize;
                    let (a, b) = (index(row, column), index(below, right));
                    let link = template.link(a, b, None);
                    network.links.push((link, template.span));
                }
            }
        }
    }
    network.check_queues(&template, problems);
    Some(network)
}
