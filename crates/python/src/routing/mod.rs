//! Routers that are a Python class.
//!
//! `values` are the objects that hooks get; `router` calls the hooks of one object and carries out
//! what they ask of the context. The Python module `backlane.routing` defines the hooks of a
//! class: its function `prepare` returns a function from a seed to the hooks of a new object. An
//! error in a hook ends the run through [`Failed`], since the simulator's hooks cannot fail.

mod router;
mod values;

use std::sync::Arc;

use backlane_scenario::Described;
use backlane_world::Interrupt;
use backlane_world::net::NodeId;
use backlane_world::param::{Value, Values};
use backlane_world::python_router::PythonRouting;
use backlane_world::routers::{Protocol, Site};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::{Failed, HookFailure, Origin};
use router::PythonRouter;
use values::{Map, Names};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<values::Context>()?;
    module.add_class::<values::Link>()?;
    module.add_class::<Map>()?;
    module.add_class::<values::Neighbour>()?;
    module.add_class::<values::Packet>()
}

/// The protocol of a scenario whose routers are a Python class. Its file is executed again for
/// each run, so that runs share nothing.
pub(crate) fn protocol(
    py: Python<'_>,
    scenario: &Described,
    failed: &Failed,
) -> PyResult<Option<Protocol>> {
    let Some(router) = scenario.python_router() else {
        return Ok(None);
    };
    let class = &router.class;
    let make: Arc<Py<PyAny>> = py
        .import(intern!(py, "backlane.routing"))?
        .getattr(intern!(py, "prepare"))?
        .call1((
            &class.file,
            &class.class,
            &class.source,
            dict(py, &router.parameters)?,
        ))?
        .unbind()
        .into();
    let (file, class) = (class.file.clone(), class.class.clone());
    let failed = failed.clone();
    Ok(Some(Protocol::new(
        "python",
        move |_: PythonRouting, mut site| {
            let origin = |name: &str| {
                Arc::new(Origin {
                    name: format!("the router \"{file}:{class}\" of node \"{name}\""),
                    file: file.clone(),
                    part_of: "it",
                })
            };
            let network = site.network();
            site.tick(1 + network.node_count() as u64)?;
            let (names, map) = Python::attach(|py| described(py, &site)).map_err(|error| {
                failed.put(HookFailure {
                    origin: origin(""),
                    at: None,
                    error,
                });
                Interrupt
            })?;
            let seeds = site.streams("python");
            let origins = site.names().map(origin).collect::<Vec<_>>();
            let (make, failed) = (make.clone(), failed.clone());
            Ok(Box::new(move |node: NodeId| {
                let seed = seeds(node).next_u64();
                let origin = origins[node.index()].clone();
                let names = names.clone();
                let router = Python::attach(|py| {
                    PythonRouter::new(py, &make, seed, node, network, names, &map, origin, &failed)
                });
                Box::new(router)
            }))
        },
    )))
}

/// The names of all nodes, and the map of the network.
fn described(py: Python<'_>, site: &Site<'_, '_, '_>) -> PyResult<(Names, Py<Map>)> {
    let names = Names::new(py, site.names());
    let map = Py::new(py, Map::new(py, site.network(), &names)?)?;
    Ok((names, map))
}

fn dict<'py>(py: Python<'py>, values: &Values) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in values.iter() {
        match value {
            Value::Text(text) => dict.set_item(name, text)?,
            Value::Integer(integer) => dict.set_item(name, integer)?,
            Value::Number(number) => dict.set_item(name, number)?,
            Value::Boolean(boolean) => dict.set_item(name, boolean)?,
            // The checks of a scenario refuse them.
            Value::List(_) | Value::Table(_) => {}
        }
    }
    Ok(dict)
}
