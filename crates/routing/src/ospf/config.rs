//! The parameters of OSPF.

use backlane_param::ranges::{DELAY, MESSAGE_INTERVAL, SPAN, TIME};
use backlane_param::{Issue, OrAuto, OrOff, params, words};
use backlane_units::{Duration, Rate};

words! {
    /// Whose habits where RFC 2328 leaves a choice.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Daemon {
        /// Those of FRR's ospfd: a new router-LSA at once, routes at once and then at intervals of
        /// spf_hold that grow.
        #[default]
        Frr = "frr",
        /// Those of BIRD: new router-LSAs and routes once in a tick.
        Bird = "bird",
    }
}

words! {
    /// The state at time zero.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Start {
        /// All adjacencies are full and all databases equal, as in a network that has run for long.
        #[default]
        Converged = "converged",
        /// No router knows of another.
        Cold = "cold",
    }
}

words! {
    /// The cost of a link.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Cost {
        /// reference_rate over the link's rate, from 1 to 65 535.
        #[default]
        Rate = "rate",
        /// The same for all links.
        Fixed = "fixed",
    }
}

words! {
    /// Where packets go between the loss of a neighbour and new routes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum FastReroute {
        /// They are sent into the lost link.
        #[default]
        Off = "off",
        /// They take a loop-free alternate (RFC 5286), where there is one.
        LoopFreeAlternates = "lfa",
    }
}

words! {
    /// What decides which of several equal paths a packet takes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Hash {
        /// Source and destination address (`fib_multipath_hash_policy` 0).
        #[default]
        Addresses = "addresses",
        /// Addresses and ports: each flow on its own (`fib_multipath_hash_policy` 1).
        Ports = "ports",
    }
}

words! {
    /// How packets are spread over equal paths.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Spread {
        /// By a hash: a flow keeps its path.
        #[default]
        Hash = "hash",
        /// LetFlow (Vanini et al., NSDI 2017): each flowlet of a flow takes a random path.
        LetFlow = "letflow",
        /// DRILL (Ghorbani et al., SIGCOMM 2017): each packet takes the shortest of some queues.
        Drill = "drill",
        /// Each packet the next path, by weighted round robin.
        RoundRobin = "round-robin",
    }
}

words! {
    /// The shares of equal paths.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Shares {
        /// Equal (ECMP).
        #[default]
        Equal = "equal",
        /// In proportion to the rates of the first links (WCMP).
        Rate = "rate",
    }
}

params! {
    /// The cost of a link by hand.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct LinkCost as "link" {
        /// The link, as "a-b".
        link: String;
        /// Its cost from a to b.
        cost: u32, in 1..=65_535;
        /// Its cost from b to a, if it is another.
        cost_back: Option<u32>, in 1..=65_535;
    }
}

params! {
    /// Open shortest path first (RFC 2328): one area, point-to-point links, several equal paths.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Whose habits where RFC 2328 leaves a choice: those of FRR 8.4, or of BIRD 2.0.
        daemon: Daemon = Daemon::Frr;
        /// Whether the network has converged when the run begins, or all routers start then.
        start: Start = Start::Converged;
        /// With start "cold": routers start at random times in this span.
        start_spread: Duration = Duration::from_millis(100), in DELAY;
        /// Time between HELLOs (RFC 2328 appendix C.3: 10 s).
        hello_interval: Duration = Duration::from_secs(10), in MESSAGE_INTERVAL;
        /// A neighbour without a HELLO for this time is lost; four times hello_interval if left out
        /// (RFC 2328 appendix C.3).
        dead_interval: Duration => hello_interval.saturating_mul(4), in SPAN;
        /// Time after which what was not acknowledged is sent again (RFC 2328 appendix C.3).
        retransmit_interval: Duration = Duration::from_secs(5), in MESSAGE_INTERVAL;
        /// The cost of a link: by its rate, or the same for all.
        cost: Cost = Cost::Rate;
        /// With cost "rate": the rate of a link of cost 1. Faster links have cost 1 too.
        ///
        /// Both FRR and RFC 2328's successors in vendors' routers begin with 100 Mbit/s, which makes
        /// all faster links equal.
        reference_rate: Rate = Rate::from_bps(100_000_000);
        /// With cost "fixed": the cost of a link (BIRD: 10).
        fixed_cost: u32 = 10, in 1..=65_535;
        /// Costs by hand, in place of those that cost gives.
        costs: Vec<LinkCost> = Vec::new();
        /// The largest number of equal paths in use to one destination; 1 takes the path with the
        /// lowest interface.
        paths: u32 = 64, in 1..=64;
        /// How packets are spread over equal paths: by a hash of each flow, as in routers, or as
        /// switches can do it.
        spread: Spread = Spread::Hash;
        /// With spread "letflow": the gap in a flow after which a new flowlet begins, at the earliest;
        /// at the latest after two (Vanini et al.: 500 µs).
        flowlet_gap: Duration = Duration::from_micros(500), in SPAN;
        /// With spread "letflow": the entries of the table of flowlets, by a packet's hash; flows with
        /// the same entry are one (CONGA: 64 Ki).
        flowlets: u32 = 65_536, in 1..=16_777_216;
        /// With spread "drill": the number of queues that are drawn for each packet (d).
        drill_samples: u32 = 2, in 1..=64;
        /// With spread "drill": the number of queues that are remembered as the shortest (m).
        drill_memory: u32 = 1, in 0..=64;
        /// What decides which of several equal paths a packet takes: its addresses, as by default in
        /// Linux, or its addresses and ports.
        hash: Hash = Hash::Addresses;
        /// The key of the hash, the same in all routers; if left out, each router draws its own.
        ///
        /// With the same key all routers divide traffic alike, so that behind a first division the
        /// others have no effect.
        hash_key: OrAuto<u32> = OrAuto::Auto, in 0..=u32::MAX;
        /// The shares of equal paths: equal, or in proportion to the rates of the first links.
        shares: Shares = Shares::Equal;
        /// Where packets go between the loss of a neighbour and new routes.
        fast_reroute: FastReroute = FastReroute::Off;
        /// The interval of BFD's control packets (RFC 5880), which detect a lost neighbour; "off"
        /// has none. FRR's default is 300 ms.
        bfd: OrOff<Duration> = OrOff::Off, in MESSAGE_INTERVAL;
        /// BFD's detection multiplier: this number of intervals without a packet is a failure.
        bfd_multiplier: u32 = 3, in 1..=255;
        /// The loss of a carrier is reported after a random time up to this.
        ///
        /// Linux reports changes at once, or, of several within a second, at the end of it.
        carrier_delay: Duration = Duration::ZERO, in DELAY;
        /// Time from the computation of routes to their use; 15 ms with daemon "frr", zero with "bird"
        /// if left out.
        ///
        /// FRR hands routes to another process. Its shortest recorded recovery from a lost carrier is
        /// 26 ms, of which 10 ms are two links.
        install_delay: Duration => daemon.install_delay(), in DELAY;
        /// With daemon "bird": time between two updates of router-LSAs and routes.
        tick: Duration = Duration::from_secs(1), in MESSAGE_INTERVAL;
        /// With daemon "frr": the shortest time between two computations of routes; it grows by
        /// this with each that follows too soon.
        spf_hold: Duration = Duration::from_millis(50), in TIME;
        /// With daemon "frr": the longest time between two computations of routes.
        spf_max_hold: Duration = Duration::from_secs(5), in TIME;
    }
    rules Config::issues;
}

impl Daemon {
    fn install_delay(self) -> Duration {
        match self {
            Self::Frr => Duration::from_millis(15),
            Self::Bird => Duration::ZERO,
        }
    }
}

impl Config {
    fn issues(&self) -> Vec<Issue> {
        if self.dead_interval > self.hello_interval {
            return Vec::new();
        }
        vec![Issue::new(
            &["dead_interval", "hello_interval"],
            format!(
                "dead_interval is {}, and HELLOs leave every {}: no adjacency would hold",
                self.dead_interval, self.hello_interval
            ),
            format!(
                "write dead_interval = \"{}\"",
                self.hello_interval.saturating_mul(4)
            ),
        )]
    }

    /// The cost of a link of this rate, if none is given by hand.
    pub fn cost(&self, rate: Rate) -> u16 {
        let cost = match self.cost {
            Cost::Rate => self.reference_rate.as_bps() / rate.as_bps().max(1),
            Cost::Fixed => u64::from(self.fixed_cost),
        };
        cost.clamp(1, u64::from(u16::MAX)) as u16
    }

    /// The shortest time between two router-LSAs of a router. RFC 2328 has 5 s, and so has BIRD;
    /// FRR 8.4 was recorded with two within 5 ms.
    pub(super) fn min_origination(&self) -> Duration {
        match self.daemon {
            Daemon::Frr => Duration::ZERO,
            Daemon::Bird => Duration::from_secs(5),
        }
    }
}
