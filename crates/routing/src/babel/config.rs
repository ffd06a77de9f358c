//! The parameters of Babel.

use backlane_param::ranges::{DELAY, MESSAGE_INTERVAL, SPAN, TIME};
use backlane_param::{Issue, OrAuto, params, words};
use backlane_units::Duration;

words! {
    /// Whose habits where RFC 8966 leaves a choice.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Daemon {
        /// Those of babeld 1.12: two of three HELLOs on a wire, smoothed metrics, no regard of the
        /// carrier.
        #[default]
        Babeld = "babeld",
        /// Those of BIRD 2.0: 12 of 16 HELLOs on a wire, no smoothing, routes withdrawn with the
        /// carrier; feasibility is judged when an update arrives.
        Bird = "bird",
    }
}

words! {
    /// How the cost of a link is found.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Link {
        /// Radios as "wireless", wires as "wired".
        #[default]
        Auto = "auto",
        /// A link is up or down: its cost is rxcost while enough HELLOs arrive.
        Wired = "wired",
        /// By the share of HELLOs that arrive (ETX).
        Wireless = "wireless",
    }
}

params! {
    /// Babel (RFC 8966), as babeld or BIRD run it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Whose habits where RFC 8966 leaves a choice: those of babeld 1.12, or of BIRD 2.0.
        daemon: Daemon = Daemon::Babeld;
        /// Routers start at random times in this span.
        start_spread: Duration = Duration::from_millis(100), in DELAY;
        /// How the cost of a link is found; "auto" is "wireless" for radios and "wired" for wires.
        link: Link = Link::Auto;
        /// The cost of receiving on a good link; if left out, 96 on a wire and 256 over a radio (both
        /// daemons' defaults).
        rxcost: OrAuto<u32> = OrAuto::Auto, in 1..=65_534;
        /// Time between HELLOs (RFC 8966 appendix B: 4 s); at least 2 s with daemon "bird", whose timers
        /// fire once a second.
        hello_interval: Duration = Duration::from_secs(4), in MESSAGE_INTERVAL;
        /// Time between full updates; four times hello_interval if left out (both daemons).
        update_interval: Duration => hello_interval.saturating_mul(4), in SPAN;
        /// Whether a wire is down without its carrier; with daemon "babeld" not, with "bird" so, if
        /// left out (babeld: link-detect, BIRD: check link).
        link_detect: bool => daemon == Daemon::Bird;
        /// A carrier's change is reported after a random time up to this.
        ///
        /// Linux reports changes at once, or, of several within a second, at the end of it.
        carrier_delay: Duration = Duration::ZERO, in DELAY;
        /// With daemon "bird": a wire is up while this number of the last 16 HELLOs arrived (limit).
        limit: u32 = 12, in 1..=16;
        /// With daemon "babeld": the time in which half of a metric's change is counted; zero counts
        /// all at once (smoothing-half-life).
        smoothing_half_life: Duration = Duration::from_secs(4), in TIME;
        /// With daemon "babeld": what a round-trip time of rtt_max adds to a link's cost; zero does not
        /// measure it (max-rtt-penalty; 96 for tunnels).
        rtt_penalty: u32 = 0, in 0..=65_534;
        /// With daemon "babeld": a round-trip time that adds nothing (rtt-min).
        rtt_min: Duration = Duration::from_millis(10), in TIME;
        /// With daemon "babeld": a round-trip time that adds all of rtt_penalty (rtt-max).
        rtt_max: Duration = Duration::from_millis(120), in TIME;
    }
    rules Config::issues;
}

impl Config {
    /// The shortest interval of BIRD's HELLOs: one that is a second late comes before the neighbour
    /// counts it as missed, after 1.5 intervals.
    const BIRD_HELLO: Duration = Duration::from_secs(2);

    fn issues(&self) -> Vec<Issue> {
        let mut issues = Vec::new();
        if self.rtt_max <= self.rtt_min {
            issues.push(Issue::new(
                &["rtt_max", "rtt_min"],
                format!(
                    "rtt_max is {}, and rtt_min {}: no time lies between them",
                    self.rtt_max, self.rtt_min
                ),
                format!("write rtt_max = \"{}\"", self.rtt_min.saturating_mul(12)),
            ));
        }
        if self.daemon == Daemon::Bird && self.hello_interval < Self::BIRD_HELLO {
            issues.push(Issue::new(
                &["hello_interval", "daemon"],
                format!(
                    "HELLOs of BIRD leave up to a second late, and {} is too short to hold a link",
                    self.hello_interval
                ),
                format!("write hello_interval = \"{}\", or more", Self::BIRD_HELLO),
            ));
        }
        if self.update_interval < self.hello_interval {
            issues.push(Issue::new(
                &["update_interval", "hello_interval"],
                format!(
                    "updates leave every {}, more often than HELLOs, every {}",
                    self.update_interval, self.hello_interval
                ),
                format!(
                    "write update_interval = \"{}\"",
                    self.hello_interval.saturating_mul(4)
                ),
            ));
        }
        issues
    }

    /// Whether the links of a port are judged by the share of HELLOs.
    pub(super) fn is_wireless(&self, is_radio: bool) -> bool {
        match self.link {
            Link::Auto => is_radio,
            Link::Wired => false,
            Link::Wireless => true,
        }
    }

    pub(super) fn rxcost(&self, is_wireless: bool) -> u16 {
        let default = if is_wireless { 256 } else { 96 };
        self.rxcost.value().unwrap_or(default) as u16
    }
}
