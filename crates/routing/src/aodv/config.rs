//! Parameters of AODV, and values derived from them.

use backlane_param::ranges::SPAN;
use backlane_param::{Issue, params, words};
use backlane_units::Duration;

use crate::etx::Metric;

words! {
    /// Whose timers, limits and habits.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Profile {
        /// Those of RFC 3561 §10.
        #[default]
        Rfc = "rfc",
        /// Those of ns-2.35.
        Ns2 = "ns2",
        /// Those of ns-3.37.
        Ns3 = "ns3",
    }
}

words! {
    /// Whether nodes send HELLOs.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SendHello {
        /// Where there are wires.
        #[default]
        Auto = "auto",
        /// They do.
        On = "on",
        /// They do not.
        Off = "off",
    }
}

words! {
    /// What happens to the packets that wait in the device for a lost neighbour.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Waiting {
        /// What the profile does.
        #[default]
        Auto = "auto",
        /// They stay, and each is tried.
        Stay = "stay",
        /// They take the next route.
        Reroute = "reroute",
        /// They are dropped.
        Drop = "drop",
    }
}

params! {
    /// Routes found when they are needed (RFC 3561).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Settings {
        /// Whose timers, limits and habits: those of RFC 3561 §10, of ns-2.35, or of ns-3.37. In ns-3
        /// the sequence number of a destination does not grow when a route to it is lost, so that
        /// neighbours answer from their tables, and no node repairs a route.
        profile: Profile = Profile::Rfc;
        /// Whether nodes send HELLOs, by which they notice lost neighbours. "auto" does where there
        /// are wires: over 802.11 the link layer tells. With metric "etx" they are sent in any
        /// case, and with profile "ns3" by default.
        hello: SendHello = SendHello::Auto;
        /// Whether the node before a lost link looks for a way round it: with profile "rfc" if the
        /// destination is at most 10 hops away, with "ns2" if it is nearer than the source.
        local_repair: bool = true;
        /// Packets that wait for routes in one node (ns-2: 64); the oldest makes room for a new
        /// one.
        buffer_pkts: u32 = 64, in 1..=1_000_000;
        /// What happens to the packets that wait in the device for a neighbour that is lost: they stay
        /// there and each is tried, they are taken back for the next route, or they are dropped. "auto"
        /// leaves them with profile "rfc", since RFC 3561 says nothing of them, and drops them with
        /// "ns2", as ns-2.35 does at the first failure and when an error says that the neighbour has
        /// lost its route.
        waiting: Waiting = Waiting::Auto;
        /// What is shortest: links, or the expected number of transmissions, measured by HELLOs as
        /// probes. With "etx" requests go through the whole network, and only the destination
        /// answers.
        metric: Metric = Metric::Hops;
        /// With "etx": losses are counted over so long, at least two HELLOs (De Couto et al.:
        /// 10 s).
        quality_window: Duration = Duration::from_secs(10), in SPAN;
    }
    rules Settings::measures_losses;
}

impl Settings {
    /// Loss measurement needs at least two HELLOs.
    fn measures_losses(&self) -> Vec<Issue> {
        let interval = Hello::RFC.interval;
        let least = interval * 2;
        if self.metric != Metric::Etx || self.quality_window >= least {
            return Vec::new();
        }
        vec![Issue::new(
            &["quality_window", "metric"],
            format!(
                "quality_window is {}, and HELLOs leave every {interval}: no loss would be measured",
                self.quality_window
            ),
            format!("write quality_window = \"{least}\" or more"),
        )]
    }

    /// All parameters for a network with or without `wires`. A wire does not report that its far
    /// end is lost.
    pub fn config(&self, wires: bool) -> Config {
        let mut config = match self.profile {
            Profile::Rfc => Config::rfc(),
            Profile::Ns2 => Config::ns2(),
            Profile::Ns3 => Config::ns3(),
        };
        let hello = match self.hello {
            SendHello::Auto => wires || self.profile == Profile::Ns3,
            SendHello::On => true,
            SendHello::Off => false,
        };
        config.hello = hello.then_some(Hello::RFC);
        if !self.local_repair {
            config.local_repair = LocalRepair::Never;
        }
        if self.waiting != Waiting::Auto {
            config.waiting = self.waiting;
        }
        config.buffer_pkts = self.buffer_pkts as usize;
        config.metric = self.metric;
        config.quality_window = self.quality_window;
        config
    }
}

/// How the wait for an answer grows with each unsuccessful flood of the whole network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backoff {
    /// Doubles each time (RFC 3561 §6.3).
    Doubling,
    /// Grows linearly, as in ns-2.
    Linear,
}

/// When the node before a broken link starts a local repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalRepair {
    /// Never.
    Never,
    /// If the destination is at most this many hops away: `MAX_REPAIR_TTL`.
    Within(u8),
    /// If the packet has travelled more hops than remain, as in ns-2.
    PastTheMiddle,
}

/// HELLO messages, which detect the loss of a neighbour where the link layer does not report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// `HELLO_INTERVAL`.
    pub interval: Duration,
    /// `ALLOWED_HELLO_LOSS`: a neighbour that is silent for this many intervals is lost.
    pub allowed_loss: u32,
}

impl Hello {
    /// The values of RFC 3561 §10.
    pub const RFC: Self = Self {
        interval: Duration::from_secs(1),
        allowed_loss: 2,
    };
}

/// Parameters of AODV, under the names of RFC 3561 §10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// `ACTIVE_ROUTE_TIMEOUT`: a route unused for this long becomes inactive.
    pub active_route_timeout: Duration,
    /// `MY_ROUTE_TIMEOUT`: the lifetime that a destination grants to routes to itself.
    pub my_route_timeout: Duration,
    /// `NODE_TRAVERSAL_TIME`: a conservative estimate of the time for one hop.
    pub node_traversal_time: Duration,
    /// `NET_DIAMETER`: the maximum number of hops between two nodes.
    pub net_diameter: u8,
    /// `PATH_DISCOVERY_TIME`: how long a node remembers a request.
    pub path_discovery_time: Duration,
    /// `RREQ_RETRIES`: floods of the whole network after the first unsuccessful one.
    pub rreq_retries: u32,
    /// How their waits grow.
    pub backoff: Backoff,
    /// The maximum wait.
    pub longest_wait: Duration,
    /// `RREQ_RATELIMIT`: the requests that a node originates per second.
    pub rreq_rate_limit: Option<u32>,
    /// `RERR_RATELIMIT`.
    pub rerr_rate_limit: Option<u32>,
    /// `TTL_START`: the TTL of the first request.
    pub ttl_start: u8,
    /// `TTL_INCREMENT`: the increase of the TTL for the next one.
    pub ttl_increment: u8,
    /// `TTL_THRESHOLD`: above it, a request floods the whole network.
    pub ttl_threshold: u8,
    /// `TIMEOUT_BUFFER`: the margin of a wait over the ring's round trip, in hops.
    pub timeout_buffer: u8,
    /// `DELETE_PERIOD`: how long the sequence number of an inactive route is kept.
    pub delete_period: Duration,
    /// `BLACKLIST_TIMEOUT`: how long requests of a neighbour on the blacklist are ignored.
    pub blacklist_timeout: Duration,
    /// Whether a destination's sequence number grows when a route to it ends.
    pub renews_sequence: bool,
    /// HELLO messages, if they are sent to detect lost neighbours. With ETX they are always sent,
    /// as probes.
    pub hello: Option<Hello>,
    /// Local repair.
    pub local_repair: LocalRepair,
    /// `LOCAL_ADD_TTL`: what a repair adds to the last hop count of the destination.
    pub local_add_ttl: u8,
    /// Whether a source buffers a packet that could not be delivered to its first hop and sends it
    /// on the next route; otherwise the packet is lost.
    pub keeps_undelivered: bool,
    /// What happens to the packets that wait in the device for a lost neighbour; `Auto` leaves them.
    pub waiting: Waiting,
    /// The maximum random delay of a forwarded broadcast, which keeps neighbours from sending at
    /// the same instant.
    pub jitter: Duration,
    /// Packets that wait for routes in one node; the oldest makes room for a new one.
    pub buffer_pkts: usize,
    /// What makes a route short.
    pub metric: Metric,
    /// For ETX: the window over which losses are counted.
    pub quality_window: Duration,
}

impl Config {
    /// The values of RFC 3561 §10. The RFC does not specify the buffer and the jitter; 64 packets
    /// and 10 ms are those of ns-2. The window of ETX is that of De Couto et al. (2003).
    pub fn rfc() -> Self {
        let node_traversal_time = Duration::from_millis(40);
        let net_traversal_time = node_traversal_time * 2 * 35;
        Self {
            active_route_timeout: Duration::from_secs(3),
            my_route_timeout: Duration::from_secs(6),
            node_traversal_time,
            net_diameter: 35,
            path_discovery_time: net_traversal_time * 2,
            rreq_retries: 2,
            backoff: Backoff::Doubling,
            longest_wait: Duration::from_secs(3600),
            rreq_rate_limit: Some(10),
            rerr_rate_limit: Some(10),
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            timeout_buffer: 2,
            delete_period: Duration::from_secs(15),
            blacklist_timeout: net_traversal_time * 2,
            renews_sequence: true,
            hello: Some(Hello::RFC),
            // 0.3 NET_DIAMETER, rounded down.
            local_repair: LocalRepair::Within(10),
            local_add_ttl: 2,
            keeps_undelivered: true,
            waiting: Waiting::Stay,
            jitter: Duration::from_millis(10),
            buffer_pkts: 64,
            metric: Metric::Hops,
            quality_window: Duration::from_secs(10),
        }
    }

    /// The values of ns-2.35 (`aodv/aodv.h`), which relies on the link layer to detect lost
    /// neighbours. It keeps sequence numbers without limit; here the limit is the RFC's five times
    /// `ACTIVE_ROUTE_TIMEOUT`.
    pub fn ns2() -> Self {
        Self {
            active_route_timeout: Duration::from_secs(10),
            my_route_timeout: Duration::from_secs(10),
            node_traversal_time: Duration::from_millis(30),
            net_diameter: 30,
            path_discovery_time: Duration::from_secs(6),
            rreq_retries: 3,
            backoff: Backoff::Linear,
            longest_wait: Duration::from_secs(10),
            rreq_rate_limit: None,
            rerr_rate_limit: None,
            ttl_start: 5,
            ttl_increment: 2,
            ttl_threshold: 7,
            timeout_buffer: 0,
            delete_period: Duration::from_secs(50),
            // ns-2 drops an undelivered reply and does not treat the link as lost.
            blacklist_timeout: Duration::from_ps(0),
            renews_sequence: true,
            hello: None,
            local_repair: LocalRepair::PastTheMiddle,
            local_add_ttl: 2,
            keeps_undelivered: false,
            waiting: Waiting::Drop,
            jitter: Duration::from_millis(10),
            buffer_pkts: 64,
            metric: Metric::Hops,
            quality_window: Duration::from_secs(10),
        }
    }

    /// Those of ns-3.37 (`src/aodv/model`): the timers of the RFC, but a lifetime of replies of twice
    /// `PATH_DISCOVERY_TIME`; no local repair; and a lost packet is lost.
    pub fn ns3() -> Self {
        let rfc = Self::rfc();
        Self {
            my_route_timeout: rfc.path_discovery_time * 2,
            renews_sequence: false,
            local_repair: LocalRepair::Never,
            keeps_undelivered: false,
            ..rfc
        }
    }

    /// `NET_TRAVERSAL_TIME`: the round trip through the whole network.
    pub fn net_traversal_time(&self) -> Duration {
        self.node_traversal_time * 2 * u64::from(self.net_diameter)
    }

    /// The TTL of the request that follows an unsuccessful one with `ttl` (RFC 3561 §6.4).
    pub(super) fn next_ttl(&self, ttl: u8) -> u8 {
        if ttl >= self.ttl_threshold {
            return self.net_diameter;
        }
        ttl.saturating_add(self.ttl_increment)
            .min(self.ttl_threshold)
    }

    /// The wait for an answer to a request with TTL `ttl`: `RING_TRAVERSAL_TIME`, and
    /// `NET_TRAVERSAL_TIME` with its back-off for the `flood`-th flood of the whole network, from
    /// one (RFC 3561 §6.3, §6.4).
    pub(super) fn wait(&self, ttl: u8, flood: u32) -> Duration {
        if ttl < self.net_diameter {
            let hops = u64::from(ttl) + u64::from(self.timeout_buffer);
            return self.node_traversal_time * 2 * hops;
        }
        let times = match self.backoff {
            Backoff::Doubling => 1 << flood.saturating_sub(1).min(20),
            Backoff::Linear => u64::from(flood.max(1)),
        };
        (self.net_traversal_time() * times).min(self.longest_wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings(config: &Config) -> Vec<(u8, u64)> {
        let (mut ttl, mut flood) = (config.ttl_start, 0);
        let mut rings = Vec::new();
        loop {
            if ttl == config.net_diameter {
                flood += 1;
            }
            rings.push((ttl, config.wait(ttl, flood).as_ps() / 1_000_000_000));
            if flood > config.rreq_retries {
                return rings;
            }
            ttl = config.next_ttl(ttl);
        }
    }

    #[test]
    fn rings_widen_and_waits_grow_as_the_rfc_says() {
        // 2 · 40 ms · (TTL + 2), then 2 · 40 ms · 35, doubled twice.
        let expected = [
            (1, 240),
            (3, 400),
            (5, 560),
            (7, 720),
            (35, 2800),
            (35, 5600),
            (35, 11_200),
        ];
        assert_eq!(rings(&Config::rfc()), expected);
    }

    #[test]
    fn rings_widen_and_waits_grow_as_in_ns2() {
        let expected = [
            (5, 300),
            (7, 420),
            (30, 1800),
            (30, 3600),
            (30, 5400),
            (30, 7200),
        ];
        assert_eq!(rings(&Config::ns2()), expected);
    }

    #[test]
    fn derived_parameters_follow_from_the_others() {
        let rfc = Config::rfc();
        assert_eq!(rfc.net_traversal_time(), Duration::from_millis(2800));
        assert_eq!(rfc.path_discovery_time, rfc.net_traversal_time() * 2);
        assert_eq!(rfc.my_route_timeout, rfc.active_route_timeout * 2);
        assert_eq!(rfc.delete_period, rfc.active_route_timeout * 5);
        assert_eq!(
            rfc.blacklist_timeout,
            rfc.net_traversal_time() * u64::from(rfc.rreq_retries)
        );
    }
}
