//! A queue discipline that the program brings, with a key of its own, is checked, resolved and run as
//! one that the simulator has.

use backlane_net::queue::DropTail;
use backlane_net::{PacketId, PacketStore, QueueDiscipline};
use backlane_param::params;
use backlane_scenario::{Catalogue, CatalogueError};
use backlane_units::SimTime;
use backlane_world::queues::Queue;
use backlane_world::{Models, RunError};

params! {
    /// Drops each packet with the same probability.
    #[derive(Clone, Copy, Debug)]
    pub struct Coin {
        /// Probability that a packet is dropped.
        probability: f64 = 0.1, in 0.0..=1.0;
        /// Number of packets from which on it panics.
        panics_at: u64 = 1_000_000, in 1..=1_000_000;
    }
}

struct Tossed {
    config: Coin,
    fifo: DropTail,
    stream: backlane_engine::Stream,
    packets: u64,
}

impl QueueDiscipline for Tossed {
    fn enqueue(
        &mut self,
        now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        self.packets += 1;
        assert!(self.packets < self.config.panics_at, "a packet too many");
        if self.stream.bernoulli(self.config.probability) {
            dropped.push(id);
        } else {
            self.fifo.enqueue(now, id, packets, dropped);
        }
    }

    fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        self.fifo.dequeue(now, packets, dropped)
    }

    fn backlog_bytes(&self) -> u64 {
        self.fifo.backlog_bytes()
    }

    fn backlog_pkts(&self) -> usize {
        self.fifo.backlog_pkts()
    }
}

fn models(name: &'static str) -> Result<Models, CatalogueError> {
    let coin = Queue::new(name, |config: &Coin, site, stream| {
        Box::new(Tossed {
            config: *config,
            fifo: DropTail::new(site.limits()),
            stream,
            packets: 0,
        })
    });
    Models::builder().queue(coin).build()
}

/// 1000 packets of 1000 bytes from one router to the next, over the queue.
fn text(queue: &str) -> String {
    format!(
        "duration = \"10 s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
         link = {{ rate = \"10 Mbit/s\", delay = \"1 ms\", queue = {{ {queue} }} }}\n\
         [[flow]]\nkind = \"udp\"\nfrom = \"enb1\"\nto = \"enb2\"\nrate = \"800 kbit/s\"\n\
         packet_size = \"1000 B\"\n"
    )
}

fn resolved(catalogue: Catalogue, queue: &str) -> String {
    let plan = catalogue.plan(&text(queue), "coin.toml", &[], None);
    let plan = plan.unwrap_or_else(|report| panic!("{report}"));
    plan.cells[0].resolved.clone()
}

#[test]
fn its_keys_are_resolved_and_its_queues_draw_from_streams_of_their_own() {
    let models = models("coin").unwrap();
    let catalogue = models.catalogue();
    let resolved = resolved(catalogue, "discipline = \"coin\", probability = 0.25");
    let queue = "queue = { discipline = \"coin\", limit = \"2500 B\", routing_first = false, \
                 probability = 0.25, panics_at = 1000000 }";
    assert!(resolved.contains(queue), "{resolved}");
    let scenario = catalogue.from_resolved(&resolved).unwrap();
    let delivered = |seed| {
        let outcome = models.run(&scenario, seed).unwrap();
        outcome.summary.packets_delivered
    };
    // Three quarters of 1000, within four standard deviations of 13.7.
    for seed in 1..=3 {
        assert!(
            (695..=805).contains(&delivered(seed)),
            "{}",
            delivered(seed)
        );
    }
    assert_eq!(delivered(1), delivered(1));
    assert_ne!(delivered(1), delivered(2));
}

#[test]
fn errors_in_its_keys_are_reported_like_others() {
    let catalogue = models("coin").unwrap().catalogue();
    for (queue, code) in [
        ("discipline = \"coin\", probability = 1.5", "S017"),
        ("discipline = \"coin\", probabilty = 0.5", "S010"),
        ("discipline = \"coins\"", "S013"),
    ] {
        let report = catalogue.check(&text(queue), "coin.toml", &[]).unwrap_err();
        let codes: Vec<_> = report.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{queue}");
    }
}

#[test]
fn a_name_that_exists_is_refused_and_a_panic_names_the_queue() {
    let taken = models("codel").err();
    assert_eq!(
        taken,
        Some(CatalogueError::NameTaken {
            section: "queue",
            name: "codel",
        })
    );
    let models = models("coin").unwrap();
    let catalogue = models.catalogue();
    let resolved = resolved(catalogue, "discipline = \"coin\", panics_at = 11");
    let scenario = catalogue.from_resolved(&resolved).unwrap();
    let Err(RunError::Model(panic)) = models.run(&scenario, 1) else {
        panic!("the run goes on");
    };
    assert_eq!(panic.model, "coin");
    assert_eq!(panic.place, "queue before link 0");
    // The eleventh packet, one each 10 ms.
    assert!((0.1..0.11).contains(&panic.at.as_secs_f64()), "{panic}");
}
