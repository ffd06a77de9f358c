//! Keys of the capacity of a wire over time.

use backlane_param::{Issue, Mismatch, Rules, Value, Values};
use backlane_units::Duration;

use super::super::Presence::{Default, Optional, Required};
use super::super::{Key, Kind, Section};
use super::common::{AT_END_DOC, MAX_GAP, TIME, key, words};

/// A rate from an instant on.
static STEP: Section = Section {
    rules: None,
    noun: "step",
    doc: "A rate from an instant on.",
    tag: None,
    keys: &[
        key(
            "at",
            TIME,
            Required,
            "When it begins, from the start of the flows' clock; the first at \"0 s\".",
        ),
        key(
            "rate",
            Kind::OrWord("none", &Kind::Rate),
            Required,
            "The rate; with \"none\" packets wait in the queue.",
        ),
    ],
};

/// A file or steps, and steps in the order of their times, the first at zero.
fn issues(values: &Values) -> Result<Vec<Issue>, Mismatch> {
    let Some(Value::List(steps)) = values.get("steps") else {
        return Ok(Vec::new());
    };
    let issue = |message: String, mend: &str| Ok(vec![Issue::new(&["steps"], message, mend)]);
    if values.get("file").is_some() {
        return issue(
            "has a file and steps".to_owned(),
            "leave out one of the two",
        );
    }
    let mut last = None;
    for step in steps {
        let Value::Table(step) = step else { continue };
        let Some(at) = step.quantity::<Duration>("at") else {
            continue;
        };
        match last {
            None if at > Duration::ZERO => {
                let message = format!("begins at {at}");
                return issue(message, "write the first step at \"0 s\"");
            }
            Some(last) if at <= last => {
                let message = format!("has a step at {at} after one at {last}");
                return issue(message, "write the steps in the order of their times");
            }
            _ => last = Some(at),
        }
    }
    Ok(Vec::new())
}

/// The capacity of a direction.
static CAPACITY: Section = Section {
    rules: Some(Rules {
        derived: |_| Ok(Vec::new()),
        issues,
    }),
    noun: "capacity",
    doc: "What a wire carries over time, in place of its rate: `file` or `steps`. Routing protocols and queues in \"bdp\" take the rate of the link.",
    tag: None,
    keys: &[
        key(
            "file",
            Kind::Text,
            Optional,
            "A file: either the lines of mahimahi, or a table with time_s and rate_bps, as CSV or Parquet.",
        ),
        key(
            "steps",
            Kind::Tables(&STEP),
            Optional,
            "The rates, in the order of their times. The last one lasts as long as the one before it, which matters where it does not hold.",
        ),
        key(
            "at_end",
            words(&["repeat", "hold", "stop"]),
            Default("\"hold\""),
            AT_END_DOC,
        ),
        MAX_GAP,
    ],
};

pub(super) const CAPACITY_KEY: Key = key(
    "capacity",
    Kind::Table(&CAPACITY),
    Optional,
    "What it carries over time, in place of the rate.",
);

pub(super) const CAPACITY_BACK: Key = key(
    "capacity_back",
    Kind::Table(&CAPACITY),
    Optional,
    "That of the direction from its second end to its first, where it is another one; an empty table for the rate.",
);
