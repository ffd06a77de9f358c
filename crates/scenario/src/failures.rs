//! The failures of a file.

use std::collections::BTreeMap;

use backlane_units::Duration;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::{Failed, Failure};
use crate::names::Names;
use crate::problems::Problems;
use crate::tree::{Table, Value};

/// Reads the failures; the nodes and links that they name must exist, and their times be in order.
pub(crate) fn read(
    tree: &Table,
    names: &Names<'_>,
    duration: Option<Duration>,
    problems: &mut Problems,
) -> Vec<Failure> {
    let rows = tree.tables("failure");
    let ways = if rows.iter().any(|(row, _)| row.get("link").is_some()) {
        names.ways()
    } else {
        BTreeMap::new()
    };
    let mut failures = Vec::with_capacity(rows.len());
    for (table, span) in rows {
        if !problems.go_on() {
            break;
        }
        let failed = failed(table, span, names, &ways, problems);
        if let Some((at, until)) = times(table, span, duration, problems)
            && let Some(failed) = failed
        {
            let silent = table
                .get("silent")
                .is_some_and(|item| item.value == Value::Boolean(true));
            failures.push(Failure {
                failed,
                at,
                until,
                silent,
            });
        }
    }
    failures
}

fn failed(
    table: &Table,
    span: Span,
    names: &Names<'_>,
    ways: &BTreeMap<String, usize>,
    problems: &mut Problems,
) -> Option<Failed> {
    let (id, link) = match (table.text("node"), table.text("link")) {
        (Some(id), None) => (id, false),
        (None, Some(link)) => (link, true),
        (node, _) => {
            let both = node.is_some();
            let (message, label) = if both {
                ("a failure names a node and a link", "write two failures")
            } else {
                (
                    "a failure names neither a node nor a link",
                    "add `node = …` or `link = \"a-b\"`",
                )
            };
            problems.error(Code::BadFailure, span, message, label);
            return None;
        }
    };
    if !link {
        let known = names.ids.get(id).copied().map(Failed::Node);
        if known.is_none() {
            let message = format!("there is no node \"{id}\"");
            let place = table.place("node", span);
            problems.error(Code::UnknownNode, place, message, names.suggestion(id));
        }
        return known;
    }
    let known = ways.get(id).copied();
    if known.is_none() {
        let (message, label) = Names::no_link(id, ways);
        problems.error(Code::BadFailure, table.place("link", span), message, label);
    }
    known.map(Failed::Link)
}

fn times(
    table: &Table,
    span: Span,
    duration: Option<Duration>,
    problems: &mut Problems,
) -> Option<(Duration, Option<Duration>)> {
    let at: Duration = table.quantity("at")?;
    let until: Option<Duration> = match table.text("until")? {
        "end" => None,
        text => Some(text.parse().ok()?),
    };
    if let Some(duration) = duration
        && at >= duration
    {
        problems.error(
            Code::BadFailure,
            table.place("at", span),
            format!("a failure begins at {at}, after the end of the run at {duration}"),
            "begin it earlier, or raise `duration`",
        );
    } else if let Some(until) = until
        && until <= at
    {
        problems.error(
            Code::BadFailure,
            table.place("until", span),
            format!("a failure begins at {at} but ends at {until}"),
            "`until` is a time on the clock of `at`",
        );
    }
    Some((at, until))
}
