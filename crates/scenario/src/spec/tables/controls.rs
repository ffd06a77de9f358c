//! The congestion controls and their parameters: a line and a section for each.
//!
//! Names, defaults and ranges are those of `backlane_tcp`; a test in `world` holds them equal. A
//! range is published only where the sentence beside the parameter's constant in `backlane_tcp`
//! says so; the others only keep the arithmetic sound.

use super::super::Presence::{Default, Optional};
use super::super::{Key, Kind, Section};
use super::{US_PS, key, words};

/// The number of congestion controls.
pub(super) const COUNT: usize = 17;

/// Their names, as Linux has them.
pub(crate) const NAMES: [&str; COUNT] = {
    let controls = controls(0);
    let mut names = [""; COUNT];
    let mut index = 0;
    while index < COUNT {
        names[index] = controls[index].name;
        index += 1;
    }
    names
};

/// Each congestion control with its section in each profile.
pub(super) const fn controls(profile: usize) -> [Key; COUNT] {
    [
        control("reno", &RENO),
        control("cubic", &CUBIC[profile]),
        control("westwood", &WESTWOOD[profile]),
        control("illinois", &ILLINOIS),
        control("highspeed", &HIGHSPEED[profile]),
        control("hybla", &HYBLA[profile]),
        control("scalable", &SCALABLE[profile]),
        control("vegas", &VEGAS),
        control("veno", &VENO),
        control("htcp", &HTCP),
        control("yeah", &YEAH),
        control("bbr", &BBR),
        control("bbr3", &BBR3),
        control("cdg", &CDG),
        control("dctcp", &DCTCP),
        control("ledbat", &LEDBAT),
        control("lp", &LP[profile]),
    ]
}

const fn control(name: &'static str, section: &'static Section) -> Key {
    key(name, Kind::Table(section), Optional, section.doc)
}

const fn parameters(noun: &'static str, doc: &'static str, keys: &'static [Key]) -> Section {
    Section {
        rules: None,
        noun,
        doc,
        keys,
        tag: None,
    }
}

const fn integer(min: i64, max: i64) -> Kind {
    Kind::Integer { min, max }
}

static RENO: Section = parameters(
    "tcp.reno",
    "Reno (RFC 5681).",
    &[key(
        "hystart",
        words(&["off", "rfc9406"]),
        Default("\"off\""),
        "How the first slow start ends: only by loss, or by HyStart++ (RFC 9406).",
    )],
);

static CUBIC: [Section; 2] = [
    parameters("tcp.cubic", CUBIC_DOC, &CUBIC_KEYS[0]),
    parameters("tcp.cubic", CUBIC_DOC, &CUBIC_KEYS[1]),
];
const CUBIC_DOC: &str = "CUBIC (RFC 9438).";
static CUBIC_KEYS: [[Key; 5]; 2] = [cubic("\"linux\""), cubic("\"ns3\"")];
const fn cubic(hystart: &'static str) -> [Key; 5] {
    [
        key(
            "beta",
            Kind::Number {
                min: 0.1,
                max: 0.95,
            },
            Default("0.7"),
            "Share of the window that a loss leaves, in steps of 1/1024 (RFC 9438 §4.6).",
        ),
        key(
            "c",
            Kind::Number {
                min: 0.01,
                max: 10.0,
            },
            Default("0.4"),
            "How steep the curve is, in packets per second cubed, in steps of 1/1024.",
        ),
        key(
            "hystart",
            words(&["linux", "linux-legacy", "ns3", "rfc9406", "off"]),
            Default(hystart),
            "How slow start ends: as in Linux since 5.6, as before, as in ns-3, by HyStart++ (RFC 9406), or only by loss.",
        ),
        key(
            "fast_convergence",
            Kind::Boolean,
            Default("true"),
            "Whether a flow that lost before it regained its peak gives way (RFC 9438 §4.7).",
        ),
        key(
            "reno_friendly",
            Kind::Boolean,
            Default("true"),
            "Whether the window is at least Reno's (RFC 9438 §4.3).",
        ),
    ]
}

static WESTWOOD: [Section; 2] = [
    parameters("tcp.westwood", WESTWOOD_DOC, &WESTWOOD_KEYS[0]),
    parameters("tcp.westwood", WESTWOOD_DOC, &WESTWOOD_KEYS[1]),
];
const WESTWOOD_DOC: &str = "Westwood+ (Grieco and Mascolo 2004).";
static WESTWOOD_KEYS: [[Key; 3]; 2] = [westwood(0), westwood(1)];
const fn westwood(profile: usize) -> [Key; 3] {
    [
        key(
            "filter",
            words(&["linux", "tustin"]),
            Default(["\"linux\"", "\"tustin\""][profile]),
            "How samples of the bandwidth are smoothed: two averages of weight 1/8, or ns-3's 0.9 of the old and 0.1 of the mean of the last two.",
        ),
        key(
            "sample",
            words(&["linux", "rtt"]),
            Default(["\"linux\"", "\"rtt\""][profile]),
            "What a sample is: what arrived in an RTT and at least 50 ms, or as in ns-3 in one RTT.",
        ),
        key(
            "threshold",
            words(&["after-recovery", "at-loss"]),
            Default(["\"after-recovery\"", "\"at-loss\""][profile]),
            "When the window becomes what the bandwidth fills: at the end of a recovery, or as in ns-3 at the loss.",
        ),
    ]
}

static ILLINOIS: Section = parameters(
    "tcp.illinois",
    "Illinois (Liu, Başar and Srikant 2006).",
    &[
        key(
            "min_window_pkts",
            integer(0, 10_000),
            Default("15"),
            "Below this window it is Reno.",
        ),
        key(
            "theta_rounds",
            integer(1, 1000),
            Default("5"),
            "Rounds of low delay after which it grows fastest again.",
        ),
    ],
);

static HIGHSPEED: [Section; 2] = [
    parameters("tcp.highspeed", HIGHSPEED_DOC, &[per_packet("false")]),
    parameters("tcp.highspeed", HIGHSPEED_DOC, &[per_packet("true")]),
];
const HIGHSPEED_DOC: &str = "HighSpeed TCP (RFC 3649).";
const fn per_packet(default: &'static str) -> Key {
    key(
        "per_packet",
        Kind::Boolean,
        Default(default),
        "Whether growth counts packets acknowledged, as in ns-3, and not acknowledgements, as in Linux.",
    )
}

static HYBLA: [Section; 2] = [
    parameters("tcp.hybla", HYBLA_DOC, &HYBLA_KEYS[0]),
    parameters("tcp.hybla", HYBLA_DOC, &HYBLA_KEYS[1]),
];
const HYBLA_DOC: &str = "Hybla (Caini and Firrincieli 2004).";
static HYBLA_KEYS: [[Key; 3]; 2] = [hybla(0), hybla(1)];
const fn hybla(profile: usize) -> [Key; 3] {
    [
        key(
            "reference_rtt",
            Kind::Duration {
                min_ps: 1_000 * US_PS,
                max_ps: 1_000_000 * US_PS,
            },
            Default(["\"25 ms\"", "\"50 ms\""][profile]),
            "The RTT at which it is Reno.",
        ),
        key(
            "per_packet",
            Kind::Boolean,
            Default(["false", "true"][profile]),
            "Whether congestion avoidance counts packets acknowledged, as in ns-3, and not acknowledgements, as in Linux.",
        ),
        key(
            "starts_from_rho",
            Kind::Boolean,
            Default(["true", "false"][profile]),
            "Whether the window starts at ρ packets, as in Linux, and not at the initial window.",
        ),
    ]
}

static SCALABLE: [Section; 2] = [
    parameters("tcp.scalable", SCALABLE_DOC, &[per_integer("100")]),
    parameters("tcp.scalable", SCALABLE_DOC, &[per_integer("50")]),
];
const SCALABLE_DOC: &str = "Scalable TCP (Kelly 2003).";
const fn per_integer(default: &'static str) -> Key {
    key(
        "per_pkts",
        integer(1, 10_000),
        Default(default),
        "Packets acknowledged per packet of growth, in windows larger than this.",
    )
}

static VEGAS: Section = parameters(
    "tcp.vegas",
    "Vegas (Brakmo and Peterson 1995).",
    &[
        key(
            "alpha_pkts",
            integer(1, 1000),
            Default("2"),
            "Fewer queued packets than this let the window grow.",
        ),
        key(
            "beta_pkts",
            integer(1, 1000),
            Default("4"),
            "More queued packets than this let it shrink; at least alpha_pkts.",
        ),
        key(
            "gamma_pkts",
            integer(1, 1000),
            Default("1"),
            "More queued packets than this end slow start.",
        ),
    ],
);

static VENO: Section = parameters(
    "tcp.veno",
    "Veno (Fu and Liew 2003).",
    &[key(
        "beta_pkts",
        integer(1, 10),
        Default("3"),
        "From this backlog on a loss is one of congestion.",
    )],
);

static HTCP: Section = parameters(
    "tcp.htcp",
    "H-TCP (Leith and Shorten 2004).",
    &[
        key(
            "rtt_scaling",
            Kind::Boolean,
            Default("true"),
            "Whether growth is scaled by the RTT.",
        ),
        key(
            "bandwidth_switch",
            Kind::Boolean,
            Default("true"),
            "Whether the reduction adapts only while the throughput stays within a fifth.",
        ),
    ],
);

static YEAH: Section = parameters(
    "tcp.yeah",
    "YeAH (Baiocchi, Castellani and Vacirca 2007).",
    &[
        key(
            "alpha_pkts",
            integer(1, 1000),
            Default("80"),
            "A queue of more packets than this is drained.",
        ),
        key(
            "phi",
            integer(1, 100),
            Default("8"),
            "A delay beyond this part of the smallest RTT ends the fast mode.",
        ),
    ],
);

static CDG: Section = parameters(
    "tcp.cdg",
    "CDG (Hayes and Armitage 2011).",
    &[
        key(
            "window_rounds",
            integer(1, 256),
            Default("8"),
            "Rounds over which the gradients of the RTT are summed.",
        ),
        key(
            "backoff_beta_1024",
            integer(0, 1024),
            Default("724"),
            "Share of the window that a back-off leaves, in 1024ths.",
        ),
        key(
            "backoff_factor",
            integer(1, 1000),
            Default("42"),
            "How steeply the probability of a back-off rises with the sum: 1000/(G · window_rounds), with the paper's G = 3.",
        ),
        key(
            "ineffective_backoffs",
            integer(0, 65_535),
            Default("5"),
            "Back-offs in a row without effect after which there is none; 0 is no limit.",
        ),
        key(
            "shadow_window",
            Kind::Boolean,
            Default("true"),
            "Whether a loss is answered by the window without the back-offs.",
        ),
        key(
            "loss_tolerance",
            Kind::Boolean,
            Default("false"),
            "Whether a loss with a queue that is not full leaves the window alone.",
        ),
    ],
);

static BBR: Section = parameters(
    "tcp.bbr",
    "BBR, version 1 (Cardwell et al. 2016).",
    &[
        key(
            "bandwidth_rounds",
            integer(2, 1000),
            Default("10"),
            "Rounds over which the bandwidth is the largest seen.",
        ),
        key(
            "min_rtt_window",
            Kind::Duration {
                min_ps: 1_000_000 * US_PS,
                max_ps: 1_000_000_000 * US_PS,
            },
            Default("\"10 s\""),
            "How long the smallest RTT is valid before the queue is drained to measure it again.",
        ),
    ],
);

static BBR3: Section = parameters(
    "tcp.bbr3",
    "BBR, version 3 (draft-ietf-ccwg-bbr-05).",
    &[
        key(
            "loss_threshold_percent",
            integer(1, 50),
            Default("2"),
            "Share of the packets in flight that may be lost while bandwidth is probed for.",
        ),
        key(
            "ecn_max_rtt",
            Kind::Duration {
                min_ps: 0,
                max_ps: 10_000_000 * US_PS,
            },
            Default("\"5 ms\""),
            "Congestion marks are heeded if the smallest RTT is not longer; 0 s never.",
        ),
    ],
);

static DCTCP: Section = parameters(
    "tcp.dctcp",
    "DCTCP (RFC 8257).",
    &[
        key(
            "gain_shift",
            integer(0, 10),
            Default("4"),
            "The weight of a new round trip in α, as the power of one half: 1/16.",
        ),
        key(
            "initial_alpha",
            Kind::Number { min: 0.0, max: 1.0 },
            Default("1.0"),
            "α before the first round trip (RFC 8257 §3.3), in steps of 1/1024.",
        ),
    ],
);

static LEDBAT: Section = parameters(
    "tcp.ledbat",
    "LEDBAT (RFC 6817).",
    &[
        key(
            "target",
            Kind::Duration {
                min_ps: 100 * US_PS,
                max_ps: 100_000 * US_PS,
            },
            Default("\"100 ms\""),
            "The queueing delay aimed at; RFC 6817 allows at most 100 ms.",
        ),
        key(
            "gain",
            Kind::Number {
                min: 0.001,
                max: 1.0,
            },
            Default("1.0"),
            "Packets per round trip that the window gains without a queue; at most 1 (RFC 6817).",
        ),
        key(
            "base_history_minutes",
            integer(1, 1000),
            Default("10"),
            "Minutes for which the smallest delay is remembered.",
        ),
        key(
            "current_filter",
            integer(1, 1000),
            Default("4"),
            "Samples of which the smallest is the present delay.",
        ),
        key(
            "allowed_increase_pkts",
            integer(1, 1000),
            Default("1"),
            "Packets by which the window may exceed the flight.",
        ),
        key(
            "min_window_pkts",
            integer(1, 1000),
            Default("2"),
            "The smallest window.",
        ),
    ],
);

static LP: [Section; 2] = [
    parameters("tcp.lp", LP_DOC, &LP_KEYS[0]),
    parameters("tcp.lp", LP_DOC, &LP_KEYS[1]),
];
const LP_DOC: &str = "TCP-LP (Kuzmanovic and Knightly 2003).";
static LP_KEYS: [[Key; 3]; 2] = [lp("\"paper\""), lp("\"linux\"")];
const fn lp(rules: &'static str) -> [Key; 3] {
    [
        key(
            "rules",
            words(&["paper", "linux"]),
            Default(rules),
            "Whether the range of delays is that of the connection's life and counts from its first loss on, as in the paper, or is measured again after each cut, as in Linux and ns-3.",
        ),
        key(
            "threshold",
            Kind::Number {
                min: 0.01,
                max: 1.0,
            },
            Default("0.15"),
            "The share of the range of one-way delays above which a delay indicates congestion.",
        ),
        key(
            "inference_rtts",
            integer(1, 100),
            Default("3"),
            "Round trips after a cut in which nothing grows and a second sign leaves one packet.",
        ),
    ]
}
