//! Runs of the models against recordings: medians, ranges, and which are inside.

use std::collections::BTreeMap;

use crate::lab::{Events, Measured, Play};

/// Runs with this number of seeds are compared with the recordings.
pub const SEEDS: u64 = 20;

/// Differences below this are the recordings' own.
const SLACK_S: f64 = 0.010;

/// What is compared of an event in which links fail, and of one in which they lose packets.
const OF_EVENTS: [&str; 4] = ["first", "last", "outage", "loop"];
const OF_LOSSES: [&str; 4] = ["changes", "cut_off", "on_link", "loop"];

/// The runs of all seeds of (topology, daemon, setting), and how they were played.
pub type Run<'a> = &'a dyn Fn(&str, &str, &str) -> (Play, Vec<Vec<Measured>>);

/// Runs that have been played, by topology, daemon and setting.
pub struct Played<'a> {
    run: Run<'a>,
    played: BTreeMap<[String; 3], (Play, Vec<Vec<Measured>>)>,
}

impl<'a> Played<'a> {
    pub fn new(run: Run<'a>) -> Self {
        Self {
            run,
            played: BTreeMap::new(),
        }
    }

    fn of(&mut self, [topology, daemon, setting]: [&str; 3]) -> &(Play, Vec<Vec<Measured>>) {
        let run = self.run;
        let key = [topology, daemon, setting].map(String::from);
        self.played
            .entry(key)
            .or_insert_with(|| run(topology, daemon, setting))
    }

    /// A measure of an event, of all seeds in which there is one, in order.
    pub fn values(&mut self, network: [&str; 3], event: &str, measure: &str) -> Vec<f64> {
        let (play, runs) = self.of(network);
        let place = place(play.events, event);
        let values = runs.iter().filter_map(|run| run[place].of(measure));
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values
    }
}

/// The place of an event.
pub fn place(events: &Events, event: &str) -> usize {
    let mut events = events.iter();
    events.position(|(name, _)| *name == event).unwrap()
}

/// The upper median of values in order.
pub fn median(values: &[f64]) -> Option<f64> {
    values.get(values.len() / 2).copied()
}

/// The recorded ranges of one file (topology, daemon, setting, event, measure, least, most) against
/// the medians of runs: how many of how many are inside. Prints each, with the number of seeds whose
/// own value is inside.
pub fn compare(recorded: &str, played: &mut Played<'_>) -> (u32, u32) {
    let (mut compared, mut inside) = (0, 0);
    for line in recorded.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [topology, daemon, setting, event, measure, least, most] = fields[..] else {
            panic!("{line}");
        };
        let values = played.values([topology, daemon, setting], event, measure);
        let ours = median(&values).unwrap_or(f64::NAN);
        let [least, most]: [f64; 2] = [least, most].map(|bound| bound.parse().unwrap());
        let ok = (least - SLACK_S..=most + SLACK_S).contains(&ours);
        compared += 1;
        inside += u32::from(ok);
        let mark = if ok { "inside " } else { "OUTSIDE" };
        let within = values
            .iter()
            .filter(|value| (least - SLACK_S..=most + SLACK_S).contains(*value));
        let (within, seeds) = (within.count(), values.len());
        let bound = |value: Option<&f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
        println!(
            "{mark} | {topology} {daemon} {setting} | {event} | {measure} | {least:.2} to {most:.2} | \
             {ours:.2} ({} to {}) | {within} of {seeds} seeds",
            bound(values.first()),
            bound(values.last())
        );
    }
    println!("{inside} of {compared}");
    (inside, compared)
}

/// Predictions of networks: (event, measure) with median, least and most of the seeds in which there
/// is a value, and their number.
pub fn predictions(networks: &[[&str; 3]], played: &mut Played<'_>) -> String {
    let mut text = String::from("topology,daemon,setting,event,measure,seeds,median,least,most\n");
    for &network in networks {
        let events = played.of(network).0.events;
        for (event, _) in events {
            let measures = if event.starts_with("loss") {
                OF_LOSSES
            } else {
                OF_EVENTS
            };
            for measure in measures {
                let values = played.values(network, event, measure);
                let shown = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.3}"));
                text += &format!(
                    "{},{event},{measure},{},{},{},{}\n",
                    network.join(","),
                    values.len(),
                    shown(median(&values)),
                    shown(values.first().copied()),
                    shown(values.last().copied())
                );
            }
        }
    }
    text
}

/// The ranges of a summary of recordings, one line per run and event with the columns topology,
/// daemon, setting, repeat, event, first_change_s, last_change_s, changes, outage_max_s,
/// loop_longest_s and routes_on_cut_link, in the form that [`compare`] reads. A measure that is
/// missing in any repeat is left out.
pub fn ranges(summary: &str, wanted: impl Fn(&str) -> bool) -> String {
    let mut lines = summary.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let mut all: Vec<(String, Vec<Vec<&str>>)> = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let of = |name| fields[column(name)];
        if !wanted(of("daemon")) {
            continue;
        }
        let key = ["topology", "daemon", "setting", "event"].map(of).join(",");
        match all.iter_mut().find(|(other, _)| *other == key) {
            Some((_, repeats)) => repeats.push(fields),
            None => all.push((key, vec![fields])),
        }
    }
    let mut text = String::from("topology,daemon,setting,event,measure,least,most\n");
    for (key, repeats) in all {
        let is_loss = key.rsplit(',').next().unwrap().starts_with("loss");
        for measure in if is_loss { OF_LOSSES } else { OF_EVENTS } {
            let name = match measure {
                "first" => "first_change_s",
                "last" => "last_change_s",
                "outage" | "cut_off" => "outage_max_s",
                "changes" => "changes",
                "on_link" => "routes_on_cut_link",
                _ => "loop_longest_s",
            };
            let cell = |fields: &Vec<&str>| match fields[column(name)] {
                "" if measure == "cut_off" => Some(0.0),
                text => text.parse().ok(),
            };
            let values: Option<Vec<f64>> = repeats.iter().map(cell).collect();
            let Some(values) = values else { continue };
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(0.0, f64::max);
            text += &format!("{key},{measure},{least:.3},{most:.3}\n");
        }
    }
    text
}
