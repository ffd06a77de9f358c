//! A congestion control that the program brings, with a key of its own, is checked, swept and run as
//! one that the simulator has.

use backlane_param::params;
use backlane_scenario::{CatalogueError, reference_page, schema};
use backlane_world::controls::Control;
use backlane_world::tcp::congestion::{Ack, CongestionControl, Window};
use backlane_world::units::SimTime;
use backlane_world::{Models, Outcome, RunError};

params! {
    /// Reno from outside.
    #[derive(Clone, Copy, Debug)]
    pub struct Config {
        /// Percentage of the window that a loss takes.
        decrease_percent: u32 = 50, in 1..=99;
        /// Window from which on it panics.
        panics_at_pkts: u32 = 1_000_000, in 1..=1_000_000;
    }
}

#[derive(Debug)]
struct Outside(Config);

impl CongestionControl for Outside {
    fn on_ack(&mut self, _now: SimTime, ack: &Ack, window: &mut Window) {
        let Self(config) = self;
        assert!(window.cwnd_pkts < config.panics_at_pkts, "a large window");
        if !ack.is_cwnd_limited {
            return;
        }
        let left = if window.in_slow_start() {
            window.slow_start(ack.acked_pkts)
        } else {
            ack.acked_pkts
        };
        if left > 0 {
            window.increase_additively(window.cwnd_pkts, left);
        }
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        (window.cwnd_pkts * (100 - self.0.decrease_percent) / 100).max(2)
    }
}

fn outside(name: &'static str) -> Result<Models, CatalogueError> {
    let control = Control::new(name, |config: &Config, _seed| Box::new(Outside(*config)));
    Models::builder().congestion_control(control).build()
}

fn text(first: &str, second: &str, more: &str) -> String {
    format!(
        r#"
duration = "30 s"
topology = {{ kind = "chain", nodes = 3, link = {{ rate = "10 Mbit/s", delay = "10 ms", queue = "1 bdp" }} }}
flow = [
    {{ kind = "transfer", from = "enb1", to = "enb3", size = "endless" }},
    {{ kind = "transfer", from = "enb1", to = "enb3", size = "5 MB", start = "1 s", congestion_control = "{second}" }},
]
[tcp]
congestion_control = "{first}"
{more}"#
    )
}

/// The outcome of each cell.
fn run(models: &Models, text: &str) -> Vec<Outcome> {
    let catalogue = models.catalogue();
    let plan = catalogue.plan(text, "test.toml", &[], None);
    let plan = plan.unwrap_or_else(|report| panic!("{report}"));
    let cells = plan.cells.iter().map(|cell| {
        let scenario = catalogue.from_resolved(&cell.resolved).unwrap();
        models.run(&scenario, 1).unwrap()
    });
    cells.collect()
}

fn retransmits(outcome: &Outcome) -> u64 {
    outcome.flows.integers("retransmits").unwrap()[0].unwrap()
}

#[test]
fn reno_from_outside_gives_the_run_of_reno() {
    let models = outside("outside").unwrap();
    for [first, second] in [["outside", "cubic"], ["reno", "outside"]] {
        let own = run(&models, &text(first, second, ""));
        let reno = |name: &str| name.replace("outside", "reno");
        let known = run(&models, &text(&reno(first), &reno(second), ""));
        assert!(retransmits(&known[0]) > 0, "there is loss to react to");
        assert_eq!(own[0].summary, known[0].summary);
        let names = own[0].flows.texts("congestion_control").unwrap();
        let named = [first, second].map(|name| Some(name.to_owned()));
        assert_eq!(names.to_vec(), named);
    }
}

#[test]
fn its_keys_are_resolved_swept_and_documented() {
    let models = outside("outside").unwrap();
    let catalogue = models.catalogue();
    let sweep = "[sweep]\n\"tcp.outside.decrease_percent\" = [10, 90]\n";
    let swept = text("outside", "outside", sweep);
    let plan = catalogue.plan(&swept, "test.toml", &[], None).unwrap();
    assert!(
        plan.cells[0]
            .resolved
            .contains("[tcp.outside]\ndecrease_percent = 10\npanics_at_pkts = 1000000 # default\n"),
        "{}",
        plan.cells[0].resolved
    );
    let outcomes = run(&models, &swept);
    // The more of the window a loss takes, the rarer are losses.
    assert!(retransmits(&outcomes[0]) > 2 * retransmits(&outcomes[1]));
    let sentence = "Percentage of the window that a loss takes.";
    assert!(schema(catalogue).contains(sentence));
    let page = reference_page(catalogue);
    assert!(page.contains("### [tcp.outside]\n\nReno from outside.\n"));
    assert!(page.contains(sentence) && page.contains("\"lp\", \"outside\" or "));
}

#[test]
fn errors_in_its_keys_are_reported_like_others() {
    let catalogue = outside("outside").unwrap().catalogue();
    for (first, more, code) in [
        ("outside", "[tcp.outside]\ndecrease_percent = 100\n", "S017"),
        ("outside", "[tcp.outside]\ndecrease_percnt = 10\n", "S010"),
        ("outsider", "", "S013"),
        ("reno", "[tcp.outsider]\ndecrease_percent = 10\n", "S010"),
    ] {
        let text = text(first, "reno", more);
        let report = catalogue.check(&text, "test.toml", &[]).unwrap_err();
        let codes: Vec<_> = report.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{first} {more}");
        let message = report.to_string();
        assert!(
            message.contains("did you mean") || code == "S017",
            "{message}"
        );
    }
}

params! {
    /// A default out of its range.
    pub struct Bad {
        /// Ten at most.
        many: u32 = 11, in 1..=10;
    }
}

#[test]
fn invalid_additions_are_refused_at_the_start() {
    // Names of a control, of a key, of a table and of the tag of [tcp].
    for name in ["cubic", "mss", "rr", "profile"] {
        let section = "tcp";
        let taken = CatalogueError::NameTaken { section, name };
        assert_eq!(outside(name).err(), Some(taken));
    }
    let bad = Control::new("bad", |_: &Bad, _| unreachable!());
    let refused = Models::builder().congestion_control(bad).build().err();
    let expected = CatalogueError::BadDefault {
        of: "tcp.bad",
        key: "many",
        default: "11",
        takes: "an integer from 1 to 10".to_owned(),
    };
    assert_eq!(refused, Some(expected));
}

#[test]
fn a_panic_names_the_control_and_the_time() {
    let models = outside("outside").unwrap();
    let text = text("outside", "reno", "[tcp.outside]\npanics_at_pkts = 11\n");
    let scenario = models.catalogue().parse(&text, "test.toml").unwrap();
    let Err(RunError::Model(panic)) = models.run(&scenario, 1) else {
        panic!("the run goes on");
    };
    assert_eq!(panic.model, "outside");
    assert_eq!(panic.place, "congestion control");
    assert_eq!(panic.message, "a large window");
    // The window passes ten packets in the first round trip of data, 40 ms after the handshake.
    assert!((0.08..0.12).contains(&panic.at.as_secs_f64()), "{panic}");
}

params! {
    /// A window that never moves.
    #[derive(Clone, Copy, Debug)]
    pub struct Still {}
}

impl CongestionControl for Still {
    fn on_ack(&mut self, _now: SimTime, _ack: &Ack, window: &mut Window) {
        window.cwnd_pkts = 10;
    }

    fn ssthresh(&mut self, _now: SimTime, _window: &Window, _in_flight_pkts: u32) -> u32 {
        10
    }
}

/// What never moves is its own mean, and an endless transfer keeps the window full. A segment takes
/// 0.12 µs at 100 Gbit/s. The control has no keys.
#[test]
fn the_mean_of_a_window_that_never_moves_is_that_window_at_any_rate() {
    let still = Control::new("still", |still: &Still, _seed| Box::new(*still));
    let models = Models::builder().congestion_control(still).build().unwrap();
    for rate in ["10 Mbit/s", "10 Gbit/s", "100 Gbit/s"] {
        let text = format!(
            r#"
duration = "5 ms"
topology = {{ kind = "chain", nodes = 2, link = {{ rate = "{rate}", delay = "100 ns", queue = "100 packets" }} }}
tcp = {{ congestion_control = "still" }}
flow = [{{ kind = "transfer", from = "enb1", to = "enb2", size = "endless" }}]
"#
        );
        let outcome = run(&models, &text).remove(0);
        for column in ["cwnd_mean_pkts", "in_flight_mean_pkts"] {
            let mean_pkts = outcome.flows.floats(column).unwrap()[0].unwrap();
            assert!(
                (mean_pkts - 10.0).abs() < 1e-9,
                "{rate}: {column} {mean_pkts}"
            );
        }
    }
}
