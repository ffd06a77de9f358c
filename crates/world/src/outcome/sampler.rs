//! Samples of congestion windows, goodput and queues at fixed intervals.
//!
//! Sampling is no event: the run loop stops at each instant, reads the state and continues, so that
//! a run with samples has the same events as one without.

use std::collections::BTreeSet;

use backlane_engine::Interrupt;
use backlane_net::{Link, LinkId};
use backlane_record::{Rows, Table, table};
use backlane_scenario::model::Record;
use backlane_traffic::{ExternalFlow, Flow, Transport};
use backlane_units::{Duration, SimTime};

use crate::infos::{FlowInfo, LinkInfo};
use crate::outcome::carried;
use crate::outcome::radio_series::RadioSeries;
use crate::regions::Parts;
use crate::sink::Sink;

table! {
    /// One row for each TCP flow and sample of its sender (`series = ["cwnd"]`). Counts are totals
    /// since the start of the flow; kernels (`stack = "linux"`) do not report all of them.
    pub(super) struct CwndRow in "series/cwnd" {
        /// Name of the flow.
        entity: String;
        /// Time since the end of the warm-up.
        time_s: f64, "s";
        /// Congestion window.
        cwnd_pkts: u64 as Float, "packets";
        /// Slow-start threshold; null before it is set.
        ssthresh_pkts: Option<u64> as Float, "packets";
        /// Smoothed RTT.
        srtt_s: f64, "s";
        /// Packets in flight.
        in_flight_pkts: u64 as Float, "packets";
        /// Payload delivered in order.
        delivered_bytes: u64, "B";
        /// Reordering degree that the sender assumes.
        reordering_pkts: u64, "packets";
        /// Segments with data or FIN sent, retransmissions included.
        segments_sent: u64;
        /// Segments sent again.
        retransmits: u64;
        /// Duplicate acknowledgments received (RFC 5681 §2).
        duplicate_acks: Option<u64>;
        /// Segments that the receiver reported as received twice (DSACK, RFC 2883).
        spurious_retransmits: u64;
        /// Entries into fast recovery.
        fast_retransmits: Option<u64>;
        /// Retransmission timeouts.
        rtos: Option<u64>;
        /// Reductions of the window that were undone.
        undos: Option<u64>;
    }
}

table! {
    /// One row for each flow and sample (`series = ["goodput"]`).
    pub(super) struct GoodputRow in "series/goodput" {
        /// Name of the flow.
        entity: String;
        /// Time since the end of the warm-up.
        time_s: f64, "s";
        /// Payload delivered in order since the start.
        delivered_bytes: u64, "B";
    }
}

table! {
    /// One row for each link direction and sample (`series = ["queue"]`). A queue of the router
    /// before the link counts with the link.
    pub(super) struct QueueRow in "series/queue" {
        /// Name of the link direction, `<from>-<to>`.
        entity: String;
        /// Time since the end of the warm-up.
        time_s: f64, "s";
        /// Backlog.
        queue_bytes: u64, "B";
        /// Packets in the backlog.
        queue_pkts: u64 as Float, "packets";
        /// Bytes sent since the start of the run.
        sent_bytes: u64, "B";
        /// What it can carry: the mean of a capacity over time since the last sample, and zero
        /// while the link is down.
        capacity_bps: u64 as Float, "bit/s";
    }
}

/// What to sample and when.
#[derive(Default)]
pub(crate) struct Sampler {
    interval: Duration,
    next: Option<SimTime>,
    windows: Vec<(usize, String)>,
    flows: Vec<(usize, String)>,
    links: Vec<(LinkId, String)>,
    cwnd: Rows<CwndRow>,
    goodput: Rows<GoodputRow>,
    queue: Rows<QueueRow>,
    radio: RadioSeries,
}

impl Sampler {
    pub(crate) fn new(
        record: &Record,
        from: SimTime,
        flows: &[FlowInfo],
        links: &[LinkInfo],
        radio: RadioSeries,
    ) -> Self {
        let asked = [&record.flows, &record.links];
        let [of_flows, of_links] =
            asked.map(|list| list.iter().map(String::as_str).collect::<BTreeSet<_>>());
        let wanted = |set: &BTreeSet<&str>, name: &str| set.is_empty() || set.contains(name);
        let named = flows.iter().enumerate();
        let named = named.filter(|(_, flow)| wanted(&of_flows, &flow.name));
        let indexed = |(index, flow): (usize, &FlowInfo)| (index, flow.name.clone());
        let has_window =
            |(_, flow): &(usize, &FlowInfo)| record.cwnd && flow.congestion_control.is_some();
        let windows: Vec<_> = named.clone().filter(has_window).map(indexed).collect();
        let flows: Vec<_> = named.filter(|_| record.goodput).map(indexed).collect();
        let links = links.iter().enumerate().filter_map(|(index, link)| {
            let name = format!("{}-{}", link.from, link.to);
            (record.queue && wanted(&of_links, &name)).then_some((LinkId(index as u32), name))
        });
        let links: Vec<_> = links.collect();
        let nothing = windows.is_empty() && flows.is_empty() && links.is_empty();
        let idle = (nothing && radio.ues() == 0) || record.interval == Duration::ZERO;
        Self {
            interval: record.interval,
            next: (!idle).then(|| from.saturating_add(record.interval)),
            windows,
            flows,
            links,
            radio,
            ..Self::default()
        }
    }

    /// The interval of series of windows, if there are any.
    pub(crate) fn windows_every(&self) -> Option<Duration> {
        (!self.windows.is_empty()).then_some(self.interval)
    }

    /// The instant of the next sample.
    pub(crate) fn next_sample(&self) -> SimTime {
        self.next.unwrap_or(SimTime::MAX)
    }

    /// Takes a sample of everything; times count from the end of the warm-up.
    pub(crate) fn sample(&mut self, parts: &mut Parts<'_>, now: SimTime, warm_up: SimTime) {
        self.next = Some(now.saturating_add(self.interval));
        let time_s = now.saturating_since(warm_up).as_secs_f64();
        for (index, name) in &self.flows {
            let flow = receiving(parts, *index);
            // One sample after the end has the final value.
            let ended = |at: SimTime| at.saturating_add(self.interval) <= now;
            if flow.start.is_none() || flow.finished.is_some_and(ended) {
                continue;
            }
            self.goodput.push(GoodputRow {
                entity: name.clone(),
                time_s,
                delivered_bytes: flow.delivered_bytes(),
            });
        }
        for (index, name) in &self.windows {
            let flow = receiving(parts, *index);
            let (delivered_bytes, source) = (flow.delivered_bytes(), flow.spec.source);
            if flow.finished.is_some_and(|at| at < now) {
                continue;
            }
            let flow = &parts.at(source).application.flows()[*index];
            if let Some(Transport::External(external)) = &flow.transport {
                let row = of_outside(external, name, time_s, delivered_bytes);
                if let Some(row) = row {
                    self.cwnd.push(row);
                }
                continue;
            }
            let Some(Transport::Tcp(tcp)) = &flow.transport else {
                continue;
            };
            let readings = tcp.sender().readings();
            let statistics = tcp.sender().statistics();
            let ssthresh = readings.ssthresh_pkts;
            self.cwnd.push(CwndRow {
                entity: name.clone(),
                time_s,
                cwnd_pkts: u64::from(readings.cwnd_pkts),
                ssthresh_pkts: (ssthresh < 1 << 30).then_some(u64::from(ssthresh)),
                srtt_s: readings.srtt.as_secs_f64(),
                in_flight_pkts: u64::from(readings.in_flight_pkts),
                delivered_bytes,
                reordering_pkts: u64::from(readings.reordering_pkts),
                segments_sent: statistics.segments_sent,
                retransmits: statistics.retransmits,
                duplicate_acks: Some(statistics.duplicate_acks),
                spurious_retransmits: statistics.spurious_retransmits,
                fast_retransmits: Some(statistics.fast_retransmits),
                rtos: Some(statistics.rtos),
                undos: Some(statistics.undos),
            });
        }
        self.radio.sample(parts.first(), time_s);
        for (link, name) in &self.links {
            let ends = &parts.first().network.links()[link.index()];
            let near = ends.from.some().unwrap_or(ends.to);
            let simulation = parts.at(near);
            let own = simulation.router_queue(*link).unwrap_or_default();
            let link = simulation.network.link_mut(*link);
            let queue_bytes = link.backlog_bytes(now) + own.backlog_bytes;
            let queue_pkts = link.backlog_pkts(now) as u64 + own.backlog_pkts;
            let since = (now.as_ps()).saturating_sub(self.interval.as_ps());
            let capacity_bps = capacity_bps(link, SimTime::from_ps(since), now);
            self.queue.push(QueueRow {
                entity: name.clone(),
                time_s,
                queue_bytes,
                queue_pkts,
                sent_bytes: link.counters().bytes,
                capacity_bps,
            });
        }
    }

    /// The number of rows of a sample.
    pub(crate) fn entities(&self) -> u64 {
        (self.flows.len() + self.windows.len() + self.links.len() + self.radio.ues()) as u64
    }

    /// Hands over the series that have at least `least_rows` rows.
    pub(crate) fn hand_over(
        &mut self,
        sink: &mut dyn Sink,
        least_rows: usize,
    ) -> Result<(), Interrupt> {
        for (probe, table) in self.tables() {
            if table.rows() >= least_rows {
                sink.series(probe, table.take())?;
            }
        }
        Ok(())
    }

    /// The samples, by name of the probe; probes without samples are left out.
    pub(crate) fn take(&mut self) -> Vec<(&'static str, Table)> {
        self.tables()
            .into_iter()
            .map(|(probe, table)| (probe, table.take()))
            .filter(|(_, table)| table.rows() > 0)
            .collect()
    }

    fn tables(&mut self) -> [(&'static str, &mut Table); 4] {
        [
            ("cwnd", self.cwnd.table_mut()),
            ("goodput", self.goodput.table_mut()),
            ("queue", self.queue.table_mut()),
            ("radio", self.radio.table()),
        ]
    }
}

/// The state of a sender outside, once it has reported it.
fn of_outside(
    flow: &ExternalFlow,
    entity: &str,
    time_s: f64,
    delivered_bytes: u64,
) -> Option<CwndRow> {
    let reported = flow.reported?;
    let ssthresh = reported.ssthresh_pkts;
    Some(CwndRow {
        entity: entity.to_owned(),
        time_s,
        cwnd_pkts: u64::from(reported.cwnd_pkts),
        ssthresh_pkts: (ssthresh < 1 << 30).then_some(u64::from(ssthresh)),
        srtt_s: f64::from(reported.srtt_us) / 1e6,
        in_flight_pkts: u64::from(reported.in_flight_pkts),
        delivered_bytes,
        reordering_pkts: u64::from(reported.reordering_pkts),
        segments_sent: flow.segments_sent,
        retransmits: flow.retransmits,
        spurious_retransmits: reported.dsacks,
        ..CwndRow::default()
    })
}

/// What a link could carry from one instant to another.
fn capacity_bps(link: &Link, from: SimTime, to: SimTime) -> u64 {
    match carried::offered_bytes(link, from, to) {
        _ if !link.up() => 0,
        Some(offered_bytes) => {
            let span_s = to.saturating_since(from).as_secs_f64();
            (offered_bytes as f64 * 8.0 / span_s) as u64
        }
        None => link.rate().as_bps(),
    }
}

/// A flow where it is received.
fn receiving<'a>(parts: &'a mut Parts<'_>, flow: usize) -> &'a Flow {
    let destination = parts.first().application.flows()[flow].spec.destination;
    &parts.at(destination).application.flows()[flow]
}
