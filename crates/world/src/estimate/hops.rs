//! The cost of one hop: a wire, a link over radios, a cell.

use backlane_lte::config::RanConfig;
use backlane_param::Params;
use backlane_radio::{PathLoss, Position, Sight};
use backlane_scenario::model::{
    AccessKind, Capacity, QueueConfig, QueueLimit, RadioLink, Scenario,
};
use backlane_wifi::phy::Standard;
use backlane_wifi::{LossLaw, WifiConfig};

/// Bytes of a packet of unknown length.
const USUAL_BYTES: f64 = 1500.0;
/// Bytes of a delivery opportunity of a trace.
const OPPORTUNITY_BYTES: f64 = 1504.0;

/// The maximum seconds per bit of a hop: a link of 1 bit/s.
pub(super) const MOST_S_PER_BIT: f64 = 1.0;

/// The technology of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Over {
    /// A wire whose departures are known on arrival.
    Fifo,
    /// A wire that decides late: CoDel, or routers that keep the queue.
    Deciding,
    /// The shared pipe of an ideal cell.
    Cell,
    /// A link with the capacity of a trace.
    Trace,
    /// A cell of LTE, by its eNodeB's number.
    Lte(u32),
    /// Radios.
    Air,
}

/// A direction between two nodes, or between an eNodeB and its UEs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub from: u32,
    pub over: Over,
    /// Seconds of use per bit.
    pub s_per_bit: f64,
    /// Seconds of use per packet besides its bits.
    pub s_per_pkt: f64,
    /// Attempts per delivered packet.
    pub attempts: f64,
    pub loss: f64,
    pub delay_s: f64,
    /// The maximum backlog before it.
    pub queue_bytes: f64,
    /// The radio channel.
    pub channel: u8,
}

pub(super) fn loss_db(law: &PathLoss, site: Position, user: Position) -> f64 {
    law.loss_db(site, user, Sight::Clear)
}

/// A hop over radios. A frame is the wait before it (DIFS, half of the least contention window),
/// the preamble, the bits, SIFS and an acknowledgment; RTS and CTS go before long ones.
pub(super) fn air(
    wifi: &WifiConfig,
    queue_bytes: f64,
    radio: &RadioLink,
    channel: u8,
    from: u32,
) -> Hop {
    // DIFS, 7.5 or 15.5 slots, preamble, SIFS, ACK (IEEE 802.11-2020 §17, §15; ACK of 14 bytes at
    // 24 and at 2 Mbit/s); RTS, CTS and two SIFS.
    let (overhead_us, rts_us) = match wifi.standard {
        Standard::A | Standard::G => (34.0 + 67.5 + 20.0 + 16.0 + 28.0, 28.0 + 28.0 + 32.0),
        Standard::B | Standard::Dsss => (50.0 + 310.0 + 192.0 + 10.0 + 248.0, 272.0 + 248.0 + 20.0),
    };
    let threshold = wifi.rts_threshold.value();
    let uses_rts = threshold.is_some_and(|threshold| threshold.get() < 1000);
    let bps = radio.rate.unwrap_or(wifi.data_rate()).as_bps() as f64;
    let s_per_bit = 1.0 / bps.max(1.0);
    let mean = match wifi.loss_law {
        LossLaw::Same => 1.0,
        LossLaw::Uniform => 0.5,
    };
    let given = wifi.loss.map_or(0.0, |loss| loss * mean * wifi.lossy_share);
    let loss = radio.loss.unwrap_or(given).clamp(0.0, 0.9);
    let us = overhead_us + if uses_rts { rts_us } else { 0.0 };
    Hop {
        from,
        over: Over::Air,
        s_per_bit,
        s_per_pkt: us * 1e-6 + wifi.overhead.get() as f64 * 8.0 * s_per_bit,
        attempts: 1.0 / (1.0 - loss),
        loss: 0.0,
        delay_s: us * 1e-6 + 12_000.0 * s_per_bit,
        queue_bytes,
        channel,
    }
}

pub(super) fn queue_bytes(queue: &QueueConfig) -> f64 {
    match queue.limit {
        QueueLimit::Bytes(bytes) => bytes.get() as f64,
        QueueLimit::Packets(packets) => packets as f64 * USUAL_BYTES,
    }
}

pub(super) fn mean_bps(capacity: &Capacity) -> f64 {
    match capacity {
        Capacity::Opportunities(list) => {
            let all: f64 = list.iter().map(|&(_, count)| f64::from(count)).sum();
            let last_ms = list.last().map_or(1, |&(ms, _)| ms.max(1));
            all * OPPORTUNITY_BYTES * 8.0 * 1e3 / f64::from(last_ms)
        }
        Capacity::Rates { steps, period } => {
            let ends = steps.iter().skip(1).map(|step| step.0).chain([*period]);
            let bits: f64 = (steps.iter().zip(ends))
                .map(|(step, end)| step.1 as f64 * end.saturating_sub(step.0).as_secs_f64())
                .sum();
            bits / period.as_secs_f64().max(1e-9)
        }
    }
}

/// The configuration of the radio access network, if there is one.
pub(super) fn lte(scenario: &Scenario) -> Option<RanConfig> {
    match &scenario.access.as_ref()?.kind {
        AccessKind::Lte(lte) => RanConfig::read(&lte.values).ok(),
        _ => None,
    }
}

/// The rate of a cell towards a UE at this SINR: three quarters of Shannon's bound, no more than
/// 5.5 bit/s/Hz a layer (64-QAM at its highest rate), a quarter for control and reference symbols.
pub(super) fn lte_bps(lte: &RanConfig, sinr_db: f64) -> f64 {
    let blocks: f64 = lte
        .carrier
        .iter()
        .map(|carrier| f64::from(carrier.n_rb()))
        .sum();
    let ratio = libm::pow(10.0, sinr_db.clamp(-10.0, 40.0) / 10.0);
    let bits_per_hz = (0.75 * libm::log2(1.0 + ratio)).min(5.5);
    let layers = f64::from(lte.layers().max(1));
    (180e3 * blocks * 0.75 * bits_per_hz * layers).max(1e4)
}
