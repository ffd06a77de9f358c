//! The bytes that each flow carries, and the end of the run.

use std::collections::BTreeMap;

use backlane_param::Params;
use backlane_scenario::model::{FlowGroup, Law, Scenario, Start};
use backlane_tcp::Config;
use backlane_units::{Duration, Rate};

use super::paths::{Paths, TCP_HEADER_BYTES, UDP_HEADER_BYTES, Way};
use super::routing::Routing;

/// Pairs of a group that are looked at; beyond, each stands for several.
const MOST_PAIRS: usize = 4096;
/// Steps of the searches for paths of all pairs of a group.
const MOST_STEPS: usize = 4_000_000;
/// Rounds in which unused shares are given to other flows.
const ROUNDS: usize = 8;
/// An endless flow that loses packets at random carries `1.22 MSS / (RTT √p)` (Mathis et al.
/// 1997); CUBIC and BBR more.
const OVER_LOSS: f64 = 1.22 * 1.5;
/// The minimum share of a link that is left under any load.
const LEAST_SHARE: f64 = 0.01;
/// Packets that a short transfer sends beside data: SYN, SYN/ACK.
const HANDSHAKE_PKTS: f64 = 1.0;
/// Segments that are acknowledged one by one at the beginning.
const QUICK_ACKS: f64 = 16.0;
/// Load of a source of another crate that has no key `rate`, in bits per second.
const UNKNOWN_LOAD_BPS: f64 = 1e6;
/// The window at the beginning (RFC 6928).
const INITIAL_WINDOW_PKTS: f64 = 10.0;
/// Slow start doubles the window no more often.
const MOST_DOUBLINGS: f64 = 12.0;
/// The contribution of the queue before a mesh hop to the bound of a window.
const LEAST_RTT_S: f64 = 100e-6;

/// Equal flows: those of a pair, or of several pairs.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    /// The number of flows.
    pub flows: f64,
    /// The number that has started by the end.
    pub started: f64,
    pub there: Way,
    pub back: Way,
    pub is_tcp: bool,
    /// Seconds of use of each resource by one bit of payload, headers and acknowledgments included.
    pub uses: Vec<(usize, f64)>,
    /// Of the group, in the order of the file.
    pub group: usize,
    /// Data packets of a flow.
    pub data_pkts: f64,
    /// Acknowledgments of a flow, SYNs included.
    pub ack_pkts: f64,
    /// Payload bytes that a flow carries.
    pub bytes: f64,
    /// How long a flow is active, in seconds.
    pub active_s: f64,
    /// Payload bytes of a packet.
    pub payload_bytes: f64,
    /// The bytes that a flow has under way at most.
    pub window_bytes: f64,
    size_bits: Option<f64>,
    /// Payload bits per second that the application asks for, on average; TCP asks for all.
    load_bps: Option<f64>,
    /// The most payload bits per second that one flow alone carries.
    solo_bps: f64,
    first_start_s: f64,
    mean_start_s: f64,
    last_start_s: f64,
    stop_s: f64,
    /// Flows that go one after another and the time between two.
    in_turn: Option<(f64, f64)>,
}

/// All flows, and when they end.
pub(super) struct Traffic {
    pub bundles: Vec<Bundle>,
    /// When the traffic ends, after the warm-up, in seconds.
    pub end_s: f64,
    /// Seconds of use of each resource in a second, at most 1.
    pub used: Vec<f64>,
}

fn mean(law: Law<Duration>) -> f64 {
    match law {
        Law::Fixed(time) | Law::Exponential(time) => time.as_secs_f64(),
        Law::Uniform(low, high) => f64::midpoint(low.as_secs_f64(), high.as_secs_f64()),
    }
}

fn mean_bytes(law: Law<u64>) -> f64 {
    match law {
        Law::Fixed(bytes) | Law::Exponential(bytes) => bytes as f64,
        Law::Uniform(low, high) => f64::midpoint(low as f64, high as f64),
    }
}

/// First, mean and last start of `flows` flows, and how many begin before `end_s`.
fn starts(start: Start, flows: f64, end_s: f64) -> (f64, f64, f64, f64) {
    let (first, last) = match start {
        Start::At(at) => (at.as_secs_f64(), at.as_secs_f64()),
        Start::Uniform(from, to) => (from.as_secs_f64(), to.as_secs_f64()),
        Start::Every { first, gap } => {
            let first = first.as_secs_f64();
            (first, first + (flows - 1.0).max(0.0) * mean(gap))
        }
        Start::Staggered => {
            let last = Start::staggered((flows as u64).max(1)).as_secs_f64();
            (Start::staggered(1).as_secs_f64(), last)
        }
    };
    if first >= end_s {
        return (first, first, last, 0.0);
    }
    if last <= first {
        return (first, first, last, flows);
    }
    let until = last.min(end_s);
    let started = flows * (until - first) / (last - first);
    (
        first,
        f64::midpoint(first, until),
        until,
        started.max(1.0).min(flows),
    )
}

/// The time before which OLSR has no routes: neighbours know each other after two HELLOs and all
/// others after an announcement.
fn ready_s(scenario: &Scenario) -> f64 {
    match Routing::of(scenario) {
        Routing::Olsr(olsr) => {
            let known_s = 2.0 * olsr.hello_interval.as_secs_f64() + olsr.tc_interval.as_secs_f64();
            (known_s - scenario.warm_up.as_secs_f64()).max(0.0)
        }
        _ => 0.0,
    }
}

impl Traffic {
    pub fn new(scenario: &Scenario, paths: &mut Paths<'_>) -> Self {
        let mut bundles = Vec::new();
        // Checked values always give one.
        let tcp = Config::read(&scenario.tcp.values).unwrap_or_default();
        for (index, group) in scenario.flows.iter().enumerate() {
            add_group(scenario, &tcp, index, group, paths, &mut bundles);
        }
        let resources = paths.resources();
        let duration_s = scenario.duration.as_secs_f64();
        let mut traffic = Self {
            bundles,
            end_s: duration_s,
            used: vec![0.0; resources],
        };
        traffic.carry(duration_s);
        traffic
    }

    fn sum(&self, of: impl Fn(&Bundle) -> f64) -> Vec<f64> {
        let mut sum = vec![0.0; self.used.len()];
        for bundle in &self.bundles {
            let factor = of(bundle);
            if factor > 0.0 {
                for &(resource, s_per_bit) in &bundle.uses {
                    sum[resource] += factor * s_per_bit;
                }
            }
        }
        sum
    }

    fn carry(&mut self, duration_s: f64) {
        // Loads take their rate, finite flows their volume, endless flows the remainder.
        let loads = self.sum(|b| b.load_bps.map_or(0.0, |bps| bps * b.started));
        let volume = self.sum(|b| match b.size_bits {
            Some(bits) if b.is_tcp => bits * b.started,
            _ => 0.0,
        });
        let mut crowds = vec![[0.0; 2]; self.used.len()];
        for bundle in self.bundles.iter().filter(|bundle| bundle.is_tcp) {
            let is_endless = bundle.size_bits.is_none();
            for &(resource, _) in &bundle.uses {
                crowds[resource][usize::from(is_endless)] += bundle.started;
            }
        }
        let free: Vec<f64> = loads
            .iter()
            .map(|load| (1.0 - load).clamp(LEAST_SHARE, 1.0))
            .collect();
        let endless_share = |resource: usize| {
            let [finite, endless] = crowds[resource];
            endless / (finite + endless).max(1.0)
        };
        self.end_s = self.finish(duration_s, &volume, &free, &endless_share);
        let end_s = self.end_s;
        for bundle in &mut self.bundles {
            let last_s = bundle.stop_s.min(end_s);
            // Data flows after the handshake.
            let first_s = bundle.mean_start_s + if bundle.is_tcp { bundle.rtt_s() } else { 0.0 };
            bundle.active_s = (last_s - first_s).max(0.0);
        }
        for bundle in &mut self.bundles {
            let Some(bits) = bundle.size_bits.filter(|_| bundle.is_tcp) else {
                continue;
            };
            let fits = (bundle.uses.iter())
                .map(|&(resource, _)| end_s * free[resource] / volume[resource])
                .fold(1.0, f64::min);
            bundle.bytes = (bits * fits).min(bundle.solo_bps * bundle.active_s) / 8.0;
            // Its duration is that of a flow alone, or that of all flows that began with it.
            let crowded_s = (bundle.uses.iter())
                .map(|&(resource, _)| {
                    let share = free[resource] * (1.0 - endless_share(resource));
                    volume[resource] / share.max(LEAST_SHARE)
                })
                .fold(0.0, f64::max);
            let starts_s = bundle.last_start_s - bundle.first_start_s;
            let lasts_s = bundle.alone_s(bits).max(crowded_s - starts_s);
            bundle.active_s = bundle.active_s.min(lasts_s);
        }
        let left: Vec<f64> = (0..free.len())
            .map(|resource| {
                let after_finite = free[resource] - volume[resource] / end_s.max(1e-9);
                after_finite.max(free[resource] * endless_share(resource))
            })
            .collect();
        let rates = self.endless(&left, &crowds);
        for (bundle, bps) in self.bundles.iter_mut().zip(rates) {
            // The first flows fill the capacity that all will share.
            let last_s = bundle.stop_s.min(end_s);
            let span_s = (last_s - bundle.first_start_s - bundle.rtt_s()).max(0.0);
            if let Some(bps) = bps {
                let alone = bundle.solo_bps * bundle.active_s;
                bundle.bytes = (bps * span_s).min(alone) / 8.0;
            }
            if let Some(bps) = bundle.load_bps {
                let fits = (bundle.there.uses.iter())
                    .map(|use_| 1.0 / loads[use_.0 as usize])
                    .fold(1.0, f64::min);
                let sent = bps * bundle.active_s;
                let carried = (bps * fits * span_s.max(bundle.active_s)).min(sent);
                // Each hop after the first carries only packets not dropped before it.
                let hops = bundle.there.length().max(1.0);
                bundle.bytes = (sent + carried * (hops - 1.0)) / hops / 8.0;
            }
            bundle.count_packets();
        }
        let span_s = end_s.max(1e-9);
        let used = self.sum(|b| b.bytes * 8.0 * b.started / span_s);
        self.used = used.into_iter().map(|used| used.min(1.0)).collect();
    }

    /// When all finite flows have finished; `duration_s` if there are none.
    fn finish(
        &self,
        duration_s: f64,
        volume: &[f64],
        free: &[f64],
        endless_share: &dyn Fn(usize) -> f64,
    ) -> f64 {
        let mut end_s: Option<f64> = None;
        let earliest = self
            .bundles
            .iter()
            .map(|b| b.first_start_s)
            .fold(f64::MAX, f64::min);
        for bundle in &self.bundles {
            let Some(bits) = bundle.size_bits else {
                continue;
            };
            let mut alone_s = bundle.alone_s(bits);
            if let Some((flows, gap_s)) = bundle.in_turn {
                alone_s = alone_s * flows + gap_s * (flows - 1.0);
            }
            let crowded_s = (bundle.uses.iter())
                .map(|&(resource, _)| {
                    let share = free[resource] * (1.0 - endless_share(resource));
                    earliest + volume[resource] / share.max(LEAST_SHARE)
                })
                .fold(0.0, f64::max);
            let done_s = (bundle.last_start_s + alone_s).max(crowded_s);
            end_s = Some(end_s.unwrap_or(0.0).max(done_s));
        }
        end_s.map_or(duration_s, |end_s| end_s.min(duration_s))
    }

    /// Payload bits per second of each endless flow: equal shares of what it crosses, and then
    /// more where there is room.
    fn endless(&self, left: &[f64], crowds: &[[f64; 2]]) -> Vec<Option<f64>> {
        let mut rates: Vec<Option<f64>> = (self.bundles.iter())
            .map(|bundle| {
                (bundle.is_tcp && bundle.size_bits.is_none()).then(|| {
                    (bundle.uses.iter())
                        .map(|&(resource, s_per_bit)| {
                            left[resource] / (crowds[resource][1].max(1.0) * s_per_bit)
                        })
                        .fold(bundle.solo_bps, f64::min)
                })
            })
            .collect();
        for _ in 0..ROUNDS {
            let mut load = vec![0.0; left.len()];
            for (bundle, bps) in self.bundles.iter().zip(&rates) {
                for &(resource, s_per_bit) in &bundle.uses {
                    load[resource] += bps.unwrap_or(0.0) * bundle.started * s_per_bit;
                }
            }
            for (bundle, bps) in self.bundles.iter().zip(&mut rates) {
                if let Some(bps) = bps {
                    let room = (bundle.uses.iter())
                        .map(|&(resource, _)| left[resource] / load[resource])
                        .fold(f64::MAX, f64::min);
                    *bps = (*bps * room.clamp(1.0, 4.0)).min(bundle.solo_bps);
                }
            }
        }
        rates
    }
}

impl Bundle {
    /// Delay there and back.
    pub fn rtt_s(&self) -> f64 {
        (self.there.delay_s + self.back.delay_s).max(LEAST_RTT_S)
    }

    /// The duration of a lone transfer of this many bits: handshake, slow start, its rate.
    fn alone_s(&self, bits: f64) -> f64 {
        let packets = bits / 8.0 / self.payload_bytes;
        let doublings = libm::log2(1.0 + packets / INITIAL_WINDOW_PKTS).min(MOST_DOUBLINGS);
        bits / self.solo_bps + (1.0 + doublings) * self.rtt_s()
    }

    /// Of sequential flows, the number that gets to start.
    fn take_turns(&mut self, end_s: f64) {
        let (Some((count, gap_s)), Some(bits)) = (self.in_turn, self.size_bits) else {
            return;
        };
        let left_s = (end_s.min(self.stop_s) - self.first_start_s).max(0.0);
        let turns = 1.0 + left_s / (self.alone_s(bits) + gap_s).max(1e-9);
        self.started *= (turns / count).min(1.0);
    }

    fn count_packets(&mut self) {
        self.data_pkts = (self.bytes / self.payload_bytes).max(0.0);
        if !self.is_tcp || self.bytes <= 0.0 {
            return;
        }
        let quick = self.data_pkts.min(QUICK_ACKS);
        self.ack_pkts = HANDSHAKE_PKTS + quick + (self.data_pkts - quick) / 2.0;
        self.data_pkts = self.data_pkts.max(1.0) + HANDSHAKE_PKTS;
    }
}

fn add_group(
    scenario: &Scenario,
    tcp: &Config,
    index: usize,
    group: &FlowGroup,
    paths: &mut Paths<'_>,
    bundles: &mut Vec<Bundle>,
) {
    let ues = scenario.access.as_ref().map_or(0, |access| access.ues);
    let pairs = group.pairs(ues).count();
    if pairs == 0 || group.count == 0 {
        return;
    }
    let is_from_one = group.from.len(ues) == 1;
    let is_to_one = group.to.len(ues) == 1;
    let mut most = MOST_PAIRS;
    if !is_from_one && !is_to_one {
        most = most.min((MOST_STEPS / paths.search_steps().max(1)).max(8));
    }
    let step = pairs.div_ceil(most);
    let looked_at = pairs.div_ceil(step);
    let flows_of_pair = group.count as f64 * pairs as f64 / looked_at as f64;
    let all_flows = pairs as f64 * group.count as f64;
    let end_s = scenario.duration.as_secs_f64();
    let counted = if group.gap.is_some() {
        pairs as f64
    } else {
        all_flows
    };
    let (first_start_s, mean_start_s, last_start_s, started) = starts(group.start, counted, end_s);
    let ready_s = ready_s(scenario);
    let [first_start_s, mean_start_s, last_start_s] =
        [first_start_s, mean_start_s, last_start_s].map(|start_s| start_s.max(ready_s));
    for (from, to) in group.pairs(ues).step_by(step) {
        // A tree is searched from the end that all pairs have in common.
        let [there, back] = if is_to_one && !is_from_one {
            let [back, there] = paths.between(to, from);
            [there, back]
        } else {
            paths.between(from, to)
        };
        let mut bundle = Bundle {
            flows: flows_of_pair,
            started: flows_of_pair * (started / counted).min(1.0),
            there,
            back,
            is_tcp: group.kind.is_tcp(),
            group: index,
            uses: Vec::new(),
            data_pkts: 0.0,
            ack_pkts: 0.0,
            bytes: 0.0,
            active_s: 0.0,
            payload_bytes: f64::from(tcp.mss_bytes()).max(1.0),
            window_bytes: f64::MAX,
            size_bits: group.size.map(|law| mean_bytes(law).max(1.0) * 8.0),
            load_bps: None,
            solo_bps: f64::MAX,
            first_start_s,
            mean_start_s,
            last_start_s,
            stop_s: group.stop.map_or(f64::MAX, Duration::as_secs_f64),
            in_turn: group.gap.map(|gap| (group.count as f64, mean(gap))),
        };
        if let Some(udp) = &group.udp {
            let on = udp.on_off.map_or(1.0, |(on, off)| {
                let (on, off) = (on.as_secs_f64(), off.as_secs_f64());
                on / (on + off).max(1e-12)
            });
            bundle.payload_bytes = f64::from(udp.packet_bytes).max(1.0);
            bundle.load_bps = Some(udp.rate.as_bps() as f64 * on);
            bundle.size_bits = None;
        } else if let Some(values) = &group.source {
            // The rate of another crate's source is known if it has a key `rate`.
            let rate: Option<Rate> = values.quantity("rate");
            bundle.load_bps = Some(rate.map_or(UNKNOWN_LOAD_BPS, |rate| rate.as_bps() as f64));
            bundle.size_bits = None;
        } else {
            bundle.bound_by_window(tcp);
        }
        bundle.use_resources();
        let fastest = bundle.uses.iter().map(|(_, s_per_bit)| 1.0 / s_per_bit);
        bundle.solo_bps = fastest.fold(bundle.solo_bps, f64::min).clamp(1.0, 1e15);
        bundle.take_turns(end_s);
        bundles.push(bundle);
    }
}

impl Bundle {
    /// Sums the use of resources by a bit of payload and its acknowledgments.
    fn use_resources(&mut self) {
        let payload_bits = self.payload_bytes * 8.0;
        let (header_bytes, acks) = if self.is_tcp {
            (TCP_HEADER_BYTES, 0.5)
        } else {
            (UDP_HEADER_BYTES, 0.0)
        };
        let mut uses: BTreeMap<usize, f64> = BTreeMap::new();
        for (way, packets, bytes) in [
            (&self.there, 1.0, self.payload_bytes + header_bytes),
            (&self.back, acks, TCP_HEADER_BYTES),
        ] {
            for &(resource, s_per_bit, s_per_pkt) in &way.uses {
                let s = packets * (s_per_bit * bytes * 8.0 + s_per_pkt) / payload_bits;
                if s > 0.0 {
                    *uses.entry(resource as usize).or_default() += s;
                }
            }
        }
        self.uses = uses.into_iter().collect();
    }

    /// A window that is full waits for a round trip; one that meets random losses stays small.
    fn bound_by_window(&mut self, tcp: &Config) {
        let receive = tcp
            .receive_autotuning_max_bytes()
            .unwrap_or(0)
            .max(tcp.receive_buffer_bytes());
        self.window_bytes = f64::from(receive)
            .min(tcp.send_buffer_bytes() as f64)
            .min(tcp.most_buffered_bytes() as f64)
            .max(1.0);
        let rtt_s = self.rtt_s();
        self.solo_bps = self.window_bytes * 8.0 / rtt_s;
        if self.there.loss > 0.0 {
            let packets = OVER_LOSS / libm::sqrt(self.there.loss);
            self.solo_bps = self
                .solo_bps
                .min(packets * self.payload_bytes * 8.0 / rtt_s);
        }
    }
}
