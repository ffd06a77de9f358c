//! Every section and key of the file.
//!
//! A default is a value of a standard, of a paper or of Linux; the sentence beside it says which.

mod behaviour;
mod capacities;
mod common;
mod impairments;
pub(crate) mod lte;
mod network;
mod radios;
mod traces;

pub(crate) use behaviour::{ACCESS, FAILURE, FLOW, LINUX, PYTHON, RECORD, ROUTING};
pub(crate) use common::{LONGEST_PS, MOST_NODES};
pub(crate) use network::{GATEWAY, LINK, QUEUE, SERVER, SITE_LINK, SITE_RULE, TOPOLOGY, WIRE};
pub(crate) use traces::{CHANNEL, TRACE};

use super::Presence::{Default, Optional, Required, Section as Filled};
use super::{Key, Kind, Section};
use common::{CONGESTION_CONTROL, SPAN, key};

/// The keys that a section gives to every further word of its tag that the running program
/// declares.
pub(crate) fn shared_keys(noun: &str, tag: &str) -> &'static [Key] {
    match (noun, tag) {
        ("flow", "kind") => behaviour::DECLARED_FLOW,
        ("access", "kind") => behaviour::DECLARED_ACCESS,
        _ => &[],
    }
}

const NAME: Key = key(
    "name",
    Kind::Text,
    Default("\"scenario\""),
    "The name shown in reports.",
);
const SEED: Key = key(
    "seed",
    Kind::Integer {
        min: 0,
        max: i64::MAX,
    },
    Default("1"),
    "The seed of a single run and the first seed of a sweep with `seeds = N`.",
);
const SWEEP: Key = key(
    "sweep",
    Kind::Sweep,
    Optional,
    "Swept keys by their path, each with a list of values, and `seeds`: a number of seeds \
             or a list. Its presence makes the file a campaign.",
);

const COMPARE_KEY: Key = key(
    "compare",
    Kind::Table(&COMPARE),
    Optional,
    "What the campaign compares. It changes no run and no run id.",
);

/// What a campaign compares.
pub(crate) static COMPARE: Section = Section {
    rules: None,
    noun: "compare",
    doc: "What a campaign compares, and how. The section describes no run: stored runs stay valid \
          when it changes.",
    tag: None,
    keys: &[
        key(
            "keys",
            Kind::List(&Kind::Text),
            Optional,
            "The swept keys whose values are the contenders; the other swept keys are conditions. \
             Without it, the contenders are the swept keys of `routing`, `tcp`, `assignment`, of \
             congestion controls, queues and buffers, and of `topology.link` but for losses, \
             impairments and capacities over time; if none of these is swept, all swept keys.",
        ),
        key(
            "measure",
            Kind::Words {
                words: MEASURES,
                aliases: &[],
            },
            Optional,
            "By what they are compared: the mean or the 95th percentile of the finish times of a \
             run's flows, the mean or the smallest goodput of a flow, what all flows deliver \
             together, the mean RTT, or Jain's index of goodput. Without it, `finish` where flows \
             have a size, else `goodput`.",
        ),
        key(
            "equal_within",
            Kind::Text,
            Default("\"5 %\""),
            "Contenders are equal when the interval of their difference lies within this share of \
             the best.",
        ),
    ],
};

/// The measures by which contenders are compared.
const MEASURES: &[&str] = &[
    "finish",
    "p95_finish",
    "goodput",
    "least_goodput",
    "delivered",
    "rtt",
    "fairness",
];

static ASSIGNMENT: Section = Section::slot("assignment");
static CODING: Section = Section::slot("coding");
static SLOTTED: Section = Section::slot("slotted");
static WIFI: Section = Section::slot("wifi");

/// The whole file of a slotted model.
pub(crate) static SLOTTED_FILE: Section = Section {
    rules: None,
    noun: "",
    doc: "The keys at the top of a file with [slotted].",
    tag: None,
    keys: &[
        NAME,
        SEED,
        key(
            "slotted",
            Kind::Table(&SLOTTED),
            Required,
            "The slotted model.",
        ),
        SWEEP,
    ],
};

/// The TCP endpoints: a name of the catalogue, and what the model declares.
pub(crate) static TCP: Section = Section {
    keys: &[
        key(
            "congestion_control",
            CONGESTION_CONTROL,
            Default("\"cubic\""),
            "The congestion control, by its Linux name; a class in a Python file, whose path \
             counts from the folder of the scenario; or one that the running program brings, by its name.",
        ),
        Key::SLOT,
    ],
    ..Section::slot("tcp")
};

/// The whole file.
pub(crate) static FILE: Section = Section {
    rules: None,
    noun: "",
    doc: "The keys at the top of the file.",
    tag: None,
    keys: &[
        NAME,
        key(
            "duration",
            SPAN,
            Required,
            "Hard stop, counted from the end of the warm-up; a run ends earlier when all finite \
             flows have finished.",
        ),
        SEED,
        key(
            "topology",
            Kind::Table(&TOPOLOGY),
            Required,
            "The nodes and links of the backhaul.",
        ),
        key(
            "gateway",
            Kind::Tables(&GATEWAY),
            Optional,
            "Gateways of the core network.",
        ),
        key(
            "server",
            Kind::Tables(&SERVER),
            Optional,
            "Hosts outside the core network.",
        ),
        key(
            "access",
            Kind::Table(&ACCESS),
            Filled,
            "The radio network of the UEs.",
        ),
        key(
            "wifi",
            Kind::Table(&WIFI),
            Optional,
            "The 802.11 radios of the backhaul. Its presence gives every router and eNodeB a radio.",
        ),
        key(
            "assignment",
            Kind::Table(&ASSIGNMENT),
            Optional,
            "Gives the links over 802.11 their channels, rates and flow rates. Its presence turns it on.",
        ),
        key(
            "routing",
            Kind::Table(&ROUTING),
            Filled,
            "The routing protocol of the backhaul.",
        ),
        key("tcp", Kind::Table(&TCP), Filled, "The TCP endpoints."),
        key(
            "linux",
            Kind::Table(&LINUX),
            Optional,
            "The kernels of hosts whose flows have `stack = \"linux\"`.",
        ),
        key(
            "coding",
            Kind::Table(&CODING),
            Optional,
            "Network coding below TCP. Its presence turns it on.",
        ),
        key("flow", Kind::Tables(&FLOW), Optional, "Groups of flows."),
        key(
            "failure",
            Kind::Tables(&FAILURE),
            Optional,
            "Nodes and links that fail.",
        ),
        key(
            "record",
            Kind::Table(&RECORD),
            Filled,
            "Series that are sampled, and packets that are captured, during the run.",
        ),
        key(
            "python",
            Kind::Tables(&PYTHON),
            Optional,
            "The text of Python files. Written out in a resolved scenario, so that it names no \
             files.",
        ),
        key(
            "trace",
            Kind::Tables(&TRACE),
            Optional,
            "The content of traces. Written out in a resolved scenario, so that it names no files.",
        ),
        key(
            "slotted",
            Kind::Table(&SLOTTED),
            Optional,
            "The slotted model of backpressure, in place of all but `name`, `seed` and `sweep`.",
        ),
        SWEEP,
        COMPARE_KEY,
    ],
};
