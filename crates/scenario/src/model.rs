//! A resolved scenario as plain values: the input of a run.
//!
//! Everything is explicit here: nodes and links are listed, ids are indices into those lists,
//! quantities have their exact types. [`crate::Catalogue::from_resolved`] builds it.

use std::sync::Arc;

use backlane_param::{Value as Plain, Values};
use backlane_units::{Duration, Rate};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub use crate::protocols::lte;
pub use crate::protocols::lte::Lte;
pub use crate::protocols::{Discipline, QueueConfig, QueueDiscipline, QueueLimit, Routing, Tcp};

/// What a file describes.
#[derive(Clone, Debug, PartialEq)]
pub enum Described {
    /// A network of packets.
    Network(Box<Scenario>),
    /// The slotted model of backpressure.
    Slotted(Box<Slotted>),
}

impl Described {
    /// The scenario's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Network(scenario) => &scenario.name,
            Self::Slotted(slotted) => &slotted.name,
        }
    }

    /// The seed written in the file.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Network(scenario) => scenario.seed,
            Self::Slotted(slotted) => slotted.seed,
        }
    }

    /// The nodes, links and UEs.
    pub(crate) fn elements(&self) -> usize {
        match self {
            Self::Network(scenario) => {
                let ues = scenario.access.as_ref().map_or(0, |access| access.ues);
                scenario.nodes.len() + scenario.links.len() + ues
            }
            Self::Slotted(slotted) => slotted.elements,
        }
    }

    /// The congestion controls that the simulator does not have.
    pub fn custom_controls(&self) -> &[CustomControl] {
        match self {
            Self::Network(scenario) => &scenario.custom_controls,
            Self::Slotted(_) => &[],
        }
    }

    /// The routers, where they are a Python class.
    pub fn python_router(&self) -> Option<&PythonRouter> {
        match self {
            Self::Network(scenario) => scenario.python_router.as_ref(),
            Self::Slotted(_) => None,
        }
    }
}

/// The 802.11 radios of the backhaul.
#[derive(Clone, Debug, PartialEq)]
pub struct Wifi {
    /// The checked values of `[wifi]`.
    pub values: Values,
    /// Their rates.
    pub rates: Rates,
    /// The queue before each radio.
    pub queue: QueueConfig,
    /// The links that may be lossy, by their index; `None`: all links over 802.11.
    pub lossy_links: Option<Vec<usize>>,
}

/// The rates of 802.11 radios.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    /// That of data frames to one station.
    pub data: Rate,
    /// Those of the standard, in rising order.
    pub all: Vec<Rate>,
}

/// A slotted model of backpressure.
#[derive(Clone, Debug, PartialEq)]
pub struct Slotted {
    /// The scenario's name, for reports.
    pub name: String,
    /// The seed written in the file; a campaign gives its own.
    pub seed: u64,
    /// Number of nodes and links.
    pub elements: usize,
    /// The checked values of `[slotted]`.
    pub values: Values,
}

/// A complete, checked scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The scenario's name, for reports.
    pub name: String,
    /// Hard stop of the traffic clock; the simulated run lasts `warm_up + duration`.
    pub duration: Duration,
    /// The seed written in the file; a campaign gives its own.
    pub seed: u64,
    /// Whether the network or the ends of flows are those that a run of this seed draws; for another
    /// seed the file is read again ([`Catalogue::parse_for`](crate::Catalogue::parse_for)).
    pub is_drawn: bool,
    /// Every node, in the order of the file; [`Link`] and the flows refer to it by index.
    pub nodes: Vec<Node>,
    /// Every full-duplex link, in the order of the file.
    pub links: Vec<Link>,
    /// The access network of the UEs, if there are any.
    pub access: Option<Access>,
    /// The 802.11 radios of the backhaul, if it has any.
    pub wifi: Option<Wifi>,
    /// How their links were assigned to, if they were.
    pub assignment: Option<Assignment>,
    /// The routing protocol of the backhaul.
    pub routing: Routing,
    /// How long routing runs before the traffic clock starts; flow start times count from its
    /// end.
    pub warm_up: Duration,
    /// The TCP endpoints' parameters, unless a flow overrides the congestion control.
    pub tcp: Tcp,
    /// The kernels of the hosts of flows over [`Stack::Linux`], if there are such flows.
    pub linux: Option<Linux>,
    /// The checked values of `[coding]`, if flows are coded.
    pub coding: Option<Values>,
    /// The flows, in the order of the file.
    pub flows: Vec<FlowGroup>,
    /// What fails during the run.
    pub failures: Vec<Failure>,
    /// What is sampled during the run.
    pub record: Record,
    /// The congestion controls above that the simulator does not have, each once, by name.
    pub custom_controls: Vec<CustomControl>,
    /// The routers, where they are a Python class.
    pub python_router: Option<PythonRouter>,
}

/// The assignment of channels, rates and flow rates, which stand with nodes and links.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// What all flow rates were multiplied by so that they fit on the channels; at most 1.
    pub scale: f64,
    /// For each link over radios, the share of the time that flows at these rates keep its
    /// collision domain busy: the sum of flow rate over rate for it and the links of its channel
    /// that it cannot send beside.
    pub utilisation: Vec<Option<f64>>,
}

/// A congestion control in Python.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CustomControl {
    /// What it is called: "python:FILE:CLASS" in full.
    pub name: String,
    /// The class.
    pub python: PythonClass,
}

/// Routers that are a Python class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PythonRouter {
    /// The class.
    pub class: PythonClass,
    /// The values that the scenario gives to attributes of the class.
    #[serde(serialize_with = "as_json")]
    pub parameters: Values,
}

/// Writes checked values that are no lists and no tables.
fn as_json<S: Serializer>(values: &Values, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (name, value) in values.iter() {
        match value {
            Plain::Text(text) => map.serialize_entry(name, text)?,
            Plain::Integer(integer) => map.serialize_entry(name, integer)?,
            Plain::Number(number) => map.serialize_entry(name, number)?,
            Plain::Boolean(boolean) => map.serialize_entry(name, boolean)?,
            Plain::List(_) | Plain::Table(_) => {}
        }
    }
    map.end()
}

/// A Python class with the text that it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PythonClass {
    /// The file, as the scenario names it.
    pub file: String,
    /// The class.
    pub class: String,
    /// The content of the file.
    pub source: String,
    /// Whether the scenario itself brought the content, under `[[python]]`.
    pub embedded: bool,
    /// The file that the content was read from; `None` where it was embedded.
    pub path: Option<String>,
}

/// A node or link that is down for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What fails.
    pub failed: Failed,
    /// When it fails, counted like the starts of flows.
    pub at: Duration,
    /// When it works again; `None`: not before the end.
    pub until: Option<Duration>,
    /// Whether its links keep their carrier.
    pub silent: bool,
}

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The node with this index: all its links are cut, those of its UEs too.
    Node(usize),
    /// The link with this index, both directions.
    Link(usize),
}

/// A node of the wired network.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name that the file gives it; unique.
    pub id: String,
    /// What it is.
    pub kind: NodeKind,
    /// East and north of the origin, in metres; generators count y downwards on a grid, so row
    /// 1 has y = 0.
    pub position_m: Option<(f64, f64)>,
    /// Latitude and longitude in degrees.
    pub geographic_deg: Option<(f64, f64)>,
    /// The channels of its radios, each once; without [`Scenario::wifi`] it has none.
    pub channels: Vec<u8>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A base station; UEs attach here.
    Enodeb,
    /// The gateway of the core network.
    Epc,
    /// A host outside the core network.
    Server,
    /// A node that only forwards.
    Router,
}

impl NodeKind {
    /// The word used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enodeb => "enodeb",
            Self::Epc => "epc",
            Self::Server => "server",
            Self::Router => "router",
        }
    }
}

/// A full-duplex link; both directions are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Index of one end in [`Scenario::nodes`].
    pub a: usize,
    /// Index of the other end.
    pub b: usize,
    /// What it leads over.
    pub medium: Medium,
    /// What L2.5R sends over it in proportion, in bits per second, from `a` to `b` and back; 0
    /// is not used, `None` as over any other link.
    pub flow_rates_bps: Option<[u64; 2]>,
}

/// What a link leads over.
#[derive(Clone, Debug, PartialEq)]
pub enum Medium {
    /// Something that no other link shares.
    Wire(Wire),
    /// The 802.11 radios of its ends.
    Wifi(RadioLink),
}

/// What a wire is like.
#[derive(Clone, Debug, PartialEq)]
pub struct Wire {
    /// Rate of each direction; never zero.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// The queue before each direction.
    pub queue: QueueConfig,
    /// Probability that a packet is lost on the way, independently of all others: from the first end
    /// to the second, and back.
    pub loss: [f64; 2],
    /// What each direction carries over time in place of the rate, in the same order.
    pub capacity: Option<Arc<[Option<WireCapacity>; 2]>>,
    /// Further impairments in the same order, if there are any.
    pub impairments: Option<Arc<[Impairments; 2]>>,
}

/// What a direction of a wire carries over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireCapacity {
    /// The file with the trace; `None` if the scenario states the steps.
    pub file: Option<String>,
    /// The trace, as soon as its file is read.
    pub trace: Option<Arc<Capacity>>,
    /// What follows the end of the trace.
    pub at_end: AtEnd,
    /// The longest time between two rows of a table.
    pub max_gap: Duration,
}

/// The impairments of a direction of a wire, but for independent losses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Losses in bursts.
    pub bursts: Option<Bursts>,
    /// A random part of the delay.
    pub jitter: Option<Jitter>,
    /// Probability that a packet skips the delay.
    pub reorder: f64,
    /// Probability that a packet that is not lost arrives twice.
    pub duplicate: f64,
}

/// Losses by the model of Gilbert and Elliott.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    /// Probability of a step from the good state to the bad one.
    pub p: f64,
    /// Probability of a step from the bad state to the good one.
    pub r: f64,
    /// Probability that a packet is lost in the good state.
    pub loss_good: f64,
    /// Probability that a packet is lost in the bad state.
    pub loss_bad: f64,
}

impl Bursts {
    /// The share of packets that are lost in the long run: in the bad state is a share of
    /// p / (p + r). A chain that never steps stays in the good state.
    pub fn loss(&self) -> f64 {
        let bad = if self.p > 0.0 {
            self.p / (self.p + self.r)
        } else {
            0.0
        };
        self.loss_good * (1.0 - bad) + self.loss_bad * bad
    }
}

/// A random part of a wire's delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Its largest deviation if uniform, its standard deviation if normal.
    pub amplitude: Duration,
    /// Whether its law is the normal one; else it is uniform.
    pub is_normal: bool,
    /// Whether a packet waits for those before it.
    pub in_order: bool,
}

impl Wire {
    /// The share of packets that are lost in the long run: from the first end to the second, and
    /// back.
    pub fn loss_ratio(&self) -> [f64; 2] {
        [0, 1].map(|way| {
            let impairments = self.impairments.as_ref();
            match impairments.and_then(|both| both[way].bursts) {
                Some(bursts) => 1.0 - (1.0 - self.loss[way]) * (1.0 - bursts.loss()),
                None => self.loss[way],
            }
        })
    }
}

/// A link over radios.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RadioLink {
    /// Its channel; `None` is the first of one end's that the other has too.
    pub channel: Option<u8>,
    /// Whether it is not there, since no radios were left for it.
    pub is_left_out: bool,
    /// Rate of its data frames; `None` is that of [`Wifi`].
    pub rate: Option<Rate>,
    /// Probability that an attempt is lost, regardless of its length; `None` is the value of
    /// [`Wifi`].
    pub loss: Option<f64>,
}

impl Link {
    /// What it is like, where it is a wire.
    pub const fn wire(&self) -> Option<&Wire> {
        match &self.medium {
            Medium::Wire(wire) => Some(wire),
            Medium::Wifi(_) => None,
        }
    }

    /// What it is like, where it leads over radios.
    pub const fn radio(&self) -> Option<&RadioLink> {
        match &self.medium {
            Medium::Wire(_) => None,
            Medium::Wifi(radio) => Some(radio),
        }
    }
}

/// The access network of the UEs.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Number of UEs; their ids are `ue1`, `ue2`, …
    pub ues: usize,
    /// Which eNodeB serves which UE.
    pub placement: Placement,
    /// What is between a UE and its eNodeB.
    pub kind: AccessKind,
}

/// What is between a UE and its eNodeB.
#[derive(Clone, Debug, PartialEq)]
pub enum AccessKind {
    /// Every eNodeB shares one rate among its UEs.
    Ideal(IdealAccess),
    /// An LTE radio access network.
    Lte(Box<Lte>),
    /// A link carries what recorded traces say.
    Trace(Box<TraceAccess>),
    /// A technology that the running program declares.
    Declared(DeclaredAccess),
}

/// An access technology that the running program declares, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredAccess {
    /// What `kind` says.
    pub name: String,
    /// The checked values of the section.
    pub values: Values,
}

/// Links that carry what recorded traces say.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceAccess {
    /// Whether the UEs of an eNodeB share a link; else each has its own.
    pub shared: bool,
    /// The traces, each once.
    pub traces: Vec<Capacity>,
    /// For each link, in the order of the UEs or eNodeBs, the index of the trace downwards; the
    /// list begins again at its end.
    pub downlink: Vec<usize>,
    /// The same upwards.
    pub uplink: Vec<usize>,
    /// What follows the end of a trace.
    pub at_end: AtEnd,
    /// One-way delay after the link.
    pub delay: Duration,
    /// The queue before each direction.
    pub queue: QueueConfig,
}

/// The capacity of a link over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Milliseconds from the beginning, in order, each with the number of delivery
    /// opportunities in it.
    Opportunities(Vec<(u32, u32)>),
    /// Bits per second from a time on.
    Rates {
        /// In the order of the times, the first zero.
        steps: Vec<(Duration, u64)>,
        /// How long the trace is.
        period: Duration,
    },
}

/// What follows the end of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// It begins again.
    Repeat,
    /// Its last value stays.
    Hold,
    /// There is no further value.
    Stop,
}

impl AtEnd {
    /// From the word in files.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "repeat" => Self::Repeat,
            "hold" => Self::Hold,
            _ => Self::Stop,
        }
    }

    /// The word in files.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Repeat => "repeat",
            Self::Hold => "hold",
            Self::Stop => "stop",
        }
    }
}

/// The channel of a UE's receiver over time.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelTrace {
    /// What the values are.
    pub quantity: ChannelQuantity,
    /// Whether they are means over fading, which is on top of them.
    pub fades: bool,
    /// When each value begins, in order, the first at zero.
    pub times: Vec<Duration>,
    /// As many values as times; each lasts until the next.
    pub values: Vec<f64>,
    /// How long the trace is.
    pub period: Duration,
    /// What follows its end.
    pub at_end: AtEnd,
}

/// Fading over time, in windows.
#[derive(Clone, Debug, PartialEq)]
pub struct FadingTrace {
    /// A row of decibels for each resource block, one value for each millisecond.
    pub rows_db: Vec<Vec<f64>>,
    /// How long a link plays the trace before it goes on elsewhere.
    pub window: Duration,
}

/// What the values of a [`ChannelTrace`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelQuantity {
    /// Signal to interference and noise, in decibels.
    Sinr,
    /// Channel quality indicators.
    Cqi,
}

/// An ideal access network: every eNodeB shares one rate among its UEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdealAccess {
    /// Rate of an eNodeB's radio, shared by its UEs, in each direction.
    pub rate: Rate,
    /// One-way delay between UE and eNodeB.
    pub delay: Duration,
    /// Queue of one UE in one direction, in bytes.
    pub queue_bytes: u64,
}

/// Which eNodeB serves which UE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// UE k at eNodeB ((k − 1) mod n) + 1, in the order of the file.
    RoundRobin,
    /// Drawn uniformly in every run from its seed.
    Random,
    /// The node index of each UE, in the order of the UEs.
    Listed(Vec<usize>),
}

/// The kernels that hosts run in simulated time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linux {
    /// The version or the name of its build.
    pub kernel: String,
    /// Settings, by the path below `/proc/sys`, and their values, in the order of writing.
    pub sysctl: Vec<(String, String)>,
    /// Memory of each.
    pub memory_bytes: u64,
}

/// The programs of a flow over [`Stack::Linux`], each with its arguments. In these, {from} and {to}
/// stand for the addresses of the hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// What the source runs when the flow starts.
    pub client: Vec<String>,
    /// What the destination runs from the start on; may be empty.
    pub server: Vec<String>,
}

/// What the two hosts of a TCP flow run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The model of TCP.
    Model,
    /// A Linux kernel each, in simulated time.
    Linux,
    /// Programs outside, on the wall clock.
    External,
}

/// A group of equal flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGroup {
    /// What the flows do.
    pub kind: FlowKind,
    /// Where data comes from.
    pub from: Endpoints,
    /// Where data goes to.
    pub to: Endpoints,
    /// Flows of this group between each pair of endpoints.
    pub count: usize,
    /// Bytes of application data per flow; `None` is endless.
    pub size: Option<Law<u64>>,
    /// When each flow starts, after the warm-up; with a gap, the first of each pair.
    pub start: Start,
    /// The flows of a pair are sequential, each this long after the previous one has ended; `None`:
    /// each starts by `start`.
    pub gap: Option<Law<Duration>>,
    /// When the sources stop, after the warm-up; `None` is at the end.
    pub stop: Option<Duration>,
    /// The congestion control where it is not that of [`Scenario::tcp`].
    pub congestion_control: Option<Arc<str>>,
    /// What runs the transport of TCP flows.
    pub stack: Stack,
    /// What kernels run in place of a transfer.
    pub programs: Option<Programs>,
    /// The load of the kinds "udp" and "on-off".
    pub udp: Option<Udp>,
    /// The checked values of a kind that the running program declares.
    pub source: Option<Values>,
}

/// What a flow does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKind {
    /// TCP from a server to UEs.
    Download,
    /// TCP from UEs to a server.
    Upload,
    /// TCP between any two nodes.
    Transfer,
    /// UDP at a constant rate.
    Udp,
    /// UDP that alternates between a constant rate and silence.
    OnOff,
    /// UDP from a source that the running program declares, by its name.
    Source(&'static str),
}

impl FlowKind {
    /// The word used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Download => "download",
            Self::Upload => "upload",
            Self::Transfer => "transfer",
            Self::Udp => "udp",
            Self::OnOff => "on-off",
            Self::Source(name) => name,
        }
    }

    /// Whether its data travels over TCP.
    pub const fn is_tcp(self) -> bool {
        matches!(self, Self::Download | Self::Upload | Self::Transfer)
    }
}

/// The load of a UDP source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Udp {
    /// Rate of the payload while the source is on.
    pub rate: Rate,
    /// Payload of a packet, in bytes.
    pub packet_bytes: u32,
    /// Mean of the exponential on and off periods; `None` is always on.
    pub on_off: Option<(Duration, Duration)>,
    /// Flow control.
    pub control: Option<Utility>,
}

/// Flow control by utility.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utility {
    /// M.
    pub m: f64,
    /// Length of a slot.
    pub slot: Duration,
}

/// One side of a flow group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoints {
    /// Every UE, one flow each.
    Ues,
    /// Named UEs, counted from 0 (`ue1` is 0).
    UeList(Vec<usize>),
    /// Node indices, one flow each.
    Nodes(Vec<usize>),
}

/// When the flows of a group start. Flow `i` counts from 0 within its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Batches of 25 flows, 4 s apart, 50 ms between the flows of a batch: with i counted from
    /// 1 and m = ⌊(i − 1)/25⌋ + 1, start 4·m + 0.05·(i − 25·(m − 1)) s.
    Staggered,
    /// All at once.
    At(Duration),
    /// Drawn uniformly between the two times.
    Uniform(Duration, Duration),
    /// The first at `first`, each next one `gap` later.
    Every {
        /// Start of the first flow.
        first: Duration,
        /// Time between two starts.
        gap: Law<Duration>,
    },
}

/// How a value is drawn for each flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law<T> {
    /// It is always this.
    Fixed(T),
    /// Uniformly between the two.
    Uniform(T, T),
    /// Exponentially, with this mean.
    Exponential(T),
}

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A UE, counted from 0.
    Ue(usize),
    /// A node, by its index in [`Scenario::nodes`].
    Node(usize),
}

impl Endpoints {
    /// The number of ends, where there are `ues` UEs.
    pub fn len(&self, ues: usize) -> usize {
        match self {
            Self::Ues => ues,
            Self::UeList(list) | Self::Nodes(list) => list.len(),
        }
    }

    /// End `index`, where a single end stands for any index.
    fn end(&self, index: usize) -> End {
        let of = |list: &[usize]| list.get(index).or(list.first()).copied().unwrap_or(0);
        match self {
            Self::Ues => End::Ue(index),
            Self::UeList(list) => End::Ue(of(list)),
            Self::Nodes(list) => End::Node(of(list)),
        }
    }
}

impl FlowGroup {
    /// The pairs of ends, from and to, where there are `ues` UEs. Each pair has
    /// [`FlowGroup::count`] flows; flow `i` of the group belongs to pair `i / count`.
    pub fn pairs(&self, ues: usize) -> impl Iterator<Item = (End, End)> + '_ {
        let (from, to) = (self.from.len(ues), self.to.len(ues));
        let pairs = if from == 0 || to == 0 {
            0
        } else {
            from.max(to)
        };
        let at = |ends: &Endpoints, count: usize, index: usize| {
            ends.end(if count == 1 { 0 } else { index })
        };
        (0..pairs).map(move |index| (at(&self.from, from, index), at(&self.to, to, index)))
    }
}

impl Start {
    /// The start of flow `number` (from 1) in the batches of [`Start::Staggered`].
    pub fn staggered(number: u64) -> Duration {
        let batch = number.saturating_sub(1) / 25;
        let within = number.saturating_sub(25 * batch);
        Duration::from_secs(4)
            .saturating_mul(batch + 1)
            .saturating_add(Duration::from_millis(50).saturating_mul(within))
    }
}

/// What is sampled during the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Congestion window series of TCP senders.
    pub cwnd: bool,
    /// Series of what each flow has delivered.
    pub goodput: bool,
    /// Queue length series of link directions.
    pub queue: bool,
    /// Series of the radio of UEs.
    pub radio: bool,
    /// Time between two samples.
    pub interval: Duration,
    /// Names of the flows sampled (`ue1`, …); empty is all.
    pub flows: Vec<String>,
    /// Names of the links sampled (`enb1-enb2`); empty is all.
    pub links: Vec<String>,
    /// Names of the nodes whose packets are captured.
    pub capture: Vec<String>,
    /// Whether it is measured how far packets are out of order.
    pub reordering: bool,
    /// The displacement from which on a packet counts as lost there (RFC 5236: DT).
    pub reordering_threshold_pkts: u32,
}
