//! The irregular network of the BP-MR paper (§6.1): a jittered lattice, a tree with few children per node, and
//! short extra links that close rings.
//!
//! The paper gives the number of nodes, the area and the limits on links, not the positions; the
//! lattice, its jitter and the rule for the extra links are this program's interpretation of it.

use backlane_units::Length;

use super::draws::SplitMix;
use super::network::{Network, Placed, too_many};
use super::positions::Positions;
use super::rules::{Extra, add_extra, capped_tree};
use super::template::template;
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::NodeKind;
use crate::problems::Problems;
use crate::tree::{Table, Value};

/// The tree takes time in proportion to the square of the number of nodes.
const MOST_NODES: u64 = 4_000;

/// The numbers in `centre`, where they are usable.
fn centre(table: &Table, nodes: usize, problems: &mut Problems) -> Vec<usize> {
    let items = table
        .get("centre")
        .and_then(crate::tree::Item::as_array)
        .unwrap_or_default();
    let mut numbers = Vec::new();
    for item in items {
        let Value::Integer(number) = item.value else {
            continue;
        };
        let number = usize::try_from(number).unwrap_or(0);
        if (1..=nodes).contains(&number) && !numbers.contains(&number) {
            numbers.push(number);
        } else {
            let message = "topology centre names a number that is not there, or twice";
            problems.error(
                Code::Range,
                item.span,
                message,
                format!("write numbers from 1 to {nodes}"),
            );
        }
    }
    numbers.sort_unstable();
    numbers
}

/// Builds the network.
pub(super) fn build(table: &Table, seed: u64, problems: &mut Problems) -> Option<Network> {
    let (rows, columns) = (
        table.integer::<u64>("rows")?,
        table.integer::<u64>("columns")?,
    );
    let spacing: Length = table.quantity("spacing")?;
    let jitter: Length = table.quantity("jitter")?;
    let span = table.place("rows", Span::default());
    if rows * columns > MOST_NODES {
        too_many(span, rows * columns, problems);
        return None;
    }
    let nodes = (rows * columns) as usize;
    let root = table.integer::<usize>("root")?;
    if root > nodes {
        let message = format!("topology root is {root}, but there are {nodes} nodes");
        problems.error(
            Code::Range,
            table.place("root", span),
            message,
            "write a node's number",
        );
        return None;
    }
    let centre = centre(table, nodes, problems);
    let template = template(table);

    let mut draws = SplitMix::of(table, seed)?;
    let cells: Vec<(Length, Length)> = (0..nodes)
        .map(|cell| {
            let (row, column) = (cell as i64 / columns as i64, cell as i64 % columns as i64);
            let mut at = |step: i64| {
                let lattice = spacing.as_um().saturating_mul(step);
                Length::from_um(lattice.saturating_add(draws.displacement(jitter)))
            };
            (at(column), at(row))
        })
        .collect();
    let positions = numbered(&cells, rows, columns, &centre);

    let mut network = Network::default();
    for (index, position) in positions.iter().enumerate() {
        let id = format!("enb{}", index + 1);
        network.nodes.push(Placed {
            id,
            kind: NodeKind::Enodeb,
            position: Some(*position),
            geographic_deg: None,
            channels: None,
            radios: None,
            span,
        });
    }
    let places = positions.iter().map(|(x, y)| (x.as_m_f64(), y.as_m_f64()));
    let places = Positions::Plane(places.collect());
    let root = root - 1;
    let mut links = capped_tree(&places, root, table.integer("children")?, problems);
    let extra = Extra {
        degree: table.integer("extra_degree")?,
        most: table.integer("extra_links")?,
        exempt: Some(root),
        ..Extra::default()
    };
    add_extra(&mut links, &places, &extra, problems);
    for (a, b) in links {
        network
            .links
            .push((template.link(a, b, None, None), template.span));
    }
    network.check_wires(&template, problems);
    Some(network)
}

/// The cells in the order of their numbers: those in `centre` go to the cells nearest the middle
/// of the lattice, the others to the remaining cells row by row.
fn numbered(
    cells: &[(Length, Length)],
    rows: u64,
    columns: u64,
    centre: &[usize],
) -> Vec<(Length, Length)> {
    let from_middle = |cell: usize| {
        let row = 2 * (cell as u64 / columns) as i64 - (rows as i64 - 1);
        let column = 2 * (cell as u64 % columns) as i64 - (columns as i64 - 1);
        row * row + column * column
    };
    let mut central: Vec<usize> = (0..cells.len()).collect();
    central.sort_by_key(|cell| (from_middle(*cell), *cell));
    central.truncate(centre.len());
    central.sort_unstable();
    let mut others = (0..cells.len()).filter(|cell| !central.contains(cell));
    let mut central = central.iter().copied();
    (1..=cells.len())
        .filter_map(|number| {
            if centre.contains(&number) {
                central.next()
            } else {
                others.next()
            }
        })
        .map(|cell| cells[cell])
        .collect()
}
