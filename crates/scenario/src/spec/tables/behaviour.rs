//! Keys of what happens on the network: UEs, routing, flows and records.

use super::super::Presence::{Default, Optional, Required};
use super::super::{Key, Kind, Section, Tag, Variant};
use super::common::{
    CONGESTION_CONTROL, COUNT, DELAY, INTERVAL, MEAN, PER_ENODEB, PLACEMENT, SIZE, TIME, UES, key,
    words,
};
use super::{lte, traces};

/// The radio network of the UEs.
pub(crate) static ACCESS: Section = Section {
    rules: None,
    noun: "access",
    doc: "The radio network between UEs and eNodeBs.",
    keys: &[],
    tag: Some(Tag {
        key: "kind",
        default: Some("none"),
        doc: "The model of the radio network.",
        variants: &[
            Variant {
                rules: None,
                name: "none",
                doc: "There are no UEs.",
                keys: &[],
            },
            Variant {
                rules: None,
                name: "ideal",
                doc: "Each eNodeB shares a fixed rate among its UEs, without errors.",
                keys: &[
                    key(
                        "rate",
                        Kind::Rate,
                        Default("\"350 Mbit/s\""),
                        "Rate of an eNodeB in each direction, shared by its UEs (BP-MR paper: 350 Mbit/s).",
                    ),
                    key(
                        "delay",
                        DELAY,
                        Default("\"10 ms\""),
                        "One-way delay; about what LTE adds.",
                    ),
                    key(
                        "queue",
                        SIZE,
                        Default("\"375 kB\""),
                        "Queue of one UE in one direction (BP-MR paper: RLC buffer of 375 000 B).",
                    ),
                    UES,
                    PLACEMENT,
                    PER_ENODEB,
                ],
            },
            Variant::slot_with("lte", lte::KEYS),
            Variant {
                rules: None,
                name: "trace",
                doc: "A link between a UE and its eNodeB carries what recorded traces say.",
                keys: traces::KEYS,
            },
        ],
    }),
};

/// The routing protocol of the backhaul.
pub(crate) static ROUTING: Section = Section {
    rules: None,
    noun: "routing",
    doc: "The routing protocol of the backhaul.",
    keys: &[key(
        "warm_up",
        TIME,
        Default("\"0 s\""),
        "Simulated time in which routing runs before the clock of `duration` and of the flows' `start` begins.",
    )],
    tag: Some(Tag {
        key: "protocol",
        default: Some("shortest-path"),
        doc: "The protocol.",
        // The order of the reference; their keys stand beside the models.
        variants: &[
            Variant::slot("shortest-path"),
            Variant::slot("olsr"),
            Variant::slot("ospf"),
            Variant::slot("babel"),
            Variant::slot("batman"),
            Variant::slot("aodv"),
            Variant::slot("bp"),
            Variant::slot("bs"),
            Variant::slot("bp-classic"),
            Variant::slot("bp-mr"),
            Variant::slot("tcp-aware-bp"),
            Variant::slot("l2.5r"),
            Variant::slot("python"),
        ],
    }),
};

/// A Python file.
pub(crate) static PYTHON: Section = Section {
    rules: None,
    noun: "python",
    doc: "A Python file with congestion controls or routers. Where it is missing, the file is read.",
    tag: None,
    keys: &[
        key(
            "file",
            Kind::Text,
            Required,
            "The file, as `congestion_control` or `router` names it.",
        ),
        key("source", Kind::Content, Required, "What the file holds."),
    ],
};

const ENDS: Kind = Kind::OneOrMany(&Kind::Id);
const FROM_DOC: &str =
    "Where data comes from: \"server\", \"ues\", single UEs (\"ue7\"), node ids, or a list.";
const TO_DOC: &str = "Where data goes to.";
const TCP_SIZE: Key = key(
    "size",
    Kind::OrWord("endless", &Kind::Drawn(&SIZE)),
    Required,
    "Application data per flow, or the law by which it is drawn: \"uniform 50 kB 500 kB\", \"exponential 500 kB\" (the mean).",
);
const GAP: Key = key(
    "gap",
    Kind::Drawn(&TIME),
    Optional,
    "With a gap the `count` flows of a pair go one after another: `start` is for the first, and each further one starts so long after the one before it has finished or was given up. Like a size it may be drawn (\"exponential 100 ms\"). None starts at or after `stop`, and what never had its turn is not in the results.",
);
const FLOW_CC: Key = key(
    "congestion_control",
    CONGESTION_CONTROL,
    Optional,
    "In place of that of [tcp]; its parameters stand in its table in [tcp].",
);
const STACK: Key = key(
    "stack",
    words(&["model", "linux", "external"]),
    Default("\"model\""),
    "What the two hosts run: the model of TCP; a Linux kernel each, in simulated time, whose options are in [linux]; or the programs of a `backlane emulate`, whose packets between the two hosts travel as this flow.",
);
const CLIENT: Key = key(
    "client",
    Kind::List(&Kind::Text),
    Optional,
    "With `stack = \"linux\"`: a static program and its arguments, which the kernel of the source runs at `start` in place of a transfer. {from} and {to} stand for the addresses of both hosts.",
);
const SERVER_PROGRAM: Key = key(
    "server",
    Kind::List(&Kind::Text),
    Optional,
    "With `client`: what the kernel of the destination runs from its start on.",
);
const UDP_SIZE: Key = key(
    "size",
    Kind::OrWord("endless", &SIZE),
    Default("\"endless\""),
    "Payload per flow.",
);
const UDP_RATE: Key = key(
    "rate",
    Kind::Rate,
    Required,
    "Rate of the payload while the source is on.",
);
const UDP_PACKET: Key = key(
    "packet_size",
    Kind::Bytes {
        min: 1,
        max: 65_507,
    },
    Default("\"1000 B\""),
    "Payload of a packet (BP-MR paper: 1000 B).",
);
const FROM: Key = key("from", ENDS, Required, FROM_DOC);
const TO: Key = key("to", ENDS, Required, TO_DOC);
const DRAWN: Key = key(
    "drawn",
    Kind::OrWord("all", &COUNT),
    Default("\"all\""),
    "How many of the ends in `to` get data: all, or this many, which each run draws by its seed, none twice.",
);

/// The keys of an access technology that the running program declares, beside its own.
pub(super) const DECLARED_ACCESS: &[Key] = &[UES, PLACEMENT, PER_ENODEB];

/// The keys of a kind of flow that the running program declares, beside its own.
pub(super) const DECLARED_FLOW: &[Key] = &[FROM, TO, DRAWN, UDP_SIZE];

/// A group of flows.
pub(crate) static FLOW: Section = Section {
    rules: None,
    noun: "flow",
    doc: "A group of like flows. Lists on both sides are joined one to one; a single end is joined to each of the other side.",
    keys: &[
        key(
            "count",
            COUNT,
            Default("1"),
            "Flows between each pair of ends.",
        ),
        key(
            "start",
            Kind::Start,
            Default("\"0 s\""),
            "When the flows start: all at a time (\"4 s\"), drawn (\"uniform 0 s 5 s\"), one after another (\"every 50 ms from 4 s\", or with a drawn time between two starts \"every exponential 50 ms from 4 s\"; what falls after the end is left out), or \"staggered\": batches of 25, 4 s apart, 50 ms between the flows of a batch, the first at 4.05 s (the BP-MR paper).",
        ),
        key(
            "stop",
            Kind::OrWord("end", &TIME),
            Default("\"end\""),
            "When the sources stop; TCP then brings over what it has sent, and closes.",
        ),
    ],
    tag: Some(Tag {
        key: "kind",
        default: None,
        doc: "What the flows do.",
        variants: &[
            Variant {
                rules: None,
                name: "download",
                doc: "TCP from a server to UEs.",
                keys: &[
                    key("from", ENDS, Default("\"server\""), FROM_DOC),
                    key("to", ENDS, Default("\"ues\""), TO_DOC),
                    DRAWN,
                    TCP_SIZE,
                    GAP,
                    FLOW_CC,
                    STACK,
                    CLIENT,
                    SERVER_PROGRAM,
                ],
            },
            Variant {
                rules: None,
                name: "upload",
                doc: "TCP from UEs to a server.",
                keys: &[
                    key("from", ENDS, Default("\"ues\""), FROM_DOC),
                    key("to", ENDS, Default("\"server\""), TO_DOC),
                    DRAWN,
                    TCP_SIZE,
                    GAP,
                    FLOW_CC,
                    STACK,
                    CLIENT,
                    SERVER_PROGRAM,
                ],
            },
            Variant {
                rules: None,
                name: "transfer",
                doc: "TCP between any nodes.",
                keys: &[
                    FROM,
                    TO,
                    DRAWN,
                    TCP_SIZE,
                    GAP,
                    FLOW_CC,
                    STACK,
                    CLIENT,
                    SERVER_PROGRAM,
                ],
            },
            Variant {
                rules: None,
                name: "udp",
                doc: "UDP at a constant rate.",
                keys: &[
                    FROM,
                    TO,
                    DRAWN,
                    UDP_RATE,
                    UDP_PACKET,
                    UDP_SIZE,
                    key(
                        "control",
                        words(&["none", "utility"]),
                        Default("\"none\""),
                        "With \"utility\" the source sends m / U packets in each slot, U being what waits of the flow at its first router, and all such flows of a node together no more than `rate`: the utility of a rate is its logarithm. Only \"tcp-aware-bp\" tells what waits; elsewhere that is `rate`.",
                    ),
                    key(
                        "m",
                        Kind::Number {
                            min: 1e-9,
                            max: 1e9,
                        },
                        Default("50"),
                        "With control \"utility\": what a unit of utility is worth, in packets squared (the published runs: 50).",
                    ),
                    key(
                        "slot",
                        INTERVAL,
                        Default("\"25 ms\""),
                        "With control \"utility\": length of a slot; with m packets waiting one packet is sent in each. The paper has no number; at 50 packets/s, a fair share of 2 Mbit/s, with m = 50 the queue is 40 packets, below K = 50.",
                    ),
                ],
            },
            Variant {
                rules: None,
                name: "on-off",
                doc: "UDP that is on at a constant rate and off, for exponential times.",
                keys: &[
                    FROM,
                    TO,
                    DRAWN,
                    UDP_RATE,
                    key("on", MEAN, Required, "Mean of the on times."),
                    key("off", MEAN, Required, "Mean of the off times."),
                    UDP_PACKET,
                    UDP_SIZE,
                ],
            },
        ],
    }),
};

/// The kernels of hosts whose flows have `stack = "linux"`.
pub(crate) static LINUX: Section = Section {
    rules: None,
    noun: "linux",
    doc: "The kernels of hosts that have flows with `stack = \"linux\"`, one for each host. Parameters of [tcp] do not apply to them.",
    tag: None,
    keys: &[
        key(
            "kernel",
            Kind::Text,
            Default("\"6.1\""),
            "Which kernel: the version or the name under which `backlane linux build` has built it.",
        ),
        key(
            "sysctl",
            Kind::List(&Kind::Text),
            Default("[]"),
            "Settings of the kernels, such as \"net.ipv4.tcp_sack=0\", in this order.",
        ),
        key(
            "memory",
            Kind::Bytes {
                min: 64_000_000,
                max: 16_000_000_000,
            },
            Default("\"256 MB\""),
            "Memory of each kernel, of which the machine gives what is used.",
        ),
    ],
};

/// A node or a link that fails.
pub(crate) static FAILURE: Section = Section {
    rules: None,
    noun: "failure",
    doc: "A node or a link that is down for a time. Routing protocols detect it by their own messages; \"ospf\", \"babel\" with `link_detect` and \"l2.5r\" also by the carrier of a wire, unless the failure is silent. A down link loses the packets that are queued for it, in flight on it or sent on it. A down node has all links down, including those of its UEs. Over 802.11 no frame on a down link is decoded, so that its sender retries until the retry limit; the radios of a down node neither send nor receive.",
    tag: None,
    keys: &[
        key("node", Kind::Id, Optional, "The node that fails."),
        key(
            "link",
            Kind::Text,
            Optional,
            "The link \"a-b\" that fails, in both directions.",
        ),
        key(
            "at",
            TIME,
            Required,
            "When it fails, on the clock of the flows' `start`.",
        ),
        key(
            "until",
            Kind::OrWord("end", &TIME),
            Default("\"end\""),
            "When it works again.",
        ),
        key(
            "silent",
            Kind::Boolean,
            Default("false"),
            "Whether wires keep their carrier while they are down, as behind a converter or a switch: only missing messages reveal the failure.",
        ),
    ],
};

/// What is sampled during the run.
pub(crate) static RECORD: Section = Section {
    rules: None,
    noun: "record",
    doc: "Series that are sampled, and packets that are captured, during the run.",
    tag: None,
    keys: &[
        key(
            "series",
            Kind::List(&words(&["cwnd", "goodput", "queue", "radio"])),
            Default("[]"),
            "Which series: congestion windows, what each flow has delivered, queue lengths of links, and of each UE behind LTE its channel, blocks, RLC queue and delays.",
        ),
        key(
            "interval",
            INTERVAL,
            Default("\"10 ms\""),
            "Time between two samples.",
        ),
        key(
            "flows",
            Kind::List(&Kind::Text),
            Default("[]"),
            "Ends of the flows whose window and goodput are sampled; none named is all.",
        ),
        key(
            "links",
            Kind::List(&Kind::Text),
            Default("[]"),
            "Links \"a-b\" whose queues are sampled, in both directions; none named is all.",
        ),
        key(
            "capture",
            Kind::List(&Kind::Text),
            Default("[]"),
            "Nodes whose packets are captured, each in a file of its own for Wireshark (`capture/<node>.pcapng`): headers and routing messages, no payload.",
        ),
        key(
            "reordering",
            Kind::Boolean,
            Default("false"),
            "Whether it is measured how far the packets of each flow are out of order: further columns of `flows.parquet`, and the table `reordering.parquet`.",
        ),
        key(
            "reordering_threshold_pkts",
            Kind::Integer {
                min: 1,
                max: 10_000,
            },
            Default("300"),
            "Displacement from which on a packet counts as lost in these measures (the threshold DT of RFC 5236); 300 is the largest degree of reordering that Linux adapts to.",
        ),
    ],
};
