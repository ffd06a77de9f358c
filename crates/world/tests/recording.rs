//! The records of a run can be received in pieces, and long computations can be interrupted.

mod common;

use std::collections::BTreeMap;

use backlane_record::{Column, Table};
use backlane_units::SimTime;
use backlane_world::sink::{CAPTURE_BYTES, SERIES_ROWS, Sink};
use backlane_world::{Interrupt, Models, Outcome, Supplied, World};
use common::{grid, resolve, run};

/// One row of a series, text for each value.
type Row = Vec<String>;

fn rows(table: &Table) -> Vec<Row> {
    let value = |column: &Column, row: usize| match column {
        Column::Text(values) => format!("{:?}", values[row]),
        Column::Integer(values) => format!("{:?}", values[row]),
        Column::Float(values) => format!("{:?}", values[row].map(f64::to_bits)),
    };
    let of = |row| table.columns().iter().map(|(_, c)| value(c, row)).collect();
    (0..table.rows()).map(of).collect()
}

/// Keeps all pieces, and gives up after this many.
#[derive(Default)]
struct Pieces {
    series: Vec<(&'static str, Table)>,
    captures: Vec<(String, Vec<u8>)>,
    most: Option<usize>,
}

impl Pieces {
    fn next(&self) -> Result<(), Interrupt> {
        let taken = self.series.len() + self.captures.len();
        match self.most {
            Some(most) if taken >= most => Err(Interrupt),
            _ => Ok(()),
        }
    }
}

impl Sink for Pieces {
    fn series(&mut self, probe: &'static str, rows: Table) -> Result<(), Interrupt> {
        self.next()?;
        self.series.push((probe, rows));
        Ok(())
    }

    fn capture(&mut self, node: &str, bytes: Vec<u8>) -> Result<(), Interrupt> {
        self.next()?;
        self.captures.push((node.to_owned(), bytes));
        Ok(())
    }
}

fn run_into(text: &str, sink: &mut Pieces) -> Result<Outcome, Interrupt> {
    let world = World::new(&resolve(text), 1, None).unwrap();
    let (outcome, _) = world.run_into(|_, _| Ok(()), Some(sink))?;
    Ok(outcome)
}

/// Two nodes and a download, with series of 100 000 instants and captures of both nodes.
fn recorded(more: &str) -> String {
    format!(
        r#"
duration = "1 s"
[topology]
kind = "chain"
nodes = 2
link = {{ rate = "500 Mbit/s", delay = "1 ms" }}
[[flow]]
kind = "transfer"
from = "enb1"
to = "enb2"
size = "endless"
[record]
{more}
"#
    )
}

/// Nothing is held but what the limit allows and one instant more: two links, two probes.
#[test]
fn series_come_in_pieces_of_bounded_size_that_are_the_whole() {
    let text = recorded("series = [\"queue\", \"cwnd\"]\ninterval = \"10 us\"\n");
    let whole = run(&text, 1, None);
    let mut pieces = Pieces::default();
    let outcome = run_into(&text, &mut pieces).unwrap();
    assert!(outcome.series.is_empty());
    let kept = Outcome {
        series: whole.series.clone(),
        ..outcome
    };
    assert_eq!(kept, whole, "who takes the series changes nothing");
    let mut joined: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    for (probe, table) in &pieces.series {
        assert!(table.rows() < SERIES_ROWS + 2, "{probe}: {}", table.rows());
        joined.entry(probe).or_default().extend(rows(table));
    }
    assert!(pieces.series.len() > 4, "{}", pieces.series.len());
    for (probe, table) in &whole.series {
        assert!(joined[probe] == rows(table), "{probe} differs");
        let names = |table: &Table| table.columns().iter().map(|c| c.0).collect::<Vec<_>>();
        let mut of_probe = pieces.series.iter().filter(|(name, _)| name == probe);
        assert!(of_probe.all(|(_, piece)| names(piece) == names(table)));
    }
    assert_eq!(joined.len(), whole.series.len());
}

/// A packet is seen at each of the two nodes; between two looks at the captures lie 512 events, of
/// which each brings a few packets of about 150 bytes.
#[test]
fn captures_come_in_pieces_of_bounded_size_that_are_the_file() {
    let text = recorded("capture = [\"enb1\", \"enb2\"]\n");
    let whole = run(&text, 1, None);
    let mut pieces = Pieces::default();
    let outcome = run_into(&text, &mut pieces).unwrap();
    assert!(outcome.captures.is_empty());
    assert_eq!(outcome.summary, whole.summary);
    let mut joined: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for (node, bytes) in &pieces.captures {
        assert!(bytes.len() < CAPTURE_BYTES + (1 << 20), "{}", bytes.len());
        joined.entry(node).or_default().extend(bytes);
    }
    assert!(pieces.captures.len() >= 4, "{}", pieces.captures.len());
    assert_eq!(joined.len(), 2);
    for (node, file) in &whole.captures {
        assert!(joined[node.as_str()] == *file, "{node} differs");
    }
}

#[test]
fn a_sink_that_gives_up_ends_the_run() {
    let text =
        recorded("series = [\"queue\"]\ninterval = \"10 us\"\ncapture = [\"enb1\", \"enb2\"]\n");
    let mut all = Pieces::default();
    run_into(&text, &mut all).unwrap();
    // In the middle, and with what is left at the end.
    for most in [0, 1, all.series.len() + all.captures.len() - 1] {
        let mut pieces = Pieces {
            most: Some(most),
            ..Pieces::default()
        };
        assert_eq!(run_into(&text, &mut pieces).unwrap_err(), Interrupt);
        assert_eq!(pieces.series.len() + pieces.captures.len(), most);
    }
}

/// The times at which a run asks whether to go on.
fn questions(text: &str) -> Vec<SimTime> {
    let mut asked = Vec::new();
    let world = World::new(&resolve(text), 1, None).unwrap();
    world
        .run(|now, _| {
            asked.push(now);
            Ok(())
        })
        .unwrap();
    asked
}

/// A network in which next to nothing happens.
const QUIET: &str = r#"
duration = "1 s"
[topology]
kind = "chain"
nodes = 2
link = { rate = "1 Mbit/s", delay = "1 ms" }
[[flow]]
kind = "udp"
from = "enb1"
to = "enb2"
rate = "1 kbit/s"
packet_size = "1000 B"
"#;

/// Samples every 10 µs of two links are 200 000 rows.
#[test]
fn a_run_that_does_nothing_but_sample_asks_whether_to_go_on() {
    let text = QUIET.to_owned() + "[record]\nseries = [\"queue\"]\ninterval = \"10 us\"\n";
    let asked = questions(&text);
    assert!(asked.len() > 200_000 / 1024, "{}", asked.len());
    assert!(questions(QUIET).len() < 3);
}

#[test]
fn a_run_that_does_nothing_but_fail_asks_whether_to_go_on() {
    let outage = |n: u32| {
        format!("[[failure]]\nlink = \"enb1-enb2\"\nat = \"{n} us\"\nuntil = \"{n}.5 us\"\n")
    };
    let outages: Vec<String> = (0..2000).map(outage).collect();
    let asked = questions(&(QUIET.to_owned() + &outages.concat()));
    assert!(asked.len() >= 4000 / 512, "{}", asked.len());
}

/// Whether building a world, and all of a run, end at whichever question is answered so.
#[test]
fn building_and_finishing_a_large_world_ends_when_it_is_asked_to() {
    let many_flows = QUIET.replace("packet_size", "count = 600\npacket_size");
    let mesh = "duration = \"1 ms\"\n[topology]\nkind = \"cells\"\nrows = 6\ncolumns = 6\n\
                link = { medium = \"wifi\" }\n[wifi]\nneighbours = \"in-range\"\n\
                fading = \"rayleigh\"\n";
    let cell = "duration = \"1 ms\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
                link = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n\
                [access]\nkind = \"lte\"\nues = 200\n";
    let far = grid("protocol = \"bp-mr\"", 600)
        .replace("duration = ", "duration = \"1 ms\" #")
        .replace("uniform 1 s 2 s", "0 s");
    for (name, text) in [
        ("flows", many_flows.as_str()),
        ("radios", mesh),
        ("UEs", cell),
        ("routers", far.as_str()),
    ] {
        let scenario = resolve(text);
        let until = |last: usize| {
            let mut asked = 0;
            let mut watch = |_, _| {
                asked += 1;
                if asked == last {
                    Err(Interrupt)
                } else {
                    Ok(())
                }
            };
            let world = World::watched(
                Models::standard(),
                Supplied::default(),
                &scenario,
                1,
                None,
                &mut watch,
            )
            .unwrap();
            let built = world.is_ok();
            let ended = world.and_then(|world| world.run(&mut watch));
            (asked, built, ended.err())
        };
        let (questions, built, interrupt) = until(usize::MAX);
        assert!(built && interrupt.is_none(), "{name}");
        let mut before_the_run = 0;
        for last in 1..=questions {
            let (asked, built, interrupt) = until(last);
            assert_eq!((asked, interrupt), (last, Some(Interrupt)), "{name}");
            before_the_run += usize::from(!built);
        }
        assert!(
            before_the_run > 2,
            "{name}: {before_the_run} of {questions}"
        );
    }
}

/// A link of 1 Mbit/s carries 250 kbit/s, and all that it can in the third second.
#[test]
fn the_busiest_second_is_the_share_of_one_second() {
    let text = "duration = \"4 s\"
topology = { kind = \"chain\", nodes = 2, link = { rate = \"1 Mbit/s\", delay = \"1 us\", queue = \"1 MB\" } }
flow = [
  { kind = \"udp\", from = \"enb1\", to = \"enb2\", rate = \"250 kbit/s\", packet_size = \"500 B\" },
  { kind = \"udp\", from = \"enb1\", to = \"enb2\", rate = \"5 Mbit/s\", packet_size = \"500 B\", size = \"93750 B\", start = \"2 s\" },
]
";
    let table = run(text, 1, None).links;
    let busiest = common::floats(&table, "busiest_second")[0].unwrap();
    let mean = common::floats(&table, "utilisation")[0].unwrap();
    assert!((0.95..=1.0).contains(&busiest), "{busiest}");
    assert!((0.50..0.60).contains(&mean), "{mean}");
}
