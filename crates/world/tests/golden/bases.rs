//! Small networks in which every model has something to do: packets are lost, overtake each
//! other and wait, links fail and mend, and what is sampled and captured is kept.

use crate::meshes::MESHES;

/// A scene before a choice is made in it.
pub struct Base {
    pub name: String,
    pub text: String,
    /// Keys that are set in it.
    pub set: Vec<(String, String)>,
}

/// Series of everything but radio, and the order of packets.
const RECORD: &str = "[record]\nseries = [\"cwnd\", \"goodput\", \"queue\"]\ninterval = \"50 ms\"\n\
                      reordering = true\n";

/// The congestion controls, each of which has a scene.
pub fn controls() -> Vec<String> {
    backlane_scenario::choices(backlane_world::catalogue())
        .into_iter()
        .filter(|(path, _)| path == "tcp.congestion_control")
        .map(|(_, control)| control)
        .collect()
}

pub fn all() -> Vec<Base> {
    let mut all = vec![];
    let mut add = |name: &str, text: String| {
        all.push(Base {
            name: name.to_owned(),
            text,
            set: Vec::new(),
        });
    };
    add("wires", wires("", "queue = \"15 packets\""));
    add(
        "wires, ns3",
        wires("[tcp]\nprofile = \"ns3\"\n", "queue = \"15 packets\""),
    );
    add(
        "wires, send_memory of 14 segments",
        wires("[tcp]\nsend_memory = \"30 kB\"\n", "queue = \"15 packets\""),
    );
    add(
        "wires, linux-legacy with burst_limit",
        wires(
            "[tcp]\nreordering = \"linux-legacy\"\n",
            "queue = \"15 packets\"",
        ),
    );
    add(
        "wires, timestamps of 100 us",
        wires(
            "[tcp]\ntimestamp_tick = \"100 us\"\n",
            "queue = \"15 packets\"",
        ),
    );
    let laws = [
        "jitter_law = \"uniform\", in_order = true",
        "jitter_law = \"normal\", in_order = false",
    ];
    add("impairments, uniform jitter in order", impaired(laws));
    let [uniform, normal] = laws;
    add(
        "impairments, normal jitter out of order",
        impaired([normal, uniform]),
    );
    add("impairments, packets overtake", overtaking());
    for at_end in ["repeat", "hold", "stop"] {
        add(&format!("capacities, {at_end}"), capacities(at_end));
    }
    add(
        "wires, ecn",
        wires(
            "[tcp]\necn = \"classic\"\n",
            "queue = { discipline = \"codel\", limit = \"40 packets\", ecn = true }",
        ),
    );
    add(
        "wires, dctcp, ecn",
        wires(
            "[tcp]\ncongestion_control = \"dctcp\"\necn = \"exact\"\n",
            "queue = { limit = \"30 packets\", mark_above = \"5 packets\" }",
        ),
    );
    for (name, routing) in MESHES {
        add(&format!("mesh, {name}"), mesh(routing));
    }
    let bird = "protocol = \"ospf\"\ndaemon = \"bird\"\nstart = \"cold\"\ntick = \"100 ms\"\n\
                hello_interval = \"100 ms\"\nretransmit_interval = \"300 ms\"\nwarm_up = \"6 s\"\n\
                cost = \"fixed\"\nhash = \"ports\"\nshares = \"rate\"";
    add(
        "mesh, ospf of bird, silent failure",
        mesh(bird).replace("until = \"2 s\"", "until = \"2 s\"\nsilent = true"),
    );
    add(
        "mesh, ospf, costs, lfa",
        mesh(
            "protocol = \"ospf\"\nhello_interval = \"200 ms\"\nbfd = \"50 ms\"\nfast_reroute = \"lfa\"\n\
             costs = [{ link = \"enb1-enb2\", cost = 3, cost_back = 2 }]",
        ),
    );
    add(
        "mesh, explicit paths",
        mesh(
            "explicit_paths = [\n\
             { from = \"epc\", to = \"enb6\", nodes = [\"epc\", \"enb9\", \"enb6\"], weight = 2 },\n\
             { from = \"epc\", to = \"enb6\", nodes = [\"epc\", \"enb1\", \"enb2\", \"enb5\", \"enb6\"] },\n\
             { from = \"enb4\", to = \"enb6\", nodes = [\"enb4\", \"enb7\", \"enb8\", \"enb5\", \"enb6\"] }]",
        ),
    );
    for (name, routing, more) in RADIOS {
        add(&format!("wifi, {name}"), radios(routing, more));
    }
    for (name, access) in CELLS {
        add(&format!("access, lte, {name}"), cells(access));
    }
    add("access, trace", traced("queue = \"20 packets\""));
    add(
        "access, trace, codel",
        traced(
            "queue = { discipline = \"codel\", limit = \"20 packets\", ecn = true }\n[tcp]\necn = \"classic\"",
        ),
    );
    add(
        "access, trace, fq-codel",
        traced("queue = { discipline = \"fq-codel\", limit = \"20 packets\", ecn = false }"),
    );
    add(
        "access, trace, drop-tail, hold",
        traced("queue = { discipline = \"drop-tail\", limit = \"10 packets\" }")
            .replace("\"repeat\"", "\"hold\"")
            .replace("[\"table\", \"lines\"]", "\"table\"")
            .replace("uplink = \"lines\"", "uplink = \"table\""),
    );
    for control in controls() {
        add(&format!("long, {control}"), long(&control));
    }
    add("detour, vegas", detour());
    add("wifi, aodv with local_repair", ladder());
    add(
        "core, codel and fq-codel",
        core("codel\", ecn = true", "fq-codel\", ecn = false"),
    );
    add(
        "core, fq-codel and codel",
        core("fq-codel\", ecn = false", "codel\", ecn = true"),
    );
    add(
        "core, ecn the other way",
        core("codel\", ecn = false", "fq-codel\", ecn = true"),
    );
    add("core, drop-tail", core("drop-tail\"", "drop-tail\""));
    add("mesh, flow_rate", rated());
    for (name, model) in SLOTTED {
        add(&format!("slotted, {name}"), (*model).to_owned());
    }
    add("assignment", assignment("rate = \"12 Mbit/s\"", ASSIGNED));
    add(
        "assignment, sinr, adjusted",
        assignment("rate = \"24 Mbit/s\"", ASSIGNED).replace(
            "radios = 2",
            "radios = 2\navailable = [1, 2]\ninterference = \"sinr\"\nrates = \"adjusted\"",
        ),
    );
    add(
        "assignment, flow_rates given",
        assignment(
            "rate = \"12 Mbit/s\"",
            "[assignment]\nflow_rates = \"given\"\n",
        )
        .replace(
            "medium = \"wifi\"",
            "medium = \"wifi\", channel = 1, flow_rate = \"1 Mbit/s\"",
        ),
    );
    for (name, topology) in TOPOLOGIES {
        add(&format!("topology, {name}"), topology_of(topology));
    }
    add("topology, sites, none", in_range());
    for control in controls() {
        all.push(Base {
            name: format!("wires, {control}"),
            text: wires("", "queue = \"15 packets\""),
            set: vec![("tcp.congestion_control".to_owned(), control)],
        });
    }
    all
}

/// A line whose wires are impaired; `laws` are those of the jitters there and back.
fn impaired([there, back]: [&str; 2]) -> String {
    let link = format!(
        "link = {{ rate = \"6 Mbit/s\", delay = \"10 ms\", queue = \"15 packets\", loss_back = 0.001, \
         impairments = {{ jitter = \"2 ms\", {there}, duplicate = 0.01, \
         bursts = {{ p = 0.002, r = 0.3, loss_good = 0.001, loss_bad = 0.8 }} }}, \
         impairments_back = {{ jitter = \"1 ms\", {back}, reorder = 0.02 }} }}"
    );
    line(&link)
}

/// A line that loses packets here and there, and on which they overtake each other. PAWS would
/// refuse the acknowledgments that were overtaken.
fn overtaking() -> String {
    let there = "{ jitter = \"8 ms\", jitter_law = \"normal\", in_order = false, \
                 bursts = { p = 0.02, r = 0.5, loss_good = 0.02, loss_bad = 0.5 } }";
    let link = format!(
        "link = {{ rate = \"20 Mbit/s\", delay = \"40 ms\", queue = \"60 packets\", \
         impairments = {there}, impairments_back = {there} }}"
    );
    line(&link) + "[tcp]\ncongestion_control = \"bbr\"\npaws = false\n"
}

/// A line whose wires carry rates over time, until the last second.
fn capacities(at_end: &str) -> String {
    let steps = |first: &str, pause: &str| {
        format!(
            "{{ at_end = \"{at_end}\", steps = [{{ at = \"0 s\", rate = \"{first}\" }}, \
             {{ at = \"2 s\", rate = \"{pause}\" }}, {{ at = \"3 s\", rate = \"4 Mbit/s\" }}] }}"
        )
    };
    line(&format!(
        "link = {{ rate = \"6 Mbit/s\", delay = \"10 ms\", queue = \"15 packets\", \
         capacity = {}, capacity_back = {} }}",
        steps("6 Mbit/s", "none"),
        steps("5 Mbit/s", "200 kbit/s"),
    ))
}

/// A gateway, two routers and a server in a line.
fn line(link: &str) -> String {
    format!(
        r#"
duration = "6 s"
[topology]
kind = "chain"
nodes = 2
{link}
[[gateway]]
node = "epc"
attach = "enb1"
{link}
[[server]]
node = "server"
attach = "enb2"
{link}
[[flow]]
kind = "transfer"
from = "server"
to = "epc"
size = "2 MB"
[[flow]]
kind = "udp"
from = "epc"
to = "server"
rate = "1 Mbit/s"
{RECORD}"#
    )
}

/// Two ways of one length and unlike delay from a to d, over which a's packets go in turn. The
/// second way loses packets, and the first one is cut for a while.
fn wires(tcp: &str, queue: &str) -> String {
    format!(
        r#"
duration = "6 s"
[topology]
kind = "graph"
node = [{{ id = "a" }}, {{ id = "b" }}, {{ id = "c" }}, {{ id = "d", kind = "router" }}]
link = [
    {{ a = "a", b = "b", rate = "6 Mbit/s", delay = "10 ms", {queue} }},
    {{ a = "b", b = "d", rate = "6 Mbit/s", delay = "10 ms", {queue} }},
    {{ a = "a", b = "c", rate = "5 Mbit/s", delay = "13 ms", {queue} }},
    {{ a = "c", b = "d", rate = "5 Mbit/s", delay = "13 ms", loss = 0.003, {queue} }},
]
[routing]
protocol = "shortest-path"
spray = ["a"]
{tcp}
[[flow]]
kind = "transfer"
from = "a"
to = "d"
size = "2 MB"
[[flow]]
kind = "transfer"
from = "d"
to = "a"
size = "exponential 100 kB"
gap = "exponential 200 ms"
count = 4
start = "300 ms"
[[flow]]
kind = "on-off"
from = "b"
to = "d"
rate = "2 Mbit/s"
on = "100 ms"
off = "300 ms"
[[failure]]
link = "a-b"
at = "2 s"
until = "2.6 s"
[[failure]]
node = "d"
at = "4 s"
until = "4.5 s"
{RECORD}capture = ["d"]
"#
    )
}

/// Nine eNodeBs in a square behind two gateways, a UE at each, and a link that fails.
fn mesh(routing: &str) -> String {
    format!(
        r#"
duration = "4 s"
[topology]
kind = "grid"
rows = 3
columns = 3
link = {{ rate = "8 Mbit/s", delay = "2 ms", queue = "30 packets" }}
[[gateway]]
attach = ["enb1", "enb9"]
x = "-100 m"
y = "150 m"
link = {{ rate = "16 Mbit/s", delay = "1 ms", queue = "30 packets" }}
[[server]]
attach = "epc"
link = {{ rate = "100 Mbit/s", delay = "5 ms", queue = "100 packets" }}
[access]
kind = "ideal"
rate = "10 Mbit/s"
delay = "5 ms"
queue = "30 kB"
ues = 9
[routing]
{routing}
[[flow]]
kind = "download"
to = ["ue5", "ue6", "ue3"]
size = "400 kB"
start = "uniform 0 s 300 ms"
[[flow]]
kind = "upload"
from = ["ue7", "ue6"]
size = "150 kB"
start = "every 300 ms from 200 ms"
[[flow]]
kind = "udp"
from = "enb4"
to = "enb6"
rate = "1 Mbit/s"
[[failure]]
link = "enb5-enb6"
at = "1 s"
until = "2 s"
[[failure]]
node = "enb2"
at = "1.5 s"
until = "2.5 s"
{RECORD}capture = ["enb5"]
"#
    )
}

const RADIOS: [(&str, &str, &str); 17] = [
    (
        "802.11a, shortest-path",
        "protocol = \"shortest-path\"",
        "standard = \"802.11a\"\nrate = \"12 Mbit/s\"",
    ),
    (
        "802.11b, in range, fading",
        "protocol = \"aodv\"",
        "standard = \"802.11b\"\nfading = \"rayleigh\"\nneighbours = \"in-range\"\nrate = \"11 Mbit/s\"",
    ),
    (
        "802.11g, threshold",
        "protocol = \"shortest-path\"",
        "standard = \"802.11g\"\nrate = \"6 Mbit/s\"\nrts_threshold = \"500 B\"\n\
         reception = { model = \"threshold\", sensitivity = \"-70 dBm\", capture = \"2 dB\" }\ncarrier_sense = \"-72 dBm\"\n\
         recapture = \"10 dB\"",
    ),
    (
        "dsss",
        "protocol = \"shortest-path\"",
        "standard = \"802.11-dsss\"\nfading = { model = \"nakagami\", m = 2 }",
    ),
    (
        "ns2, aodv",
        "protocol = \"aodv\"\nprofile = \"ns2\"",
        "profile = \"ns2\"",
    ),
    (
        "aodv, lifetime",
        "protocol = \"aodv\"",
        "rate = \"6 Mbit/s\"\nlifetime = \"20 ms\"\nqueue = \"200 packets\"",
    ),
    (
        "aodv, etx",
        "protocol = \"aodv\"\nmetric = \"etx\"",
        "loss = 0.2\nlossy_links = [\"n1-n2\"]",
    ),
    (
        "olsr",
        "protocol = \"olsr\"\nhello_interval = \"200 ms\"\ntc_interval = \"400 ms\"\nwarm_up = \"2 s\"",
        "loss = 0.2\nlossy_share = 0.5",
    ),
    (
        "tcp-aware-bp, coding",
        "protocol = \"tcp-aware-bp\"",
        "profile = \"ns2\"\nloss = 0.2\n[coding]\npayload = true",
    ),
    (
        "utility",
        "protocol = \"tcp-aware-bp\"",
        "profile = \"ns2\"\n[[flow]]\nkind = \"udp\"\nfrom = \"n5\"\nto = \"n2\"\nrate = \"1 Mbit/s\"\n\
         control = \"utility\"",
    ),
    (
        "codel",
        "protocol = \"shortest-path\"\n[tcp]\necn = \"classic\"",
        "rate = \"6 Mbit/s\"\nqueue = { discipline = \"codel\", limit = \"30 packets\", ecn = true }",
    ),
    (
        "fq-codel",
        "protocol = \"shortest-path\"",
        "rate = \"6 Mbit/s\"\nqueue = { discipline = \"fq-codel\", limit = \"30 packets\", ecn = false }",
    ),
    (
        "drop-tail",
        "protocol = \"shortest-path\"",
        "rate = \"6 Mbit/s\"\nqueue = { discipline = \"drop-tail\", limit = \"5 packets\" }",
    ),
    (
        "l2.5r, two channels",
        "protocol = \"l2.5r\"",
        "channels = [1, 6]\nrate = \"6 Mbit/s\"",
    ),
    (
        "bp-mr",
        "protocol = \"bp-mr\"\nwarm_up = \"500 ms\"",
        "rate = \"6 Mbit/s\"",
    ),
    (
        "802.11b, babel",
        "protocol = \"babel\"\nhello_interval = \"200 ms\"\nsmoothing_half_life = \"0 s\"\nwarm_up = \"4 s\"",
        "standard = \"802.11b\"\nfading = \"rayleigh\"\nneighbours = \"in-range\"\nrate = \"11 Mbit/s\"",
    ),
    (
        "batman V",
        "protocol = \"batman\"\norig_interval = \"200 ms\"\nelp_interval = \"100 ms\"\n\
         aggregation = \"20 ms\"\nwarm_up = \"2 s\"",
        "loss = 0.2\nlossy_share = 0.5",
    ),
];

/// Six routers in two rows, of which the corners are far from each other, and one that fails.
fn radios(routing: &str, wifi: &str) -> String {
    let node = |number: u32| {
        let (x, y) = (100 * (number % 3), 90 * (number / 3));
        format!("{{ id = \"n{number}\", kind = \"router\", x = \"{x} m\", y = \"{y} m\" }},")
    };
    let link = |(a, b): (u32, u32)| format!("{{ a = \"n{a}\", b = \"n{b}\", medium = \"wifi\" }},");
    let nodes: String = (0..6).map(node).collect();
    let gain = if wifi.contains("ns2") {
        ""
    } else {
        "antenna_gain = \"8 dB\"\n"
    };
    let links: String = [(0, 1), (1, 2), (0, 3), (3, 4), (1, 4), (4, 5), (2, 5)]
        .map(link)
        .concat();
    format!(
        r#"
duration = "3 s"
[topology]
kind = "graph"
node = [{nodes}]
link = [{links}]
[routing]
{routing}
[[flow]]
kind = "transfer"
from = "n0"
to = ["n2", "n5"]
size = "endless"
[[flow]]
kind = "udp"
from = "n3"
to = "n5"
rate = "300 kbit/s"
[[failure]]
node = "n1"
at = "1.5 s"
until = "2.2 s"
{RECORD}capture = ["n4"]
[wifi]
{gain}{wifi}
"#
    )
}

const TWO_CELLS: &str = "[[access.ue]]\nnear = \"enb1\"\ndistance = \"240 m\"\nspeed = \"300 km/h\"\n\
    heading = \"outward\"\nuntil = \"600 m\"\n[[access.ue]]\nx = \"200 m\"\ny = \"100 m\"\n\
    [[access.ue]]\nnear = \"enb2\"\ndistance = \"700 m\"\nspeed = \"60 km/h\"\n\
    heading = \"inward\"\n";

const CELLS: [(&str, &str); 13] = [
    ("two cells", "rlc = { buffer = \"60 packets\" }\n"),
    (
        "fading",
        "fading = \"eva\"\nshadowing = { model = \"fixed\", deviation = \"6 dB\", correlation_distance = \"50 m\" }\n\
         cqi = { sub_band = true }\nlayers = 2\n",
    ),
    (
        "um",
        "rlc = { mode = \"um\", aqm = \"codel\" }\nfading = \"epa\"\n",
    ),
    ("lena", "profile = \"lena\"\nfading = \"etu\"\n"),
    (
        "lena am, ideal requests",
        "profile = \"lena\"\nrlc = { mode = \"am\" }\nhandover = \"a3\"\n",
    ),
    (
        "carriers",
        "carrier = [{ bandwidth = \"5 MHz\", frequency = \"2.655 GHz\" }, \
         { bandwidth = \"1.4 MHz\", frequency = \"1.8 GHz\" }]\nattach = \"standard\"\n\
         path_loss = \"urban-micro\"\nshadowing = \"path-loss\"\n",
    ),
    (
        "low band",
        "carrier = [{ bandwidth = \"3 MHz\", frequency = \"800 MHz\" }]\n\
         path_loss = \"okumura-hata\"\nqam256 = true\ncontrol_errors = true\n",
    ),
    (
        "log-distance",
        "path_loss = { model = \"log-distance\", exponent = 3, reference_loss = \"38 dB\" }\n",
    ),
    (
        "traces",
        "channel = { sinr = \"radio\", at_end = \"repeat\" }\n\
         carrier = [{ bandwidth = \"10 MHz\", frequency = \"1.8 GHz\" }]\npath_loss = \"cost231-hata\"\n",
    ),
    ("every UE has a channel of its own", ""),
    (
        "every UE has a mean of its own",
        "# Of its own.\nfading = \"eva\"\nfading_speed = \"60 km/h\"\n",
    ),
    (
        "a mean for all",
        "fading = \"epa\"\nfading_speed = \"60 km/h\"\n\
         channel = { sinr = \"radio\", at_end = \"repeat\" }\n",
    ),
    (
        "a trace of fading",
        "carrier = [{ bandwidth = \"1.4 MHz\", frequency = \"1.8 GHz\" }]\n\
         fading_trace = { file = \"fades\", window = \"3 ms\" }\n",
    ),
];

/// Two cells that interfere, a UE that is handed over, one between them and one that comes near.
fn cells(access: &str) -> String {
    let mut ues = TWO_CELLS.to_owned();
    if access.contains("\"fades\"") {
        let lines = "0 -3 2 -12 1\\n-2 -6 0 -1 3\\n".repeat(3);
        ues += &format!("[[trace]]\nfile = \"fades\"\nof = \"fading\"\nsource = \"{lines}\"\n");
    }
    if access.is_empty() || access.starts_with("# Of its own") {
        let own = "[[access.ue]]\nchannel = { sinr = \"radio\", at_end = \"hold\" }\n";
        ues = ues.replace("[[access.ue]]\n", own);
        ues += "[[trace]]\nfile = \"radio\"\nof = \"sinr\"\nsource = \"time_s,sinr_db\\n0,12\\n1,3\\n\"\n";
    } else if access.contains("\"radio\"") {
        ues += "[[access.ue]]\ntrace = \"way\"\nchannel = { cqi = \"report\", at_end = \"hold\" }\n\
                [[trace]]\nfile = \"radio\"\nof = \"sinr\"\n\
                source = \"time_s,sinr_db\\n0,12\\n0.5,3\\n1,18\\n\"\n\
                [[trace]]\nfile = \"report\"\nof = \"cqi\"\n\
                source = \"time_s,cqi\\n0,9\\n0.5,4\\n1,13\\n\"\n\
                [[trace]]\nfile = \"way\"\nof = \"way\"\n\
                source = \"time_s,x_m,y_m\\n0,10,0\\n2,400,10\\n\"\n";
    }
    format!(
        r#"
duration = "2 s"
[topology]
kind = "chain"
nodes = 2
spacing = "500 m"
link = {{ rate = "100 Mbit/s", delay = "1 ms", queue = "100 packets" }}
[[gateway]]
attach = "enb1"
link = {{ rate = "100 Mbit/s", delay = "1 ms", queue = "100 packets" }}
[[server]]
attach = "epc"
link = {{ rate = "200 Mbit/s", delay = "5 ms", queue = "200 packets" }}
[[flow]]
kind = "download"
size = "endless"
[[flow]]
kind = "upload"
size = "endless"
start = "200 ms"
[[flow]]
kind = "udp"
from = "server"
to = "ue2"
rate = "500 kbit/s"
[record]
series = ["radio", "cwnd"]
interval = "20 ms"
capture = ["enb2"]
[access]
kind = "lte"
{access}{ues}"#
    )
}

/// A long way on which nothing is lost before the queue is full.
fn long(control: &str) -> String {
    format!(
        r#"
duration = "12 s"
[topology]
kind = "chain"
nodes = 2
link = {{ rate = "5 Mbit/s", delay = "100 ms", queue = "1 bdp" }}
[tcp]
congestion_control = "{control}"
initial_ssthresh_pkts = 20
[[flow]]
kind = "transfer"
from = "enb1"
to = "enb2"
size = "endless"
{RECORD}"#
    )
}

/// A queue of Vegas's making, and after the failure of a link a way of ten times the delay.
fn detour() -> String {
    format!(
        r#"
duration = "12 s"
[topology]
kind = "graph"
node = [{{ id = "a" }}, {{ id = "b" }}, {{ id = "c" }}, {{ id = "d" }}]
link = [
    {{ a = "a", b = "b", rate = "3 Mbit/s", delay = "5 ms", queue = "60 packets" }},
    {{ a = "b", b = "d", rate = "3 Mbit/s", delay = "5 ms", queue = "60 packets" }},
    {{ a = "a", b = "c", rate = "3 Mbit/s", delay = "50 ms", queue = "60 packets" }},
    {{ a = "c", b = "d", rate = "3 Mbit/s", delay = "50 ms", queue = "60 packets" }},
]
[routing]
protocol = "shortest-path"
[tcp]
congestion_control = "vegas"
[[flow]]
kind = "transfer"
from = "a"
to = "d"
size = "endless"
[[failure]]
link = "a-b"
at = "3 s"
until = "12 s"
[[failure]]
node = "d"
at = "3 s"
until = "3.6 s"
{RECORD}"#
    )
}

/// A mesh whose queues before and behind the gateway are of these disciplines.
fn core(gateway: &str, server: &str) -> String {
    let queue = |discipline: &str| {
        format!("queue = {{ discipline = \"{discipline}, limit = \"20 packets\" }}")
    };
    mesh("protocol = \"shortest-path\"\n[tcp]\necn = \"classic\"")
        .replace(
            "rate = \"16 Mbit/s\", delay = \"1 ms\", queue = \"30 packets\"",
            &format!("rate = \"4 Mbit/s\", delay = \"1 ms\", {}", queue(gateway)),
        )
        .replace(
            "rate = \"100 Mbit/s\", delay = \"5 ms\", queue = \"100 packets\"",
            &format!("rate = \"5 Mbit/s\", delay = \"5 ms\", {}", queue(server)),
        )
}

/// Two rows of four stations, of which one on the way dies.
fn ladder() -> String {
    r#"
duration = "12 s"
[topology]
kind = "cells"
rows = 2
columns = 4
link = { medium = "wifi" }
[wifi]
profile = "ns2"
loss = 0.0
[routing]
protocol = "aodv"
[[flow]]
kind = "udp"
rate = "200 kbit/s"
from = ["n1", "n5"]
to = ["n4", "n8"]
[[failure]]
node = "n3"
at = "3 s"
until = "9 s"
[[failure]]
node = "n7"
at = "6 s"
"#
    .to_owned()
}

/// A mesh in which every link between routers says how much it is to carry.
fn rated() -> String {
    let spare = "[[gateway]]\nnode = \"spare\"\nattach = \"enb5\"\n\
                 link = { rate = \"1 Mbit/s\", delay = \"9 ms\", flow_rate = \"none\", flow_rate_back = \"none\" }\n";
    (mesh("protocol = \"l2.5r\"") + spare)
        .replace(
            "delay = \"2 ms\"",
            "delay = \"2 ms\", flow_rate = \"2 Mbit/s\", flow_rate_back = \"1 Mbit/s\"",
        )
        .replace(
            "delay = \"1 ms\"",
            "delay = \"1 ms\", flow_rate = \"3 Mbit/s\", flow_rate_back = \"2 Mbit/s\"",
        )
}

/// Two cells whose UEs have what recorded traces say, half of them what all have.
fn traced(queue: &str) -> String {
    r#"
duration = "4 s"
[topology]
kind = "chain"
nodes = 2
link = { rate = "100 Mbit/s", delay = "1 ms", queue = "100 packets" }
[[server]]
attach = "enb1"
link = { rate = "100 Mbit/s", delay = "5 ms", queue = "100 packets" }
[access]
kind = "trace"
ues = 4
placement = "random"
downlink = ["table", "lines"]
uplink = "lines"
at_end = "repeat"
QUEUE
[[trace]]
file = "table"
of = "capacity"
source = "time_s,rate_bps\n0,6e6\n0.4,1e6\n1,3e6\n"
[[trace]]
file = "lines"
of = "capacity"
source = "1\n3\n4\n9\n10\n"
[[flow]]
kind = "download"
size = "endless"
[[flow]]
kind = "upload"
size = "endless"
[record]
series = ["cwnd", "goodput", "queue"]
interval = "50 ms"
"#
    .replace("QUEUE", queue)
}

const SLOTTED: [(&str, &str); 3] = [
    (
        "collision domain",
        "[slotted]\nslots = 3000\nwarm_up_slots = 500\ninterference = \"collision-domain\"\n\
         buffer_pkts = 40\nk_pkts = 5\nsample_slots = 50\n\
         link = [{ from = \"I\", to = \"R1\" }, { from = \"I\", to = \"R2\", on = 0.7 }]\n\
         flow = [{ from = \"I\", to = \"R1\", rate = 0.4 },\n\
         { from = \"I\", to = \"R2\", arrivals = \"window\", window_pkts = 3, ack_delay_slots = 4 },\n\
         { name = \"other\", from = \"I\", to = \"R2\", arrivals = \"constant\", rate = 0.1 }]\n\
         [slotted.region]\nflows = [\"I-R1\", \"other\"]\npoints = 3\n",
    ),
    (
        "primary",
        "[slotted]\nslots = 3000\ninterference = \"primary\"\nsample_slots = 100\nbuffer_pkts = 200\n\
         link = [{ from = \"A\", to = \"B\" }, { from = \"B\", to = \"D\", on = 0.9 }, { from = \"A\", to = \"C\" },\n\
         { from = \"C\", to = \"D\", rate_pkts = 2 }, { from = \"B\", to = \"C\" }, { from = \"D\", to = \"E\" }]\n\
         flow = [{ from = \"A\", to = \"D\", arrivals = \"utility\" }, { from = \"B\", to = \"E\", rate = 0.2 },\n\
         { from = \"A\", to = \"E\", arrivals = \"window\", growth = \"fixed\", window_pkts = 8 }]\n",
    ),
    (
        "conflicts",
        "[slotted]\nslots = 3000\ninterference = \"conflicts\"\nconflicts = [[\"A-B\", \"B-C\"], [\"B-C\", \"C-D\"]]\n\
         link = [{ from = \"A\", to = \"B\" }, { from = \"B\", to = \"C\" }, { from = \"C\", to = \"D\", on = 0.8 }]\n\
         flow = [{ from = \"A\", to = \"D\", rate = 0.3 }, { from = \"B\", to = \"D\", rate = 0.1, backlog_pkts = 9 }]\n",
    ),
];

/// Two flows over six radios whose channels and flow rates are found before the run.
fn assignment(wifi: &str, assigned: &str) -> String {
    radios("protocol = \"l2.5r\"", wifi) + assigned
}

const ASSIGNED: &str = "[assignment]\nchannels = \"fcra\"\nradios = 2\n\
    demands = [{ from = \"n0\", to = \"n5\" }, { from = \"n0\", to = \"n2\", rate = \"3 Mbit/s\" }]\n";

const TOPOLOGIES: [(&str, &str); 11] = [
    ("tree", "kind = \"tree\"\nbranching = 2\ndepth = 2\n"),
    (
        "ring tree",
        "kind = \"ring_tree\"\nrows = 3\ncolumns = 3\nroot = 5\n",
    ),
    ("diamond", "kind = \"diamond\"\n"),
    ("cells", "kind = \"cells\"\nrows = 2\ncolumns = 3\n"),
    (
        "cells, corners",
        "kind = \"cells\"\nrows = 2\ncolumns = 3\njoined = 8\n",
    ),
    (
        "cells, drawn",
        "kind = \"cells\"\nrows = 2\ncolumns = 3\nnodes = 7\nplacement_seed = \"run\"\n",
    ),
    (
        "sites, k-nearest",
        "kind = \"sites\"\nfile = \"sites.csv\"\nlinks = \"k-nearest\"\n",
    ),
    (
        "sites, mst",
        "kind = \"sites\"\nfile = \"sites.csv\"\nlinks = { rule = \"mst\", extra_degree = 3 }\n",
    ),
    (
        "sites, gabriel",
        "kind = \"sites\"\nfile = \"sites.csv\"\nlinks = { rule = \"gabriel\", connect = false }\n",
    ),
    (
        "sites, recorded",
        "kind = \"sites\"\nfile = \"sites.csv\"\nlinks = { rule = \"recorded\", file = \"links.csv\", connect = true }\n",
    ),
    (
        "scattered",
        "kind = \"scattered\"\nnodes = 9\nspacing = \"7.8 km\"\n\
         links = { rule = \"mst\", extra_degree = 3, extra_length = \"17.2 km\" }\n",
    ),
];

/// Sites whose radios find each other.
fn in_range() -> String {
    "duration = \"1 s\"\n[topology]\nkind = \"sites\"\nfile = \"../wifi_mesh/sites.csv\"\nlinks = { rule = \"none\" }\n\
     [wifi]\nneighbours = \"in-range\"\nrate = \"6 Mbit/s\"\nantenna_gain = \"10 dB\"\n[routing]\nprotocol = \"aodv\"\n\
     [[flow]]\nkind = \"transfer\"\nfrom = \"town-hall\"\nto = \"school\"\nsize = \"50 kB\"\n"
        .to_owned()
}

/// Two downloads over a generated topology; sites are those of the example.
fn topology_of(topology: &str) -> String {
    let link = "link = { rate = \"8 Mbit/s\", delay = \"3 ms\", queue = \"30 packets\" }\n";
    let attach = match topology {
        sites if sites.contains("sites") => "s49",
        cells if cells.contains("cells") => "n1",
        diamond if diamond.contains("diamond") => "source",
        _ => "enb1",
    };
    let (link, delay) = if topology.contains("sites") {
        (link.replace("3 ms", "per length"), "1 ms")
    } else {
        (link.to_owned(), "3 ms")
    };
    let far = match attach {
        "s49" => "s01",
        "n1" => "n6",
        "source" => "sink",
        _ => "enb7",
    };
    format!(
        "duration = \"1 s\"\n[topology]\n{topology}{link}\
         [[server]]\nattach = \"{attach}\"\n\
         link = {{ rate = \"50 Mbit/s\", delay = \"{delay}\", queue = \"1 bdp\" }}\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"server\"\nto = \"{far}\"\nsize = \"100 kB\"\n"
    )
}
