//! A finished run as Python values.

use backlane_record::{Column, Table};
use backlane_world::Outcome;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// What one run measured: dictionaries of columns.
#[pyclass(frozen, get_all)]
pub(crate) struct RunResult {
    summary: Py<PyDict>,
    flows: Py<PyDict>,
    links: Py<PyDict>,
    nodes: Py<PyDict>,
    radio: Py<PyDict>,
    mcs: Py<PyDict>,
    more: Py<PyDict>,
    series: Py<PyDict>,
    captures: Py<PyDict>,
}

impl RunResult {
    pub(crate) fn of(py: Python<'_>, outcome: &Outcome, wall_s: f64, cpu_s: f64) -> PyResult<Self> {
        let by_name = |tables: &[(&'static str, Table)]| {
            let dict = PyDict::new(py);
            for (name, columns) in tables {
                dict.set_item(name, table(py, columns)?)?;
            }
            PyResult::Ok(dict.unbind())
        };
        Ok(Self {
            summary: summary(py, outcome, wall_s, cpu_s)?.unbind(),
            flows: table(py, &outcome.flows)?.unbind(),
            links: table(py, &outcome.links)?.unbind(),
            nodes: table(py, &outcome.nodes)?.unbind(),
            radio: table(py, &outcome.radio)?.unbind(),
            mcs: table(py, &outcome.mcs)?.unbind(),
            more: by_name(&outcome.more)?,
            series: by_name(&outcome.series)?,
            captures: captures(py, outcome)?.unbind(),
        })
    }
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
    outcome: &Outcome,
    wall_s: f64,
    cpu_s: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let from = &outcome.summary;
    let by_cause = PyDict::new(py);
    for &(cause, count) in &from.dropped_by_cause {
        by_cause.set_item(cause, count)?;
    }
    let dropped: u64 = from.dropped_by_cause.iter().map(|(_, count)| count).sum();
    let summary = PyDict::new(py);
    summary.set_item("simulated_s", from.simulated_s)?;
    summary.set_item("traffic_s", from.traffic_s)?;
    summary.set_item("wall_s", wall_s)?;
    summary.set_item("cpu_s", cpu_s)?;
    summary.set_item("events", from.events)?;
    summary.set_item("packets_injected", from.packets_injected)?;
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

/// Lists by the name of their column. Python may be asked to end between two columns.
pub(crate) fn table<'py>(py: Python<'py>, from: &Table) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for (name, column) in from.columns() {
        let list = match column {
            Column::Text(values) => PyList::new(py, values)?,
            Column::Integer(values) => PyList::new(py, values)?,
            Column::Float(values) => PyList::new(py, values)?,
        };
        table.set_item(name, list)?;
        py.check_signals()?;
    }
    Ok(table)
}
