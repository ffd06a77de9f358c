//! The declarations of all tables, and their page.

use backlane_record::{Row, TableSpec};

use super::{
    coding, divisions, flows, links, mesh, radio, radio_series, reordering, runs, sampler,
};
use crate::{assignment, slotted};

/// The beginning of the page of the tables.
const INTRODUCTION: &str = "# Tables of results

<!-- Written by `UPDATE_GOLDEN=1 cargo test -p backlane-world --test documents`. -->

A results folder has a Parquet file for each table, such as `flows.parquet`; series are in the \
folder `series/`. Tables but `runs` begin with the column `run_id`, which names the run. Flows, \
links and nodes are in all results, the other tables in those of runs that have rows for them.

Texts are strings, integers are signed with 64 bits, floats have 64 bits. The unit 1 is that of a \
share. Columns without a unit are texts, counts and indices.
";

/// The page of all tables and their columns, in Markdown.
pub fn reference() -> String {
    backlane_record::reference(INTRODUCTION, &tables())
}

/// The declarations of all tables, in the order of the reference. Series are named
/// `series/<probe>`.
pub fn tables() -> Vec<TableSpec> {
    vec![
        runs::RunRow::TABLE,
        flows::FlowRow::TABLE,
        reordering::FlowReorderingRow::TABLE,
        links::LinkRow::TABLE,
        links::NodeRow::TABLE,
        radio::UeRow::TABLE,
        radio::McsRow::TABLE,
        mesh::RadioRow::TABLE,
        mesh::RouterRow::TABLE,
        divisions::DivisionRow::TABLE,
        coding::CodedFlowRow::TABLE,
        reordering::DensityRow::TABLE,
        assignment::AssignedRow::TABLE,
        slotted::SlottedRow::TABLE,
        slotted::RegionRow::TABLE,
        sampler::CwndRow::TABLE,
        sampler::GoodputRow::TABLE,
        sampler::QueueRow::TABLE,
        radio_series::UeSampleRow::TABLE,
        slotted::SampleRow::TABLE,
    ]
}
