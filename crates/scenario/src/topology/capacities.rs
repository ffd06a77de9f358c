//! The capacities of wires over time.

use std::collections::BTreeMap;
use std::sync::Arc;

use backlane_units::{Duration, Rate};

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::files::Files;
use crate::model::{AtEnd, Capacity, Link, Medium, WireCapacity};
use crate::problems::Problems;
use crate::shown;
use crate::traces::Traces;
use crate::tree::{Entry, Item, Table, Value};

/// How long a single rate lasts before it is repeated or stops.
const SINGLE: Duration = Duration::from_secs(1);

/// The capacities of both directions in a normal link section; `None` if it states none. Files are
/// read by [`fill`].
pub(super) fn read(table: &Table) -> Option<Arc<[Option<WireCapacity>; 2]>> {
    let there = table.table("capacity").map(direction);
    let back = table.table("capacity_back").map(direction);
    let back = back.or_else(|| there.clone())?;
    Some(Arc::new([there.flatten(), back]))
}

fn direction(table: &Table) -> Option<WireCapacity> {
    let file = table.text("file").map(str::to_owned);
    let trace = match file {
        Some(_) => None,
        None => Some(Arc::new(steps(table)?)),
    };
    Some(WireCapacity {
        file,
        trace,
        at_end: AtEnd::of(table.text("at_end")?),
        max_gap: table.quantity("max_gap")?,
    })
}

fn steps(table: &Table) -> Option<Capacity> {
    let step = |(table, _): (&Table, Span)| -> Option<(Duration, u64)> {
        let bps = match table.text("rate")? {
            "none" => 0,
            text => text.parse::<Rate>().ok()?.as_bps(),
        };
        Some((table.quantity("at")?, bps))
    };
    let rows = table.tables("steps");
    let steps: Vec<_> = rows.into_iter().map(step).collect::<Option<_>>()?;
    let period = match *steps.as_slice() {
        [] => return None,
        [_] => SINGLE,
        [.., (before, _), (last, _)] => last.saturating_add(last.saturating_sub(before)),
    };
    Some(Capacity::Rates { steps, period })
}

/// Reads the files that the capacities of links name, each once. In the warm-up the first rate of a
/// table holds; a file of opportunities has none there, and routing protocols could not start.
pub(crate) fn fill(
    links: &mut [Link],
    spans: impl Iterator<Item = Span>,
    traces: &mut Traces,
    files: &mut Files,
    warm_up: Duration,
    problems: &mut Problems,
) -> Option<()> {
    let mut known: BTreeMap<(String, &'static str, Duration), Arc<Capacity>> = BTreeMap::new();
    for (link, span) in links.iter_mut().zip(spans) {
        let Medium::Wire(wire) = &mut link.medium else {
            continue;
        };
        let Some(both) = &mut wire.capacity else {
            continue;
        };
        if !problems.go_on() {
            return None;
        }
        for own in Arc::make_mut(both).iter_mut().flatten() {
            let Some(file) = &own.file else { continue };
            let key = (file.clone(), own.at_end.word(), own.max_gap);
            if !known.contains_key(&key) {
                let end = (own.at_end, span);
                let read = traces.capacity(file, span, end, own.max_gap, files, problems)?;
                if matches!(read, Capacity::Opportunities(_)) && warm_up > Duration::ZERO {
                    let message = format!(
                        "\"{}\" holds delivery opportunities, of which there are none in the warm-up \
                         of {warm_up}",
                        shown::short(file)
                    );
                    let label = "write warm_up = \"0 s\" in [routing], or a table of rates";
                    problems.error(Code::IdleWarmUp, span, message, label);
                    return None;
                }
                known.insert(key.clone(), Arc::new(read));
            }
            own.trace = known.get(&key).cloned();
        }
    }
    Some(())
}

/// The keys that state the capacities of both directions.
pub(crate) fn keys(both: &[Option<WireCapacity>; 2]) -> Vec<(&'static str, Value)> {
    let [there, back] = both;
    let mut keys = Vec::new();
    if let Some(own) = there {
        keys.push(("capacity", Value::Table(table(own))));
    }
    if back != there {
        let table = back.as_ref().map(table).unwrap_or_default();
        keys.push(("capacity_back", Value::Table(table)));
    }
    keys
}

fn table(own: &WireCapacity) -> Table {
    let mut table = Table::default();
    if let Some(file) = &own.file {
        push(&mut table, "file", Value::Text(file.clone()), false);
    } else if let Some(Capacity::Rates { steps, .. }) = own.trace.as_deref() {
        let rows = steps.iter().map(|&(at, bps)| {
            let mut row = Table::default();
            push(&mut row, "at", Value::Text(at.to_string()), false);
            let rate = match bps {
                0 => "none".to_owned(),
                bps => Rate::from_bps(bps).to_string(),
            };
            push(&mut row, "rate", Value::Text(rate), false);
            Item {
                value: Value::Table(row),
                span: Span::default(),
            }
        });
        push(&mut table, "steps", Value::Array(rows.collect()), false);
    }
    let at_end = Value::Text(own.at_end.word().to_owned());
    push(&mut table, "at_end", at_end, own.at_end == AtEnd::Hold);
    let max_gap = Value::Text(own.max_gap.to_string());
    let is_default = own.max_gap == Duration::from_secs(10);
    push(&mut table, "max_gap", max_gap, is_default);
    table
}

fn push(table: &mut Table, key: &str, value: Value, is_default: bool) {
    let span = Span::default();
    table.entries.push(Entry {
        key: key.to_owned(),
        key_span: span,
        item: Item { value, span },
        is_default,
    });
}
