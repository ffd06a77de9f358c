//! The impairments of wires.

use std::sync::Arc;

use backlane_units::Duration;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::{Bursts, Impairments, Jitter, Wire};
use crate::problems::Problems;
use crate::tree::{Entry, Item, Table, Value};

/// Standard deviations of a normal jitter that may occur.
const MOST_DEVIATIONS: u64 = 4;

/// The impairments of both directions in a normal link section; `None` if it states none.
pub(super) fn read(table: &Table) -> Option<Arc<[Impairments; 2]>> {
    let there = table.table("impairments").map(direction);
    let back = table.table("impairments_back").map(direction);
    let back = back.or(there);
    Some(Arc::new([there.unwrap_or_default(), back?]))
}

fn direction(table: &Table) -> Impairments {
    let bursts = |table: &Table| {
        Some(Bursts {
            p: table.number("p")?,
            r: table.number("r")?,
            loss_good: table.number("loss_good")?,
            loss_bad: table.number("loss_bad")?,
        })
    };
    let amplitude: Duration = table.quantity("jitter").unwrap_or_default();
    let jitter = (amplitude > Duration::ZERO).then(|| Jitter {
        amplitude,
        is_normal: table.text("jitter_law") == Some("normal"),
        in_order: table.boolean("in_order").unwrap_or(true),
    });
    Impairments {
        bursts: table.table("bursts").and_then(bursts),
        jitter,
        reorder: table.number("reorder").unwrap_or(0.0),
        duplicate: table.number("duplicate").unwrap_or(0.0),
    }
}

/// A packet cannot arrive before its transmission ends, and skips only a delay that there is.
pub(super) fn check(wire: &Wire, span: Span, problems: &mut Problems) {
    let Some(both) = wire.impairments.as_deref() else {
        return;
    };
    for own in both {
        if let Some(jitter) = own.jitter {
            let most = if jitter.is_normal { MOST_DEVIATIONS } else { 1 };
            let largest_ps = jitter.amplitude.as_ps().saturating_mul(most);
            if largest_ps > wire.delay.as_ps() {
                let (amplitude, delay) = (jitter.amplitude, wire.delay);
                let message = match most {
                    1 => format!("a jitter of ± {amplitude} exceeds the delay of {delay}"),
                    _ => format!(
                        "four standard deviations of {amplitude} exceed the delay of {delay}"
                    ),
                };
                let label = "write a longer delay, or a smaller jitter";
                problems.error(Code::BadImpairment, span, message, label);
                return;
            }
        }
        if own.reorder > 0.0 && wire.delay == Duration::ZERO {
            let message = "packets skip a delay of zero, which reorders nothing";
            let label = "write a delay, or leave out reorder";
            problems.error(Code::BadImpairment, span, message, label);
            return;
        }
    }
}

/// The keys that state the impairments of both directions.
pub(crate) fn keys(both: &[Impairments; 2]) -> Vec<(&'static str, Value)> {
    let [there, back] = both;
    let mut keys = Vec::new();
    if *there != Impairments::default() {
        keys.push(("impairments", Value::Table(table(there))));
    }
    if back != there {
        keys.push(("impairments_back", Value::Table(table(back))));
    }
    keys
}

fn table(own: &Impairments) -> Table {
    let mut table = Table::default();
    if let Some(bursts) = own.bursts {
        let mut inner = Table::default();
        push(&mut inner, "p", Value::Number(bursts.p), false);
        push(&mut inner, "r", Value::Number(bursts.r), false);
        let (good, bad) = (bursts.loss_good, bursts.loss_bad);
        push(&mut inner, "loss_good", Value::Number(good), good == 0.0);
        push(&mut inner, "loss_bad", Value::Number(bad), bad == 1.0);
        push(&mut table, "bursts", Value::Table(inner), false);
    }
    if let Some(jitter) = own.jitter {
        let amplitude = Value::Text(jitter.amplitude.to_string());
        push(&mut table, "jitter", amplitude, false);
        let law = if jitter.is_normal {
            "normal"
        } else {
            "uniform"
        };
        let law = Value::Text(law.to_owned());
        push(&mut table, "jitter_law", law, !jitter.is_normal);
        let in_order = Value::Boolean(jitter.in_order);
        push(&mut table, "in_order", in_order, jitter.in_order);
    }
    for (key, share) in [("reorder", own.reorder), ("duplicate", own.duplicate)] {
        push(&mut table, key, Value::Number(share), share == 0.0);
    }
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
