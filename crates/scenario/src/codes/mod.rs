//! The codes of all problems, and the pages of their explanations.

mod entries;

use std::fmt::Write;

pub(crate) use entries::ENTRIES;

/// A kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Syntax,
    Unreadable,
    NotUtf8,
    TooLarge,
    UnknownKey,
    MissingKey,
    WrongType,
    UnknownWord,
    MissingUnit,
    UnknownUnit,
    NotAQuantity,
    Range,
    Negative,
    Lossy,
    Zero,
    BadStart,
    BadQueue,
    Empty,
    BadName,
    BadLaw,
    DuplicateId,
    UnknownNode,
    SelfLink,
    Disconnected,
    TooManyNodes,
    NoNodes,
    ParallelLink,
    Joined,
    ShortQueue,
    NoEnodeb,
    NotEnodeb,
    NotRouter,
    UnknownEndpoint,
    NoUes,
    NoServer,
    LateStart,
    EarlyStop,
    SameEnds,
    NoFlows,
    UnequalLists,
    UnknownRecorded,
    TooManyFlows,
    UnknownSweepKey,
    EmptySweep,
    TooManyRuns,
    BadSeeds,
    PlanTooLarge,
    SweepInRun,
    BadOverride,
    BadLabel,
    SameCells,
    CsvColumn,
    CsvRow,
    CsvNumber,
    CsvRange,
    CsvDuplicate,
    CsvEmpty,
    CsvSite,
    CsvQuote,
    BadControl,
    BadFailure,
    NoPosition,
    BadClass,
    TraceEmpty,
    TraceOrder,
    TraceGap,
    TraceValue,
    TraceLine,
    TraceChoice,
    TraceEnd,
    TraceBlocks,
    BadUe,
    BeyondLte,
    OutOfReach,
    BeyondPathLoss,
    NoRadio,
    DeafStation,
    BadRate,
    LossyLink,
    LongRadioLink,
    Partitioned,
    BadRadio,
    BadImpairment,
    IdleWarmUp,
    BadCost,
    BadPath,
    BadConflict,
    NoPath,
    ManySlottedLinks,
    BadRegion,
    TooManyRadios,
    Unconnected,
    Infeasible,
    BadDemand,
    BadAssignment,
    FlowRate,
    NotSwept,
    BadMargin,
    BadStack,
    BadSysctl,
}

/// What is known of a code.
pub(crate) struct Entry {
    pub(crate) code: Code,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) explanation: &'static str,
    pub(crate) example: Option<&'static str>,
}

const fn entry(
    code: Code,
    name: &'static str,
    title: &'static str,
    explanation: &'static str,
    example: Option<&'static str>,
) -> Entry {
    Entry {
        code,
        name,
        title,
        explanation,
        example,
    }
}

impl Code {
    /// The name shown in brackets.
    pub(crate) fn name(self) -> &'static str {
        ENTRIES
            .iter()
            .find(|entry| entry.code == self)
            .map_or("S000", |entry| entry.name)
    }
}

/// Every code, such as "S014".
pub fn codes() -> Vec<&'static str> {
    ENTRIES.iter().map(|entry| entry.name).collect()
}

/// The long explanation of a code, or `None` for an unknown one.
pub fn explain(code: &str) -> Option<String> {
    let entry = ENTRIES
        .iter()
        .find(|entry| entry.name.eq_ignore_ascii_case(code.trim()))?;
    let mut text = format!("{}: {}\n\n{}\n", entry.name, entry.title, entry.explanation);
    if let Some(example) = entry.example {
        text.push_str("\nAn example that gives it:\n\n");
        for line in example.lines() {
            text.push_str("    ");
            text.push_str(line);
            text.push('\n');
        }
    }
    Some(text)
}

/// All explanations as one Markdown page.
pub fn errors_page() -> String {
    let mut page = String::from(
        "# Errors and warnings of the scenario file\n\n\
         Every problem has a code, a place and a mend. `backlane explain CODE` prints the same \
         texts.\n",
    );
    for entry in ENTRIES {
        let _ = write!(
            page,
            "\n## {}: {}\n\n{}\n",
            entry.name, entry.title, entry.explanation
        );
        if let Some(example) = entry.example {
            let _ = write!(page, "\n```toml\n{example}\n```\n");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entries_stand_in_the_order_of_the_codes() {
        for (index, entry) in ENTRIES.iter().enumerate() {
            assert_eq!(entry.code as usize, index, "{}", entry.name);
        }
        assert!(ENTRIES.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn every_code_has_a_title_and_an_explanation() {
        for entry in ENTRIES {
            assert!(
                entry.title.len() > 8 && entry.explanation.len() > 30,
                "{}",
                entry.name
            );
            assert!(explain(entry.name).unwrap().contains(entry.title));
        }
        assert_eq!(explain("S999"), None);
    }
}
