//! What the hooks of a Python router get.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use backlane_units::{Duration, SimTime};
use backlane_world::net::{self, Network, NodeId};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMappingProxy, PyString, PyTuple};

/// The most bytes of a message: those of an Ethernet frame (RFC 894) without the headers of IP and
/// UDP, since nothing is fragmented.
const MOST_MESSAGE_BYTES: usize = 1500 - 20 - 8;

/// The largest number of neighbours named in a message.
const MOST_NAMED: usize = 10;

/// The names of all nodes, by their numbers.
#[derive(Clone, Debug)]
pub(super) struct Names(Arc<[Py<PyString>]>);

impl Names {
    pub(super) fn new<'a>(py: Python<'_>, names: impl Iterator<Item = &'a str>) -> Self {
        Self(names.map(|name| PyString::new(py, name).unbind()).collect())
    }

    pub(super) fn of(&self, py: Python<'_>, node: NodeId) -> Py<PyString> {
        self.0[node.index()].clone_ref(py)
    }
}

/// A link of the map.
#[pyclass(module = "backlane._native", frozen, get_all)]
pub(crate) struct Link {
    neighbour: Py<PyString>,
    rate_bps: u64,
    delay_s: f64,
}

/// The routers and links of the network.
#[pyclass(module = "backlane._native", frozen, name = "NetworkMap")]
pub(crate) struct Map {
    #[pyo3(get)]
    nodes: Py<PyTuple>,
    links: BTreeMap<String, Py<PyTuple>>,
}

impl Map {
    pub(super) fn new(py: Python<'_>, network: &Network, names: &Names) -> PyResult<Self> {
        let routers = (0..network.node_count() as u32).map(NodeId);
        let routers: Vec<NodeId> = routers.filter(|node| network.is_router(*node)).collect();
        let mut links = BTreeMap::new();
        for &node in &routers {
            let of = (network.mesh_interfaces(node).iter()).map(|interface| Link {
                neighbour: names.of(py, interface.peer),
                rate_bps: interface.rate.as_bps(),
                delay_s: delay_s(network, interface),
            });
            let of = of
                .map(|link| Py::new(py, link))
                .collect::<PyResult<Vec<_>>>()?;
            let of = PyTuple::new(py, of)?.unbind();
            links.insert(names.of(py, node).extract(py)?, of);
        }
        let nodes = routers.iter().map(|node| names.of(py, *node));
        let nodes = PyTuple::new(py, nodes.collect::<Vec<_>>())?.unbind();
        Ok(Self { nodes, links })
    }
}

#[pymethods]
impl Map {
    fn links(&self, py: Python<'_>, node: &str) -> PyResult<Py<PyTuple>> {
        let links = self.links.get(node).map(|links| links.clone_ref(py));
        links.ok_or_else(|| PyValueError::new_err(format!("there is no router \"{node}\"")))
    }
}

fn delay_s(network: &Network, interface: &net::Interface) -> f64 {
    let link = &network.links()[interface.outgoing.index()];
    link.delay().as_secs_f64()
}

/// A neighbour and the interface that leads to it.
#[pyclass(module = "backlane._native", frozen)]
pub(crate) struct Neighbour {
    #[pyo3(get)]
    name: Py<PyString>,
    #[pyo3(get)]
    rate_bps: u64,
    #[pyo3(get)]
    delay_s: f64,
    backlog_pkts: AtomicUsize,
    has_carrier: AtomicBool,
}

impl Neighbour {
    pub(super) fn name(&self, py: Python<'_>) -> Py<PyString> {
        self.name.clone_ref(py)
    }

    pub(super) fn update(&self, backlog_pkts: usize, has_carrier: bool) {
        self.backlog_pkts.store(backlog_pkts, Ordering::Relaxed);
        self.has_carrier.store(has_carrier, Ordering::Relaxed);
    }
}

#[pymethods]
impl Neighbour {
    #[getter]
    fn backlog_pkts(&self) -> usize {
        self.backlog_pkts.load(Ordering::Relaxed)
    }

    #[getter]
    fn has_carrier(&self) -> bool {
        self.has_carrier.load(Ordering::Relaxed)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let name = self.name.bind(py);
        format!("Neighbour({name}, backlog_pkts={})", self.backlog_pkts())
    }
}

/// A packet that is to be forwarded.
#[pyclass(module = "backlane._native", frozen)]
pub(crate) struct Packet {
    names: Names,
    source: NodeId,
    destination: NodeId,
    entry: NodeId,
    exit: NodeId,
    previous: NodeId,
    #[pyo3(get)]
    flow: u32,
    #[pyo3(get)]
    reverse: bool,
    #[pyo3(get)]
    sequence: u64,
    #[pyo3(get)]
    size_bytes: u32,
    #[pyo3(get)]
    hops: u8,
    #[pyo3(get)]
    ttl: u8,
}

impl Packet {
    pub(super) fn of(names: &Names, context: &net::Context<'_>, id: net::PacketId) -> Self {
        let packet = context.packet(id);
        Self {
            names: names.clone(),
            source: packet.source,
            destination: packet.destination,
            entry: context.entry_of(id),
            exit: packet.exit,
            previous: packet.previous,
            flow: packet.flow.0,
            reverse: packet.reverse,
            sequence: packet.sequence,
            size_bytes: packet.size_bytes,
            hops: packet.hops,
            ttl: packet.ttl,
        }
    }
}

#[pymethods]
impl Packet {
    #[getter]
    fn source(&self, py: Python<'_>) -> Py<PyString> {
        self.names.of(py, self.source)
    }

    #[getter]
    fn destination(&self, py: Python<'_>) -> Py<PyString> {
        self.names.of(py, self.destination)
    }

    #[getter]
    fn entry(&self, py: Python<'_>) -> Py<PyString> {
        self.names.of(py, self.entry)
    }

    #[getter]
    fn exit(&self, py: Python<'_>) -> Py<PyString> {
        self.names.of(py, self.exit)
    }

    #[getter]
    fn previous(&self, py: Python<'_>) -> Py<PyString> {
        self.names.of(py, self.previous)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let [source, destination] = [self.source(py), self.destination(py)];
        let (source, destination) = (source.bind(py), destination.bind(py));
        format!(
            "Packet({source} to {destination}, {} bytes)",
            self.size_bytes
        )
    }
}

/// What a hook asks of the simulator; it is carried out when the hook has returned.
pub(super) enum Request {
    Send {
        interface: usize,
        message: Arc<[u8]>,
    },
    Broadcast {
        message: Arc<[u8]>,
    },
    SetTimer {
        name: String,
        at: SimTime,
    },
    CancelTimer {
        name: String,
    },
}

/// What a hook may see and do.
#[pyclass(module = "backlane._native", name = "RouterContext")]
pub(crate) struct Context {
    #[pyo3(get)]
    node: Py<PyString>,
    #[pyo3(get)]
    map: Py<Map>,
    #[pyo3(get)]
    neighbours: Py<PyMappingProxy>,
    /// The first interface to each neighbour.
    interfaces: BTreeMap<String, usize>,
    now: SimTime,
    /// Whether a hook of the router is being called.
    is_open: bool,
    requests: Vec<Request>,
}

impl Context {
    /// The context of a node, and its neighbours by interface.
    pub(super) fn new(
        py: Python<'_>,
        node: NodeId,
        network: &Network,
        names: &Names,
        map: &Py<Map>,
    ) -> PyResult<(Self, Vec<Py<Neighbour>>)> {
        let by_name = PyDict::new(py);
        let mut interfaces = BTreeMap::new();
        let mut neighbours = Vec::new();
        for (index, interface) in network.mesh_interfaces(node).iter().enumerate() {
            let name = names.of(py, interface.peer);
            let neighbour = Neighbour {
                name: name.clone_ref(py),
                rate_bps: interface.rate.as_bps(),
                delay_s: delay_s(network, interface),
                backlog_pkts: AtomicUsize::new(0),
                has_carrier: AtomicBool::new(true),
            };
            let neighbour = Py::new(py, neighbour)?;
            // Of parallel links only the first is used.
            if !by_name.contains(&name)? {
                by_name.set_item(&name, &neighbour)?;
                interfaces.insert(name.extract(py)?, index);
            }
            neighbours.push(neighbour);
        }
        let context = Self {
            node: names.of(py, node),
            map: map.clone_ref(py),
            neighbours: PyMappingProxy::new(py, by_name.as_mapping()).unbind(),
            interfaces,
            now: SimTime::ZERO,
            is_open: false,
            requests: Vec::new(),
        };
        Ok((context, neighbours))
    }

    pub(super) fn open(&mut self, now: SimTime) {
        self.now = now;
        self.is_open = true;
    }

    /// Ends the use of the context; what was asked meanwhile.
    pub(super) fn close(&mut self) -> Vec<Request> {
        self.is_open = false;
        std::mem::take(&mut self.requests)
    }

    fn ask(&mut self, request: Request) -> PyResult<()> {
        if !self.is_open {
            return Err(PyRuntimeError::new_err(
                "a context can only be used in the hook that got it",
            ));
        }
        self.requests.push(request);
        Ok(())
    }

    fn interface(&self, py: Python<'_>, what: &str, neighbour: &str) -> PyResult<usize> {
        self.interfaces.get(neighbour).copied().ok_or_else(|| {
            let node = self.node.bind(py);
            let known: Vec<_> = (self.interfaces.keys().take(MOST_NAMED))
                .map(String::as_str)
                .collect();
            let more = match self.interfaces.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            PyValueError::new_err(format!(
                "{what} \"{neighbour}\", which is no neighbour of {node}: its neighbours are {}{more}",
                known.join(", ")
            ))
        })
    }

    /// The interface to the neighbour that a hook returned.
    pub(super) fn chosen(
        &self,
        hook: &str,
        returned: &Bound<'_, PyAny>,
    ) -> PyResult<Option<usize>> {
        if returned.is_none() {
            return Ok(None);
        }
        let Ok(name) = returned.cast::<PyString>() else {
            let shown = returned.repr()?;
            return Err(PyTypeError::new_err(format!(
                "{hook} returned {shown}: return the name of a neighbour, or None to drop the \
                 packet"
            )));
        };
        let what = format!("{hook} returned");
        self.interface(returned.py(), &what, name.to_str()?)
            .map(Some)
    }
}

/// The bytes of a message, if they fit in a datagram.
fn message(bytes: &[u8]) -> PyResult<Arc<[u8]>> {
    if bytes.len() > MOST_MESSAGE_BYTES {
        return Err(PyValueError::new_err(format!(
            "the message has {} bytes, and one datagram holds {MOST_MESSAGE_BYTES}: send it in \
             parts",
            bytes.len()
        )));
    }
    Ok(bytes.into())
}

#[pymethods]
impl Context {
    #[getter]
    fn now_s(&self) -> f64 {
        self.now.as_secs_f64()
    }

    fn send(&mut self, py: Python<'_>, neighbour: &str, message: &[u8]) -> PyResult<()> {
        let interface = self.interface(py, "send to", neighbour)?;
        let message = self::message(message)?;
        self.ask(Request::Send { interface, message })
    }

    fn broadcast(&mut self, message: &[u8]) -> PyResult<()> {
        let message = self::message(message)?;
        self.ask(Request::Broadcast { message })
    }

    #[pyo3(signature = (after_s, name = ""))]
    fn set_timer(&mut self, after_s: f64, name: &str) -> PyResult<()> {
        let after = Duration::from_secs_f64(after_s);
        if !after_s.is_finite() || after == Duration::ZERO {
            return Err(PyValueError::new_err(format!(
                "set_timer with {after_s} s: write a time above zero"
            )));
        }
        let at = self.now.saturating_add(after);
        let name = name.to_owned();
        self.ask(Request::SetTimer { name, at })
    }

    #[pyo3(signature = (name = ""))]
    fn cancel_timer(&mut self, name: &str) -> PyResult<()> {
        let name = name.to_owned();
        self.ask(Request::CancelTimer { name })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!(
            "RouterContext({} at {} s)",
            self.node.bind(py),
            self.now_s()
        )
    }
}
