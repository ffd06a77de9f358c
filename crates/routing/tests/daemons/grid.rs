//! Predictions of a network whose recordings the models have not been compared with: a grid of
//! 4 × 4 (node = 4·row + column). Links along a row are cheap, along a column dear: 96 and 192 with
//! Babel on wires, 256 and 512 with babeld's wireless rule, 10 and 20 with OSPF. The link 5–6 and the
//! node 6 fail, as in the other networks.
//!
//! `grid16.csv` has the medians and ranges of 20 seeds. Recordings are compared with the models so, of
//! any of the topologies: the file has one line per run and event, with the columns that
//! [`crate::compare::ranges`] names.
//!
//! ```sh
//! RECORDINGS=summary.csv cargo test -p backlane-routing --test daemons -- \
//!     --ignored --nocapture own_recordings
//! ```

use crate::compare::{Played, SEEDS, compare, predictions, ranges};
use crate::lab::{Measured, Play};
use crate::{babel, ospf};

const NETWORKS: [[&str; 3]; 5] = [
    ["grid16", "babeld-wired", "default"],
    ["grid16", "babeld-wireless", "default"],
    ["grid16", "bird-babel", "default"],
    ["grid16", "bird-ospf", "default"],
    ["grid16", "frr-ospf", "default"],
];

const WRITTEN: &str = include_str!("grid16.csv");

fn run(topology: &str, daemon: &str, setting: &str, seed: u64) -> (Play, Vec<Measured>) {
    if daemon.ends_with("ospf") {
        ospf::run(topology, daemon, setting, seed)
    } else {
        babel::run(topology, daemon, setting, seed)
    }
}

fn all_seeds(topology: &str, daemon: &str, setting: &str) -> (Play, Vec<Vec<Measured>>) {
    let runs = (1..=SEEDS).map(|seed| run(topology, daemon, setting, seed));
    let (mut plays, runs): (Vec<Play>, Vec<_>) = runs.unzip();
    (plays.remove(0), runs)
}

fn one_seed(topology: &str, daemon: &str, setting: &str) -> (Play, Vec<Vec<Measured>>) {
    let (play, run) = run(topology, daemon, setting, 1);
    (play, vec![run])
}

/// One seed of each daemon lies in the ranges that are written.
#[test]
fn a_seed_of_the_grid_is_in_the_written_ranges() {
    let mut played = Played::new(&one_seed);
    let mut compared = 0;
    for line in WRITTEN.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let values = played.values([fields[0], fields[1], fields[2]], fields[3], fields[4]);
        let Some(value) = values.first() else {
            continue;
        };
        let [least, most] = [fields[7], fields[8]].map(|bound| bound.parse::<f64>().unwrap());
        let within = least - 0.001..=most + 0.001;
        assert!(within.contains(value), "{line}: {value}");
        compared += 1;
    }
    assert!(compared > 150, "{compared}");
}

/// All seeds: minutes. `UPDATE_GOLDEN=1` writes the file.
#[test]
#[ignore = "takes minutes"]
fn predictions_of_the_grid_are_those_written() {
    let text = predictions(&NETWORKS, &mut Played::new(&all_seeds));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/daemons/grid16.csv");
        std::fs::write(path, text).unwrap();
    } else {
        assert!(text == WRITTEN, "run with UPDATE_GOLDEN=1");
    }
}

/// Recordings of one's own against the models.
#[test]
#[ignore = "needs a file of recordings"]
fn own_recordings() {
    let path = std::env::var_os("RECORDINGS").expect("RECORDINGS names a file");
    let recorded = ranges(&std::fs::read_to_string(path).unwrap(), |_| true);
    compare(&recorded, &mut Played::new(&all_seeds));
}

/// The ranges of recordings are the smallest and the largest value of each measure.
#[test]
fn ranges_are_those_of_all_repeats() {
    let summary = "topology,daemon,setting,repeat,event,first_change_s,last_change_s,changes,\
                   outage_max_s,loop_longest_s,routes_on_cut_link\n\
                   ring6,x,default,0,start,1,2,9,,0,4\n\
                   ring6,x,default,1,start,3,1,9,7,0,4\n\
                   ring6,x,default,0,loss20,1,2,9,,0,4\n\
                   ring6,x,default,1,loss20,,,0,7,0,3\n";
    let expected = "topology,daemon,setting,event,measure,least,most\n\
                    ring6,x,default,start,first,1.000,3.000\n\
                    ring6,x,default,start,last,1.000,2.000\n\
                    ring6,x,default,start,loop,0.000,0.000\n\
                    ring6,x,default,loss20,changes,0.000,9.000\n\
                    ring6,x,default,loss20,cut_off,0.000,7.000\n\
                    ring6,x,default,loss20,on_link,3.000,4.000\n\
                    ring6,x,default,loss20,loop,0.000,0.000\n";
    assert_eq!(ranges(summary, |_| true), expected);
}
