//! One object of a Python class as a router.

use std::collections::BTreeMap;
use std::sync::Arc;

use backlane_world::engine::TimerId;
use backlane_world::net::{self, DropCause, FlowId, Network, NodeId, PacketId, Router};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::values::{Context, Map, Names, Neighbour, Packet, Request};
use crate::failure::{Failed, HookFailure, Origin};

/// The hooks that a class defines, bound to one object; the others are not called.
#[derive(Debug, Default)]
struct Hooks {
    start: Option<Py<PyAny>>,
    next_hop: Option<Py<PyAny>>,
    on_message: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    on_tx_failed: Option<Py<PyAny>>,
}

impl Hooks {
    fn of(made: &Bound<'_, PyAny>) -> PyResult<Self> {
        let made = made.cast::<PyDict>()?;
        let hook = |name: &str| Ok::<_, PyErr>(made.get_item(name)?.map(Bound::unbind));
        Ok(Self {
            start: hook("start")?,
            next_hop: hook("next_hop")?,
            on_message: hook("on_message")?,
            on_timer: hook("on_timer")?,
            on_tx_failed: hook("on_tx_failed")?,
        })
    }
}

/// A timer of the router.
struct Timer {
    name: String,
    id: TimerId,
}

/// An object that could be made.
struct Made {
    hooks: Hooks,
    context: Py<Context>,
    /// By interface.
    neighbours: Vec<Py<Neighbour>>,
}

/// A router whose hooks are in Python. After an error it drops what it gets.
pub(super) struct PythonRouter {
    made: Option<Made>,
    names: Names,
    /// By token.
    timers: Vec<Timer>,
    tokens: BTreeMap<String, u32>,
    origin: Arc<Origin>,
    failed: Failed,
}

impl PythonRouter {
    /// The router of a node, made by `make` from the seed.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn new(
        py: Python<'_>,
        make: &Py<PyAny>,
        seed: u64,
        node: NodeId,
        network: &Network,
        names: Names,
        map: &Py<Map>,
        origin: Arc<Origin>,
        failed: &Failed,
    ) -> Self {
        let made = || {
            let (context, neighbours) = Context::new(py, node, network, &names, map)?;
            let hooks = Hooks::of(&make.bind(py).call1((seed,))?)?;
            let context = Py::new(py, context)?;
            Ok(Made {
                hooks,
                context,
                neighbours,
            })
        };
        // After an error, further objects would only repeat it.
        let made = (!failed.is_set()).then(made).transpose();
        let made = made.unwrap_or_else(|error: PyErr| {
            failed.put(HookFailure {
                origin: origin.clone(),
                at: None,
                error,
            });
            None
        });
        Self {
            made,
            names,
            timers: Vec::new(),
            tokens: BTreeMap::new(),
            origin,
            failed: failed.clone(),
        }
    }

    /// Calls a hook and carries out what it asks for, unless it is not defined or the run has
    /// failed.
    fn call<R>(
        &mut self,
        context: &mut net::Context<'_>,
        hook: impl FnOnce(&Hooks) -> Option<&Py<PyAny>>,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>, &Bound<'py, Context>) -> PyResult<R>,
    ) -> Option<R> {
        let made = self.made.as_ref()?;
        let hook = hook(&made.hooks)?;
        if self.failed.is_set() {
            return None;
        }
        let now = context.now();
        for (interface, neighbour) in made.neighbours.iter().enumerate() {
            let backlog_pkts = context.device_backlog_pkts(interface);
            let has_carrier = context.has_carrier(interface);
            neighbour.get().update(backlog_pkts, has_carrier);
        }
        let called = Python::attach(|py| {
            let own = made.context.bind(py);
            own.try_borrow_mut()?.open(now);
            let result = call(hook.bind(py), own);
            let requests = own.try_borrow_mut()?.close();
            Ok((result?, requests))
        });
        match called {
            Ok((result, requests)) => {
                for request in requests {
                    self.carry_out(context, request);
                }
                Some(result)
            }
            Err(error) => {
                self.failed.put(HookFailure {
                    origin: self.origin.clone(),
                    at: Some(now),
                    error,
                });
                None
            }
        }
    }
}

impl PythonRouter {
    fn carry_out(&mut self, context: &mut net::Context<'_>, request: Request) {
        match request {
            Request::Send { interface, message } => context.send_message(interface, message),
            Request::Broadcast { message } => context.broadcast(1, &message),
            Request::SetTimer { name, at } => {
                let timers = &mut self.timers;
                let token = *self.tokens.entry(name).or_insert_with_key(|name| {
                    let token = timers.len() as u32;
                    let (name, id) = (name.clone(), context.timer(token));
                    timers.push(Timer { name, id });
                    token
                });
                context.set_timer(self.timers[token as usize].id, at);
            }
            Request::CancelTimer { name } => {
                if let Some(&token) = self.tokens.get(&name) {
                    context.cancel_timer(self.timers[token as usize].id);
                }
            }
        }
    }

    /// The name of the neighbour on an interface.
    fn name_of(&self, interface: usize) -> Option<Py<PyString>> {
        let neighbours = &self.made.as_ref()?.neighbours;
        Some(Python::attach(|py| neighbours[interface].get().name(py)))
    }
}

/// Refuses what a hook returned that shall return nothing.
fn nothing(hook: &str, returned: &Bound<'_, PyAny>) -> PyResult<()> {
    if returned.is_none() {
        return Ok(());
    }
    let shown = returned.repr()?;
    Err(PyTypeError::new_err(format!(
        "{hook} returned {shown}, which has no meaning: use the context or change the object"
    )))
}

impl Router for PythonRouter {
    fn start(&mut self, context: &mut net::Context<'_>) {
        self.call(
            context,
            |hooks| hooks.start.as_ref(),
            |hook, own| nothing("start", &hook.call1((own,))?),
        );
    }

    fn on_packet(&mut self, context: &mut net::Context<'_>, id: PacketId) {
        let packet = Packet::of(&self.names, context, id);
        let hop = self.call(
            context,
            |hooks| hooks.next_hop.as_ref(),
            |hook, own| {
                let returned = hook.call1((own, packet))?;
                own.try_borrow()?.chosen("next_hop", &returned)
            },
        );
        match hop.flatten() {
            Some(interface) => context.transmit(interface, id),
            None => context.drop(id, DropCause::NoRoute),
        }
    }

    fn on_message(
        &mut self,
        context: &mut net::Context<'_>,
        interface: usize,
        _ttl: u8,
        message: &[u8],
    ) {
        let Some(name) = self.name_of(interface) else {
            return;
        };
        self.call(
            context,
            |hooks| hooks.on_message.as_ref(),
            |hook, own| {
                let message = PyBytes::new(hook.py(), message);
                nothing("on_message", &hook.call1((own, name, message))?)
            },
        );
    }

    fn on_timer(&mut self, context: &mut net::Context<'_>, token: u32) {
        let name = self.timers[token as usize].name.clone();
        self.call(
            context,
            |hooks| hooks.on_timer.as_ref(),
            |hook, own| nothing("on_timer", &hook.call1((own, name))?),
        );
    }

    fn on_tx_failed(&mut self, context: &mut net::Context<'_>, interface: usize, id: PacketId) {
        let packet = Packet::of(&self.names, context, id);
        let name = self.name_of(interface);
        let name = name.filter(|_| context.packet(id).flow != FlowId::NONE);
        let hop = name.and_then(|name| {
            self.call(
                context,
                |hooks| hooks.on_tx_failed.as_ref(),
                |hook, own| {
                    let returned = hook.call1((own, name, packet))?;
                    own.try_borrow()?.chosen("on_tx_failed", &returned)
                },
            )
        });
        match hop.flatten() {
            Some(interface) => context.transmit(interface, id),
            None => context.drop(id, DropCause::Radio),
        }
    }
}
