//! A finished run as Python values.

use std::collections::BTreeMap;
use std::time::Duration;

use backlane_record::Table;
use backlane_world::{Outcome, outcome};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::ran::Ran;
use crate::table::ArrowTable;

/// The results of one run.
#[pyclass(frozen, get_all)]
pub(crate) struct RunResult {
    summary: Py<PyDict>,
    tables: Py<PyDict>,
    series: Py<PyDict>,
    captures: Py<PyDict>,
    /// What the kernels of hosts have printed, by host.
    consoles: BTreeMap<String, String>,
    undivided: Option<&'static str>,
}

impl RunResult {
    pub(crate) fn of(py: Python<'_>, ran: Ran, wall: Duration, cpu: Duration) -> PyResult<Self> {
        let summary = summary(py, &ran, wall, cpu)?.unbind();
        let mut outcome = ran.outcome;
        let captures = captures(py, &outcome)?.unbind();
        Ok(Self {
            summary,
            captures,
            consoles: ran.consoles.into_iter().collect(),
            undivided: ran.undivided,
            series: by_name(py, std::mem::take(&mut outcome.series))?,
            tables: by_name(py, outcome.tables())?,
        })
    }
}

/// Tables by name. Signals are handled between two of them.
fn by_name(
    py: Python<'_>,
    tables: impl IntoIterator<Item = (&'static str, Table)>,
) -> PyResult<Py<PyDict>> {
    let dict = PyDict::new(py);
    for (name, table) in tables {
        dict.set_item(name, ArrowTable::of(&table)?)?;
        py.check_signals()?;
    }
    Ok(dict.unbind())
}

/// The declared columns of each table: name and type (`text`, `integer` or `float`). Series are
/// named `series/<probe>`.
#[pyfunction]
pub(crate) fn tables(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let tables = PyDict::new(py);
    for spec in outcome::tables() {
        let columns = match tables.get_item(spec.name)? {
            Some(columns) => columns.cast_into::<PyDict>()?,
            None => PyDict::new(py),
        };
        for column in spec.columns {
            columns.set_item(column.name, column.kind.name())?;
        }
        tables.set_item(spec.name, columns)?;
    }
    Ok(tables)
}

/// Files by the node's name.
fn captures<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let files = PyDict::new(py);
    for (node, bytes) in &outcome.captures {
        files.set_item(node, PyBytes::new(py, bytes))?;
    }
    Ok(files)
}

fn summary<'py>(
    py: Python<'py>,
    ran: &Ran,
    wall: Duration,
    cpu: Duration,
) -> PyResult<Bound<'py, PyDict>> {
    let from = &ran.outcome.summary;
    let by_cause = PyDict::new(py);
    for &(cause, count) in &from.dropped_by_cause {
        by_cause.set_item(cause, count)?;
    }
    let dropped: u64 = from.dropped_by_cause.iter().map(|(_, count)| count).sum();
    let summary = PyDict::new(py);
    summary.set_item("simulated_s", from.simulated_s)?;
    summary.set_item("traffic_s", from.traffic_s)?;
    summary.set_item("wall_s", wall.as_secs_f64())?;
    summary.set_item("cpu_s", (cpu + ran.helpers_cpu).as_secs_f64())?;
    summary.set_item("threads", ran.threads)?;
    summary.set_item("events", from.events)?;
    summary.set_item("packets_injected", from.packets_injected)?;
    summary.set_item("packets_duplicated", from.packets_duplicated)?;
    summary.set_item("packets_delivered", from.packets_delivered)?;
    summary.set_item("packets_dropped", dropped)?;
    summary.set_item("dropped_by_cause", by_cause)?;
    summary.set_item("delivered_bytes", from.delivered_bytes)?;
    summary.set_item("packets_in_flight", from.packets_in_flight)?;
    summary.set_item("packet_hops", from.packet_hops)?;
    summary.set_item("digest", format!("{:016x}", from.digest))?;
    summary.set_item("ended", from.ended.name())?;
    Ok(summary)
}
