//! The explicit paths of `[[routing.explicit_paths]]`, checked.

use std::collections::{BTreeMap, BTreeSet};

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::NodeKind;
use crate::names::Names;
use crate::problems::Problems;
use crate::shown::short;
use crate::tree::Table;

/// Which hops a path may have.
struct Hops<'n> {
    names: &'n Names<'n>,
    /// The links of the file, in both directions.
    linked: BTreeSet<(usize, usize)>,
    /// Radios have links to all in range, which are found when a run begins.
    in_range: bool,
}

impl Hops<'_> {
    fn allow(&self, from: usize, to: usize) -> bool {
        let may_have_radio = |node: usize| {
            let kind = self.names.network.nodes[node].kind;
            !matches!(kind, NodeKind::Epc | NodeKind::Server)
        };
        self.linked.contains(&(from, to))
            || (self.in_range && may_have_radio(from) && may_have_radio(to))
    }
}

/// Checks that each path leads over links of the network from its first router to its last, passes
/// none twice, and stands once. `in_range`: radios have links to all others in range.
pub(crate) fn check(routing: &Table, names: &Names<'_>, in_range: bool, problems: &mut Problems) {
    let rows = routing.tables("explicit_paths");
    if rows.is_empty() {
        return;
    }
    let links = &names.network.links;
    let hops = Hops {
        names,
        linked: (links.iter())
            .flat_map(|(link, _)| [(link.a, link.b), (link.b, link.a)])
            .collect(),
        in_range,
    };
    let mut seen = BTreeMap::new();
    for (number, (row, span)) in rows.into_iter().enumerate() {
        if !problems.go_on() {
            break;
        }
        let Some(path) = path(row, span, &hops, problems) else {
            continue;
        };
        if let Some(first) = seen.get(&path) {
            problems.error(
                Code::BadPath,
                row.place("nodes", span),
                format!("this path stands in entry {first} already"),
                "keep one of them, and add their weights",
            );
        } else {
            seen.insert(path, number + 1);
        }
    }
}

/// The nodes of a path, if it can be followed.
fn path(row: &Table, span: Span, hops: &Hops<'_>, problems: &mut Problems) -> Option<Vec<usize>> {
    let (names, linked) = (hops.names, &hops.linked);
    let id = |node: usize| short(&names.network.nodes[node].id);
    let nodes = row.texts("nodes");
    let place = row.place("nodes", span);
    let (from, to) = (row.text("from")?, row.text("to")?);
    let ends = [("from", from), ("to", to)].map(|(key, name)| (name, row.place(key, span)));
    let named: Vec<Option<usize>> = (nodes.iter().copied().chain(ends))
        .map(|(name, span)| router(name, span, names, problems))
        .collect();
    let named: Vec<usize> = named.into_iter().collect::<Option<_>>()?;
    let (path, ends) = named.split_at(nodes.len());
    let mut error = |span, message: String, label: String| {
        problems.error(Code::BadPath, span, message, label);
        None
    };
    if ends[0] == ends[1] {
        let message = format!("a path leads from \"{}\" to itself", short(from));
        let label = "name another router: such packets never enter the mesh";
        return error(row.place("to", span), message, label.to_owned());
    }
    if path.first() != Some(&ends[0]) {
        let message = format!("the path does not begin at \"{}\"", short(from));
        let label = format!("write \"{}\" first", short(from));
        return error(nodes.first().map_or(place, |node| node.1), message, label);
    }
    if path.last() != Some(&ends[1]) {
        let message = format!("the path does not end at \"{}\"", short(to));
        let label = format!("write \"{}\" last", short(to));
        return error(nodes.last().map_or(place, |node| node.1), message, label);
    }
    let mut passed = BTreeSet::new();
    for (at, &node) in path.iter().enumerate() {
        if !passed.insert(node) {
            let message = format!("the path passes \"{}\" twice", id(node));
            return error(nodes[at].1, message, "leave the loop out".to_owned());
        }
        let before = path[at.saturating_sub(1)];
        if at > 0 && !hops.allow(before, node) {
            let message = format!("there is no link \"{}-{}\"", id(before), id(node));
            let mut neighbours = (linked.range((before, 0)..))
                .take_while(|(end, _)| *end == before)
                .map(|(_, neighbour)| format!("\"{}\"", id(*neighbour)));
            let some: Vec<String> = neighbours.by_ref().take(5).collect();
            let more = if neighbours.next().is_some() {
                ", …"
            } else {
                ""
            };
            let label = if some.is_empty() {
                format!("\"{}\" has no links", id(before))
            } else {
                let some = some.join(", ");
                format!("the neighbours of \"{}\" are {some}{more}", id(before))
            };
            return error(nodes[at].1, message, label);
        }
    }
    Some(path.to_vec())
}

/// The router of a name.
fn router(name: &str, span: Span, names: &Names<'_>, problems: &mut Problems) -> Option<usize> {
    match names.ids.get(name) {
        None => {
            let message = format!("there is no node \"{}\"", short(name));
            problems.error(Code::BadPath, span, message, names.suggestion(name));
            None
        }
        Some(&node) if names.network.nodes[node].kind == NodeKind::Server => {
            problems.error(
                Code::BadPath,
                span,
                format!("\"{}\" is a server, which does not forward", short(name)),
                "name the router that it is attached to",
            );
            None
        }
        Some(&node) => Some(node),
    }
}
