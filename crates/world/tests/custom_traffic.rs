//! A kind of flow that the program brings, with keys of its own, is checked, resolved and run as
//! one that the simulator has.

use backlane_param::params;
use backlane_scenario::CatalogueError;
use backlane_traffic::{Emission, Source};
use backlane_units::{Duration, SimTime};
use backlane_world::sources::Traffic;
use backlane_world::{Models, RunError};

params! {
    /// A number of packets at growing distances.
    #[derive(Clone, Copy, Debug)]
    pub struct Countdown {
        /// Packets of the flow.
        packets: u32 = 10, in 1..=1000;
        /// Packets from which on it panics.
        panics_at: u32 = 1000, in 1..=1000;
    }
}

#[derive(Debug)]
struct Counting(Countdown, u32);

impl Source for Counting {
    fn next(&mut self, _now: SimTime) -> Option<Emission> {
        let sent = self.1;
        assert!(sent < self.0.panics_at, "a packet too many");
        self.1 += 1;
        (sent < self.0.packets).then_some(Emission {
            after: Duration::from_millis(u64::from(sent)),
            payload_bytes: 100 + sent,
        })
    }
}

fn models(name: &'static str) -> Result<Models, CatalogueError> {
    let traffic = Traffic::new(name, |config: &Countdown, _| Box::new(Counting(*config, 0)));
    Models::builder().traffic(traffic).build()
}

fn text(flow: &str) -> String {
    format!(
        "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
         link = {{ rate = \"10 Mbit/s\", delay = \"1 ms\" }}\n\
         [[flow]]\nkind = \"countdown\"\nfrom = \"enb1\"\nto = \"enb2\"\n{flow}\n"
    )
}

#[test]
fn its_packets_leave_when_the_source_says() {
    let models = models("countdown").unwrap();
    let catalogue = models.catalogue();
    let run = |flow: &str| {
        let plan = catalogue.plan(&text(flow), "countdown.toml", &[], None);
        let plan = plan.unwrap_or_else(|report| panic!("{report}"));
        let scenario = catalogue.from_resolved(&plan.cells[0].resolved).unwrap();
        models.run(&scenario, 1).unwrap()
    };
    let outcome = run("packets = 4");
    let integer = |name| outcome.flows.integers(name).unwrap()[0];
    assert_eq!(integer("packets_sent"), Some(4));
    assert_eq!(integer("delivered_bytes"), Some(100 + 101 + 102 + 103));
    // The third packet completes the flow with the last 49 bytes: it leaves after 3 ms, and takes
    // 1 ms and 77 bytes at 10 Mbit/s.
    let outcome = run("size = \"250 B\"");
    let finish_s = outcome.flows.floats("finish_time_s").unwrap()[0].unwrap();
    assert!(
        (finish_s - (0.004 + 77.0 * 8.0 / 1e7)).abs() < 1e-9,
        "{finish_s}"
    );
    // One whose source ends before its size does not finish.
    let outcome = run("size = \"1 MB\"");
    assert_eq!(outcome.flows.floats("finish_time_s").unwrap()[0], None);
}

#[test]
fn errors_in_its_keys_are_reported_like_others() {
    let catalogue = models("countdown").unwrap().catalogue();
    for (flow, code) in [
        ("packets = 2000", "S017"),
        ("pakets = 1", "S010"),
        ("size = 5", "S014"),
    ] {
        let report = catalogue.check(&text(flow), "countdown.toml", &[]);
        let report = report.unwrap_err();
        let codes: Vec<_> = report.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{flow}");
    }
    assert_eq!(
        models("udp").err(),
        Some(CatalogueError::NameTaken {
            section: "flow",
            name: "udp",
        })
    );
}

#[test]
fn a_panic_names_the_flow_and_the_time() {
    let models = models("countdown").unwrap();
    let scenario = models.catalogue().parse(&text("panics_at = 4"), "s.toml");
    let Err(RunError::Model(panic)) = models.run(&scenario.unwrap(), 1) else {
        panic!("the run goes on");
    };
    assert_eq!(
        (panic.model.as_str(), panic.place.as_str()),
        ("countdown", "source of flow 0")
    );
    // The source is asked for its fifth packet when the fourth has left, after 0 + 1 + 2 + 3 ms.
    assert_eq!(panic.at, SimTime::ZERO + Duration::from_millis(6));
}
