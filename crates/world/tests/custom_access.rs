//! An access technology that the program brings, with a key of its own, is checked, resolved and run
//! as one that the simulator has.

use std::collections::BTreeMap;

use backlane_net::{Medium, MediumContext, NodeId, PacketId};
use backlane_param::params;
use backlane_scenario::CatalogueError;
use backlane_units::Duration;
use backlane_world::technologies::{Cell, Technology};
use backlane_world::{Models, RunError};

params! {
    /// Each packet arrives after a fixed delay.
    #[derive(Clone, Copy, Debug)]
    pub struct Pipe {
        /// One-way delay.
        delay: Duration = Duration::from_millis(20), in Duration::from_millis(1)..=Duration::from_secs(1);
        /// Packets from which on it panics.
        panics_at: u32 = 1_000_000, in 1..=1_000_000;
    }
}

/// A packet under way is a timer.
struct Pipes {
    config: Pipe,
    enodebs: BTreeMap<NodeId, NodeId>,
    under_way: BTreeMap<u32, (NodeId, PacketId)>,
    packets: u32,
}

impl Medium for Pipes {
    fn start(&mut self, _: &mut MediumContext<'_>) {}

    fn on_packet(&mut self, context: &mut MediumContext<'_>, node: NodeId, id: PacketId) {
        let destination = context.packet(id).destination;
        let to = self.enodebs.get(&node).copied().unwrap_or(destination);
        assert!(self.packets < self.config.panics_at, "a packet too many");
        let timer = context.timer(self.packets);
        context.set_timer(timer, context.now() + self.config.delay);
        self.under_way.insert(self.packets, (to, id));
        self.packets += 1;
    }

    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        let (to, id) = self.under_way.remove(&token).unwrap();
        context.deliver(to, id);
    }

    fn held_pkts(&self) -> usize {
        self.under_way.len()
    }
}

fn models(name: &'static str) -> Result<Models, CatalogueError> {
    let pipe = Technology::new(name, |config: &Pipe, cells: &[Cell], _| {
        let ues = |cell: &Cell| {
            let enodeb = cell.enodeb;
            cell.ues.clone().into_iter().map(move |ue| (ue, enodeb))
        };
        Box::new(Pipes {
            config: *config,
            enodebs: cells.iter().flat_map(ues).collect(),
            under_way: BTreeMap::new(),
            packets: 0,
        })
    });
    Models::builder().access(pipe).build()
}

fn text(access: &str) -> String {
    format!(
        "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
         link = {{ rate = \"1 Gbit/s\", delay = \"5 ms\" }}\n\
         [access]\nkind = \"pipe\"\nues = 3\n{access}\n\
         [[flow]]\nkind = \"transfer\"\nfrom = \"ue1\"\nto = \"ue2\"\nsize = \"100 kB\"\n"
    )
}

#[test]
fn its_ues_attach_to_the_enodebs_in_turn_and_its_delay_is_in_the_round_trip() {
    let models = models("pipe").unwrap();
    let catalogue = models.catalogue();
    for (access, delay_s) in [("", 0.02), ("delay = \"50 ms\"", 0.05)] {
        let plan = catalogue.plan(&text(access), "pipe.toml", &[], None);
        let plan = plan.unwrap_or_else(|report| panic!("{report}"));
        let scenario = catalogue.from_resolved(&plan.cells[0].resolved).unwrap();
        let outcome = models.run(&scenario, 1).unwrap();
        // Up, over one link of 5 ms, down, and back.
        let rtt_s = outcome.flows.floats("rtt_min_s").unwrap()[0].unwrap();
        let expected_s = 2.0 * (2.0 * delay_s + 0.005);
        assert!((rtt_s - expected_s).abs() < 1e-4, "{rtt_s} s");
        assert!(outcome.flows.floats("finish_time_s").unwrap()[0].is_some());
        let attached = outcome.nodes.texts("attach").unwrap();
        let expected = ["enb1", "enb2", "enb1"].map(|name| Some(name.to_owned()));
        assert!(attached.ends_with(&expected), "{attached:?}");
    }
}

#[test]
fn errors_in_its_keys_are_reported_like_others() {
    let catalogue = models("pipe").unwrap().catalogue();
    for (access, code) in [
        ("delay = \"2 s\"", "S017"),
        ("dealy = \"2 ms\"", "S010"),
        ("placement = \"anywhere\"", "S013"),
    ] {
        let report = catalogue.check(&text(access), "pipe.toml", &[]);
        let report = report.unwrap_err();
        let codes: Vec<_> = report.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{access}");
    }
    assert_eq!(
        models("lte").err(),
        Some(CatalogueError::NameTaken {
            section: "access",
            name: "lte",
        })
    );
}

#[test]
fn a_panic_names_the_technology() {
    let models = models("pipe").unwrap();
    let scenario = models.catalogue().parse(&text("panics_at = 5"), "s.toml");
    let Err(RunError::Model(panic)) = models.run(&scenario.unwrap(), 1) else {
        panic!("the run goes on");
    };
    assert_eq!(
        (panic.model.as_str(), panic.place.as_str()),
        ("pipe", "medium of the access")
    );
}
