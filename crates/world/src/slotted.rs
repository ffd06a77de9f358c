//! A run of the slotted model of backpressure.
//!
//! Time is counted in slots. Where a table has seconds, a slot counts as one.

mod tables;

use backlane_engine::watch::WATCH_STEPS;
use backlane_engine::{Digest, Interrupt, Streams, Watch};
use backlane_param::{Mismatch, Params};
use backlane_record::{Rows, Table};
use backlane_scenario::model::Slotted;
use backlane_slotted::{Arrivals, Config, Model, Region, Scheduler};
use backlane_units::SimTime;

use crate::error::{BuildError, Unbuilt};
use crate::outcome::radio::{McsRow, UeRow};
use crate::outcome::{Ended, Outcome, Summary};
use crate::sink::{SERIES_ROWS, Sink};

pub use tables::ALL;
pub(crate) use tables::{RegionRow, SampleRow, SlottedRow};

/// Slots between two looks at the backlogs for the digest.
const DIGEST_SLOTS: u64 = 1 << 16;
/// Links of an exact schedule, squared, and pairs of a link and a flow that a slot looks at in the
/// time of one step.
const PAIRS_PER_STEP: u64 = 32;

/// The name of the series.
const PROBE: &str = "slotted";

/// Runs a slotted model to its end. `watch` is called at intervals with the number of slots so far,
/// and may end the run. Series go to `sink` during the run, and the outcome has none; without a sink
/// they are part of the outcome.
///
/// # Errors
/// If the model contradicts itself in a way that its checks should have found. The inner error is
/// [`Interrupt`], if `watch` or `sink` returned it.
///
/// # Panics
/// If the conservation of packets does not hold, which is a bug.
pub fn run(
    slotted: &Slotted,
    seed: u64,
    mut watch: impl FnMut(u64) -> Result<(), Interrupt>,
    sink: Option<&mut dyn Sink>,
) -> Result<Result<Outcome, Interrupt>, BuildError> {
    let mut ask = |_, slots| watch(slots);
    match carried_out(slotted, seed, &mut Watch::new(&mut ask), sink) {
        Ok(outcome) => Ok(Ok(outcome)),
        Err(Unbuilt::Interrupted) => Ok(Err(Interrupt)),
        Err(Unbuilt::Error(error)) => Err(error),
    }
}

/// The parameters of a slotted model.
///
/// # Errors
///
/// Values that were not checked.
pub fn config(slotted: &Slotted) -> Result<Config, Mismatch> {
    Config::read(&slotted.values)
}

fn carried_out(
    slotted: &Slotted,
    seed: u64,
    watch: &mut Watch<'_>,
    mut sink: Option<&mut dyn Sink>,
) -> Result<Outcome, Unbuilt> {
    let config = config(slotted).map_err(BuildError::from)?;
    let streams = Streams::new(seed);
    let mut model = Model::new(&config, &streams).map_err(|e| BuildError(e.to_string()))?;
    let mut samples = Rows::new();
    let mut digest = Digest::default();
    while model.slot() < model.end() {
        let mut slots = DIGEST_SLOTS;
        if let Some(every) = config.sample_slots {
            let since = model.slot() % every;
            if since == 0 {
                tables::sample(&model, &config, &mut samples);
                if watch.is_due(config.flow.len() as u64) {
                    watch.ask(SimTime::ZERO, model.slot())?;
                }
                if let Some(sink) = &mut sink
                    && samples.table_mut().rows() >= SERIES_ROWS
                {
                    sink.series(PROBE, samples.table_mut().take())?;
                }
            }
            slots = slots.min(every - since);
        }
        pass(&mut model, slots, 0, &config, watch)?;
        for flow in 0..config.flow.len() {
            digest.add(model.backlog_pkts(flow));
        }
    }
    let mut samples = samples.into_table();
    if let Some(sink) = sink
        && samples.rows() > 0
    {
        sink.series(PROBE, samples.take())?;
    }
    assert!(
        model.balance().holds(),
        "packets are conserved: {:?}",
        model.balance()
    );
    let mut outcome = outcome(&config, &model, samples, digest);
    if let Some(region) = config.region.clone() {
        let mut digest = Digest::default();
        digest.add(outcome.summary.digest);
        outcome.summary.events = config.total_slots();
        let table = map(&region, config, &streams, &mut digest, watch)?;
        outcome.more.push(("region", table));
        outcome.summary.digest = digest.value();
    }
    Ok(outcome)
}

/// Runs `slots` slots, at most to the end of the model; `before` is the number of earlier slots.
fn pass(
    model: &mut Model,
    slots: u64,
    before: u64,
    config: &Config,
    watch: &mut Watch<'_>,
) -> Result<(), Interrupt> {
    let links = config.link.len() as u64;
    let mut pairs = links * config.flow.len() as u64;
    if config.scheduler == Scheduler::Exact {
        pairs += links * links;
    }
    let steps = 1 + pairs / PAIRS_PER_STEP;
    let until = model.slot().saturating_add(slots).min(model.end());
    while model.slot() < until {
        let part = (WATCH_STEPS / steps).max(1).min(until - model.slot());
        model.run(part);
        if watch.is_due(part * steps) {
            watch.ask(SimTime::ZERO, before + model.slot())?;
        }
    }
    Ok(())
}

/// One row for each pair of rates: how the sum of all queues grows there. The rates are those of
/// the middles of equal parts of both sides.
fn map(
    region: &Region,
    mut config: Config,
    streams: &Streams,
    digest: &mut Digest,
    watch: &mut Watch<'_>,
) -> Result<Table, Unbuilt> {
    let mut rows = Rows::new();
    let rate = |part: u32| region.most_rate * (f64::from(part) + 0.5) / f64::from(region.points);
    let mut slots = config.warm_up_slots + config.slots;
    let flows = config.region_flows().unwrap_or_default();
    for x in 0..region.points {
        for y in 0..region.points {
            for (&flow, part) in flows.iter().zip([x, y]) {
                let rate = rate(part);
                let arrivals = &mut config.flow[flow].arrivals;
                *arrivals = match arrivals {
                    Arrivals::Constant { .. } => Arrivals::Constant { rate },
                    _ => Arrivals::Bernoulli { rate },
                };
            }
            let mut model = Model::new(&config, streams).map_err(|e| BuildError(e.to_string()))?;
            pass(&mut model, u64::MAX, slots, &config, watch)?;
            slots += model.slot();
            let seen = model.statistics();
            let per_slot = |sum: f64| sum / config.slots as f64;
            let delivered: u64 = seen.iter().map(|flow| flow.delivered_pkts).sum();
            let backlog: u128 = seen.iter().map(|flow| flow.backlog_sum_pkts).sum();
            digest.add(delivered);
            digest.add(backlog as u64);
            let slope = model.slope();
            rows.push(RegionRow {
                x_rate_pkts: rate(x),
                y_rate_pkts: rate(y),
                throughput_pkts: per_slot(delivered as f64),
                backlog_mean_pkts: per_slot(backlog as f64),
                backlog_slope_pkts: slope.map(|s| s.slope),
                backlog_slope_error_pkts: slope.map(|s| s.standard_error),
            });
        }
    }
    Ok(rows.into_table())
}

fn outcome(config: &Config, model: &Model, samples: Table, mut digest: Digest) -> Outcome {
    let balance = model.balance();
    for flow in model.statistics() {
        digest.add(flow.delivered_pkts);
        digest.add(flow.backlog_sum_pkts as u64);
    }
    let series = if samples.rows() > 0 {
        vec![(PROBE, samples)]
    } else {
        Vec::new()
    };
    Outcome {
        summary: Summary {
            simulated_s: model.slot() as f64,
            traffic_s: model.slot().saturating_sub(config.warm_up_slots) as f64,
            events: model.slot(),
            packets_injected: balance.injected_pkts,
            packets_duplicated: 0,
            packets_delivered: balance.delivered_pkts,
            dropped_by_cause: vec![("queue", balance.dropped_pkts)],
            delivered_bytes: None,
            packets_in_flight: balance.queued_pkts,
            packet_hops: model.carried_pkts().iter().sum(),
            digest: digest.value(),
            ended: Ended::TimeLimit,
        },
        flows: tables::flows(config, model),
        links: tables::links(config, model),
        nodes: tables::nodes(model),
        radio: Table::of::<UeRow>(),
        mcs: Table::of::<McsRow>(),
        more: vec![("slotted", tables::measured(config, model))],
        series,
        captures: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use backlane_scenario::Described;

    use super::*;

    fn read(text: &str) -> Slotted {
        match crate::catalogue().described(text) {
            Ok(Described::Slotted(slotted)) => *slotted,
            other => panic!("{other:?}"),
        }
    }

    fn finished(text: &str, seed: u64) -> Outcome {
        run(&read(text), seed, |_| Ok(()), None).unwrap().unwrap()
    }

    const STARVATION: &str = "[slotted]\nslots = 1000\ninterference = \"collision-domain\"\n\
        buffer_pkts = 100\nsample_slots = 100\n\
        link = [{ from = \"I\", to = \"R1\" }, { from = \"I\", to = \"R2\", on = 0.9 }]\n\
        flow = [{ from = \"I\", to = \"R1\", arrivals = \"constant\", rate = 0.5 },\n\
        { from = \"I\", to = \"R2\", arrivals = \"window\", window_pkts = 3 }]\n";

    #[test]
    fn a_run_has_a_row_for_each_flow_and_one_for_all() {
        let outcome = finished(STARVATION, 1);
        let [(name, table)] = &outcome.more[..] else {
            panic!()
        };
        assert_eq!((*name, table.rows()), ("slotted", 3));
        let of = |column: &str| {
            let values = table.floats(column).unwrap().iter();
            values.map(|value| value.unwrap()).collect::<Vec<_>>()
        };
        let throughput = of("throughput_pkts");
        assert!((throughput[0] + throughput[1] - throughput[2]).abs() < 1e-12);
        let summary = &outcome.summary;
        let received: u64 = (outcome.flows.integers("packets_received").unwrap().iter())
            .map(|count| count.unwrap())
            .sum();
        assert_eq!(summary.packets_delivered, received);
        assert_eq!(summary.packet_hops, received, "over one hop");
        assert_eq!(outcome.series[0].1.rows(), 20);
        let times = outcome.series[0].1.floats("time_s").unwrap();
        assert_eq!((times[0], times[19]), (Some(0.0), Some(900.0)));
    }

    #[test]
    fn samples_and_the_watch_change_nothing_and_seeds_do() {
        let without = STARVATION.replace("sample_slots = 100\n", "");
        let table = |text: &str, seed| finished(text, seed).more;
        assert_eq!(table(STARVATION, 1), table(&without, 1));
        assert_ne!(table(STARVATION, 1), table(STARVATION, 2));
        let digest = |seed| finished(STARVATION, seed).summary.digest;
        assert_eq!(digest(1), digest(1));
        assert_ne!(digest(1), digest(2));
        let mut calls = 0;
        let long = STARVATION.replace("slots = 1000", "slots = 500000");
        let stopped = run(
            &read(&long),
            1,
            |_| {
                calls += 1;
                if calls == 3 { Err(Interrupt) } else { Ok(()) }
            },
            None,
        );
        assert_eq!(stopped.unwrap().unwrap_err(), Interrupt);
    }

    /// Keeps pieces, and refuses the third.
    struct Pieces(Vec<Table>);

    impl Sink for Pieces {
        fn series(&mut self, probe: &'static str, rows: Table) -> Result<(), Interrupt> {
            assert_eq!(probe, "slotted");
            if self.0.len() == 2 {
                return Err(Interrupt);
            }
            self.0.push(rows);
            Ok(())
        }

        fn capture(&mut self, _: &str, _: Vec<u8>) -> Result<(), Interrupt> {
            panic!("there are no packets")
        }
    }

    /// A sample of every slot: two rows for each.
    #[test]
    fn series_come_in_pieces_that_are_the_whole() {
        let every = STARVATION.replace("sample_slots = 100", "sample_slots = 1");
        let text = |slots| read(&every.replace("slots = 1000\n", &format!("slots = {slots}\n")));
        let into = |slots, pieces: &mut Pieces| run(&text(slots), 1, |_| Ok(()), Some(pieces));
        let slots = SERIES_ROWS * 3 / 4;
        let whole = run(&text(slots), 1, |_| Ok(()), None).unwrap().unwrap();
        let mut pieces = Pieces(Vec::new());
        let outcome = into(slots, &mut pieces).unwrap().unwrap();
        assert_eq!(
            (&outcome.summary, &outcome.more),
            (&whole.summary, &whole.more)
        );
        assert!(outcome.series.is_empty());
        let rows: Vec<_> = pieces.0.iter().map(Table::rows).collect();
        assert_eq!(rows, [SERIES_ROWS, SERIES_ROWS / 2]);
        let times = pieces
            .0
            .iter()
            .flat_map(|piece| piece.floats("time_s").unwrap());
        assert!(times.eq(whole.series[0].1.floats("time_s").unwrap()));
        let ended = into(2 * slots, &mut Pieces(Vec::new())).unwrap();
        assert_eq!(ended.unwrap_err(), Interrupt);
    }

    /// A watch is asked within a chunk of the digest, and within a point of a map.
    #[test]
    fn every_part_of_a_run_asks_whether_to_go_on() {
        let region =
            "[slotted.region]\nflows = [\"I-R1\", \"I-R2\"]\npoints = 2\nmost_rate = 0.6\n";
        let text = STARVATION
            .replace("slots = 1000\nint", "slots = 20000\nint")
            .replace("arrivals = \"window\", window_pkts = 3", "rate = 0.1")
            + region;
        let mut asked = Vec::new();
        let watch = |slots| {
            asked.push(slots);
            Ok(())
        };
        run(&read(&text), 1, watch, None).unwrap().unwrap();
        assert!(asked.is_sorted());
        assert!(
            asked.windows(2).all(|pair| pair[1] - pair[0] <= 1024),
            "{asked:?}"
        );
        assert!(asked.last() > Some(&99_000), "{asked:?}");
    }

    /// Two channels that are ON in half of the slots carry λ1 + λ2 up to 3/4.
    #[test]
    fn a_map_separates_rates_inside_the_region_from_those_outside() {
        let text = "[slotted]\nslots = 20000\ninterference = \"collision-domain\"\nk_pkts = 10\n\
            link = [{ from = \"I\", to = \"R1\", on = 0.5 }, { from = \"I\", to = \"R2\", on = 0.5 }]\n\
            flow = [{ from = \"I\", to = \"R1\", rate = 0.1 }, { from = \"I\", to = \"R2\", rate = 0.1 }]\n\
            [slotted.region]\nflows = [\"I-R1\", \"I-R2\"]\npoints = 6\nmost_rate = 0.6\n";
        let outcome = finished(text, 1);
        let (name, table) = &outcome.more[1];
        assert_eq!((*name, table.rows()), ("region", 36));
        let column = |name: &str| table.floats(name).unwrap().iter().map(|v| v.unwrap());
        let rates = column("x_rate_pkts").zip(column("y_rate_pkts"));
        for ((x, y), slope) in rates.zip(column("backlog_slope_pkts")) {
            let excess = (x + y - 0.75).max(x - 0.5).max(y - 0.5);
            if excess < -0.03 {
                assert!(slope.abs() < 0.01, "({x}, {y}): {slope}");
            } else if excess > 0.03 {
                assert!(slope > 0.02, "({x}, {y}): {slope}");
            }
        }
        assert_eq!(outcome.summary.events, 20_000 * 37);
    }

    /// The largest values that a file may have are those that the model takes.
    #[test]
    fn the_model_accepts_every_value_that_a_file_may_have() {
        let flows = "arrivals = \"bernoulli\", rate = 100";
        let text = STARVATION
            .replace(
                "slots = 1000\n",
                "slots = 1\nk_pkts = 1000000\nr_max_pkts = 100.0\nm = 1e9\n",
            )
            .replace("arrivals = \"constant\", rate = 0.5", flows)
            .replace("on = 0.9", "rate_pkts = 100");
        assert_eq!(finished(&text, 1).summary.events, 1);
        let mut longest = config(&read(&text)).unwrap();
        (longest.slots, longest.warm_up_slots) = (500_000_000, 500_000_000);
        assert!(Model::new(&longest, &Streams::new(1)).is_ok());
        let link = |n: usize| format!("{{ from = \"n{n}\", to = \"n{}\" }}", n + 1);
        for (scheduler, count) in [("exact", 64), ("greedy", 1024)] {
            let links: Vec<_> = (0..count).map(link).collect();
            let text = format!(
                "[slotted]\nslots = 9\ninterference = \"primary\"\nscheduler = \"{scheduler}\"\n\
                 link = [{}]\nflow = [{{ from = \"n0\", to = \"n9\", rate = 1 }}]\n",
                links.join(", ")
            );
            assert_eq!(finished(&text, 1).summary.events, 9);
        }
    }
}
