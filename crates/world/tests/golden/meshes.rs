//! Routings on a mesh of wires.

pub(super) const MESHES: [(&str, &str); 18] = [
    ("shortest-path", "protocol = \"shortest-path\""),
    (
        "olsr",
        "protocol = \"olsr\"\nhello_interval = \"200 ms\"\ntc_interval = \"400 ms\"\nwarm_up = \"2 s\"",
    ),
    (
        "ospf",
        "protocol = \"ospf\"\nhello_interval = \"200 ms\"\nbfd = \"50 ms\"\nhash_key = 7",
    ),
    (
        "babel",
        "protocol = \"babel\"\nhello_interval = \"100 ms\"\nsmoothing_half_life = \"1 s\"\n\
         rtt_penalty = 96\nrtt_min = \"1 ms\"\nwarm_up = \"3 s\"",
    ),
    (
        "babel of bird",
        "protocol = \"babel\"\ndaemon = \"bird\"\nhello_interval = \"2 s\"\nwarm_up = \"6 s\"",
    ),
    ("batman V", "protocol = \"batman\"\nwarm_up = \"4 s\""),
    (
        "batman IV",
        "protocol = \"batman\"\nversion = \"IV\"\norig_interval = \"100 ms\"\n\
         aggregation = \"20 ms\"\nwarm_up = \"2 s\"",
    ),
    ("aodv", "protocol = \"aodv\""),
    ("bp", "protocol = \"bp\"\nwarm_up = \"500 ms\""),
    (
        "bp shadow",
        "protocol = \"bp\"\npenalty = \"shadow\"\nv = 50",
    ),
    ("bp wandering, ttl_rule", "protocol = \"bp\"\nv = 0"),
    ("bs", "protocol = \"bs\"\nwarm_up = \"500 ms\""),
    (
        "bp-classic",
        "protocol = \"bp-classic\"\nwarm_up = \"500 ms\"",
    ),
    ("bp-mr", "protocol = \"bp-mr\"\nwarm_up = \"500 ms\""),
    (
        "bp-mr packet",
        "protocol = \"bp-mr\"\nwarm_up = \"500 ms\"\ngranularity = \"packet\"",
    ),
    (
        "bp-mr burst",
        "protocol = \"bp-mr\"\nwarm_up = \"500 ms\"\ngranularity = \"burst\"",
    ),
    (
        "tcp-aware-bp",
        "protocol = \"tcp-aware-bp\"\nwarm_up = \"500 ms\"",
    ),
    ("l2.5r", "protocol = \"l2.5r\""),
];
