//! Regular networks: grid, chain, tree and diamond.

use backlane_units::Length;

use super::network::{Network, Placed, too_many};
use super::template::{Template, check_wire, template};
use crate::diagnostic::Span;
use crate::model::NodeKind;
use crate::problems::Problems;
use crate::spec::tables::MOST_NODES;
use crate::tree::Table;

/// An eNodeB at a multiple of the spacing.
fn enodeb(id: String, spacing: Length, x: i64, y: i64, span: Span) -> Placed {
    let at = |steps: i64| Length::from_um(spacing.as_um().saturating_mul(steps));
    Placed {
        id,
        kind: NodeKind::Enodeb,
        position: Some((at(x), at(y))),
        geographic_deg: None,
        channels: None,
        radios: None,
        span,
    }
}

impl Network {
    fn join(&mut self, a: usize, b: usize, template: &Template) {
        self.links
            .push((template.link(a, b, None, None), template.span));
    }

    /// Warns once about the queues of links that are all alike.
    pub(super) fn check_wires(&self, template: &Template, problems: &mut Problems) {
        if let Some((link, _)) = self.links.first() {
            check_wire(link, template, problems);
        }
    }
}

/// Rows and columns; each node is joined to its right and lower neighbour (BP-MR paper, Fig. 1).
pub(super) fn grid(table: &Table, problems: &mut Problems) -> Option<Network> {
    let (rows, columns) = (
        table.integer::<u64>("rows")?,
        table.integer::<u64>("columns")?,
    );
    let spacing = table.quantity("spacing")?;
    let span = table.place("rows", Span::default());
    let most = (rows * columns).max(2 * rows * columns - rows - columns);
    if most > MOST_NODES as u64 {
        too_many(span, most, problems);
        return None;
    }
    let template = template(table);
    let mut network = Network::default();
    for row in 0..rows {
        if !problems.go_on() {
            return None;
        }
        for column in 0..columns {
            let id = format!("enb{}", row * columns + column + 1);
            network
                .nodes
                .push(enodeb(id, spacing, column as i64, row as i64, span));
        }
    }
    for row in 0..rows {
        if !problems.go_on() {
            return None;
        }
        for column in 0..columns {
            let index = (row * columns + column) as usize;
            if column + 1 < columns {
                network.join(index, index + 1, &template);
            }
            if row + 1 < rows {
                network.join(index, index + columns as usize, &template);
            }
        }
    }
    network.check_wires(&template, problems);
    Some(network)
}

/// A line of nodes.
pub(super) fn chain(table: &Table, problems: &mut Problems) -> Option<Network> {
    let nodes = table.integer::<usize>("nodes")?;
    let spacing = table.quantity("spacing")?;
    let span = table.place("nodes", Span::default());
    let template = template(table);
    let mut network = Network::default();
    for index in 0..nodes {
        if !problems.go_on() {
            return None;
        }
        network.nodes.push(enodeb(
            format!("enb{}", index + 1),
            spacing,
            index as i64,
            0,
            span,
        ));
        if index > 0 {
            network.join(index - 1, index, &template);
        }
    }
    network.check_wires(&template, problems);
    Some(network)
}

/// A complete tree, level by level; a level's nodes are spread evenly under their parents.
pub(super) fn tree(table: &Table, problems: &mut Problems) -> Option<Network> {
    let branching = table.integer::<u64>("branching")?;
    let depth = table.integer::<u32>("depth")?;
    let spacing: Length = table.quantity("spacing")?;
    let span = table.place("depth", Span::default());
    let mut levels: Vec<u64> = vec![1];
    let mut nodes: u64 = 1;
    for _ in 0..depth {
        let level = levels[levels.len() - 1].saturating_mul(branching);
        nodes = nodes.saturating_add(level);
        if nodes > MOST_NODES as u64 {
            too_many(span, nodes, problems);
            return None;
        }
        levels.push(level);
    }
    let template = template(table);
    let mut network = Network::default();
    let leaves = levels[levels.len() - 1] as i64;
    let mut first = 0;
    let mut first_of_parents = 0;
    for (level, count) in levels.iter().enumerate() {
        // Half steps keep the middle of an even number of leaves on the lattice.
        let half = Length::from_um(spacing.as_um() / 2);
        let leaves_below = leaves / *count as i64;
        for index in 0..*count {
            if !problems.go_on() {
                return None;
            }
            let x = (2 * index as i64 + 1) * leaves_below - 1;
            let id = format!("enb{}", first + index + 1);
            network
                .nodes
                .push(enodeb(id, half, x, 2 * level as i64, span));
            if level > 0 {
                let parent = first_of_parents + index / branching;
                network.join(parent as usize, (first + index) as usize, &template);
            }
        }
        first_of_parents = first;
        first += count;
    }
    network.check_wires(&template, problems);
    Some(network)
}

/// Source, top, bottom and sink.
pub(super) fn diamond(table: &Table, problems: &mut Problems) -> Option<Network> {
    let spacing = table.quantity("spacing")?;
    let template = template(table);
    let span = template.span;
    let mut network = Network::default();
    for (id, x, y) in [
        ("source", 0, 1),
        ("top", 1, 0),
        ("bottom", 1, 2),
        ("sink", 2, 1),
    ] {
        network
            .nodes
            .push(enodeb(id.to_owned(), spacing, x, y, span));
    }
    for (a, b) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
        network.join(a, b, &template);
    }
    network.check_wires(&template, problems);
    Some(network)
}
