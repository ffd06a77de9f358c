//! Samples of congestion windows, goodput and queues at fixed intervals.
//!
//! Sampling is no event: the run loop stops at each instant, looks, and goes on, so that a run
//! with samples does exactly what it does without.

use std::collections::BTreeSet;

use backlane_engine::Interrupt;
use backlane_net::{LinkId, Simulation};
use backlane_record::Table;
use backlane_scenario::model::Record;
use backlane_traffic::{Flows, Transport};
use backlane_units::{Duration, SimTime};

use crate::build::{FlowInfo, LinkInfo};
use crate::outcome::radio_series::RadioSeries;
use crate::sink::Sink;

/// What to sample and when.
#[derive(Default)]
pub(crate) struct Sampler {
    interval: Duration,
    next: Option<SimTime>,
    windows: Vec<(usize, String)>,
    flows: Vec<(usize, String)>,
    links: Vec<(LinkId, String)>,
    cwnd: Table,
    goodput: Table,
    queue: Table,
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

    /// The instant of the next sample.
    pub(crate) fn next_sample(&self) -> SimTime {
        self.next.unwrap_or(SimTime::MAX)
    }

    /// Looks at everything; times count from the end of the warm-up.
    pub(crate) fn sample(
        &mut self,
        simulation: &mut Simulation<Flows>,
        now: SimTime,
        warm_up: SimTime,
    ) {
        self.next = Some(now.saturating_add(self.interval));
        let time_s = now.saturating_since(warm_up).as_secs_f64();
        for (index, name) in &self.flows {
            let flow = &simulation.application.flows()[*index];
            // One sample after the end tells what it came to.
            let ended = |at: SimTime| at.saturating_add(self.interval) <= now;
            if flow.start.is_none() || flow.finished.is_some_and(ended) {
                continue;
            }
            self.goodput.push([
                ("entity", name.as_str().into()),
                ("time_s", time_s.into()),
                ("delivered_bytes", flow.delivered_bytes().into()),
            ]);
        }
        for (index, name) in &self.windows {
            let flow = &simulation.application.flows()[*index];
            let Some(Transport::Tcp(tcp)) = &flow.transport else {
                continue;
            };
            if flow.finished.is_some_and(|at| at < now) {
                continue;
            }
            let readings = tcp.sender().readings();
            let statistics = tcp.sender().statistics();
            let ssthresh = readings.ssthresh_pkts;
            self.cwnd.push([
                ("entity", name.as_str().into()),
                ("time_s", time_s.into()),
                ("cwnd_pkts", u64::from(readings.cwnd_pkts).into()),
                (
                    "ssthresh_pkts",
                    (ssthresh < 1 << 30).then_some(u64::from(ssthresh)).into(),
                ),
                ("srtt_s", readings.srtt.as_secs_f64().into()),
                ("in_flight_pkts", u64::from(readings.in_flight_pkts).into()),
                ("delivered_bytes", flow.delivered_bytes().into()),
                (
                    "reordering_pkts",
                    u64::from(readings.reordering_pkts).into(),
                ),
                ("segments_sent", statistics.segments_sent.into()),
                ("retransmits", statistics.retransmits.into()),
                ("duplicate_acks", statistics.duplicate_acks.into()),
                (
                    "spurious_retransmits",
                    statistics.spurious_retransmits.into(),
                ),
                ("fast_retransmits", statistics.fast_retransmits.into()),
                ("rtos", statistics.rtos.into()),
                ("undos", statistics.undos.into()),
            ]);
        }
        self.radio.sample(simulation, time_s);
        for (link, name) in &self.links {
            let own = simulation.router_queue(*link).unwrap_or_default();
            let link = simulation.network.link_mut(*link);
            let queue_bytes = link.backlog_bytes(now) + own.backlog_bytes;
            let queue_pkts = link.backlog_pkts(now) as u64 + own.backlog_pkts;
            self.queue.push([
                ("entity", name.as_str().into()),
                ("time_s", time_s.into()),
                ("queue_bytes", queue_bytes.into()),
                ("queue_pkts", queue_pkts.into()),
            ]);
        }
    }

    /// How much a sample looks at.
    pub(crate) fn entities(&self) -> u64 {
        (self.flows.len() + self.windows.len() + self.links.len() + self.radio.ues()) as u64
    }

    /// Hands over the series that have at least so many rows.
    pub(crate) fn hand_over(
        &mut self,
        sink: &mut dyn Sink,
        least_rows: usize,
    ) -> Result<(), Interrupt> {
        for (probe, table) in self.tables() {
            if table.rows() >= least_rows {
                sink.series(probe, std::mem::take(table))?;
            }
        }
        Ok(())
    }

    /// The samples, by name of the probe; probes without samples are left out.
    pub(crate) fn take(&mut self) -> Vec<(&'static str, Table)> {
        self.tables()
            .into_iter()
            .map(|(probe, table)| (probe, std::mem::take(table)))
            .filter(|(_, table)| table.rows() > 0)
            .collect()
    }

    fn tables(&mut self) -> [(&'static str, &mut Table); 4] {
        [
            ("cwnd", &mut self.cwnd),
            ("goodput", &mut self.goodput),
            ("queue", &mut self.queue),
            ("radio", self.radio.table()),
        ]
    }
}
