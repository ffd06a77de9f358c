//! A routing protocol that the program brings, with keys of its own, is checked, swept and run
//! as one that the simulator has.

use backlane_net::{Context, DropCause, PacketId, Router};
use backlane_param::{Param, Params, params, words};
use backlane_scenario::{CatalogueError, schema};
use backlane_world::python_router::PythonRouting;
use backlane_world::routers::Protocol;
use backlane_world::units::Duration;
use backlane_world::{BuildError, Models, Outcome, RunError, Supplied, World};

words! {
    /// How an interface is chosen.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Choice {
        /// At random.
        #[default]
        Random = "random",
        /// In turn.
        Turn = "turn" | "round-robin",
    }
}

params! {
    /// A walk over the mesh that ends where the destination is a neighbour.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Walk {
        /// How an interface is chosen.
        choice: Choice = Choice::Random;
        /// A packet that has wandered for more hops is dropped.
        patience: u32 = 30, in 1..=255;
        /// Not used; shows a time.
        pause: Duration = Duration::from_millis(5), in Duration::ZERO..=Duration::from_secs(1);
    }
}

struct Walker {
    config: Walk,
    stream: backlane_engine::Stream,
    turn: usize,
}

impl Router for Walker {
    fn start(&mut self, _: &mut Context<'_>) {}

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let exit = context.packet(id).exit;
        let interfaces = context.interfaces();
        let direct = interfaces.iter().position(|i| i.peer == exit);
        let count = interfaces.len();
        if u32::from(context.packet(id).hops) > self.config.patience {
            return context.drop(id, DropCause::NoRoute);
        }
        self.turn += 1;
        let chosen = match self.config.choice {
            Choice::Random => self.stream.uniform_below(count as u64) as usize,
            Choice::Turn => self.turn % count,
        };
        context.transmit(direct.unwrap_or(chosen), id);
    }

    fn on_message(&mut self, _: &mut Context<'_>, _: usize, _: u8, _: &[u8]) {}
    fn on_timer(&mut self, _: &mut Context<'_>, _: u32) {}
}

fn models() -> Models {
    let protocol = Protocol::new("walk", |config: Walk, site| {
        let stream = site.streams("walk");
        Ok(Box::new(move |node| {
            Box::new(Walker {
                config,
                stream: stream(node),
                turn: 0,
            })
        }))
    });
    Models::builder().router(protocol).build().unwrap()
}

fn text(routing: &str) -> String {
    format!(
        "duration = \"2 s\"\n[topology]\nkind = \"grid\"\nrows = 3\ncolumns = 3\n\
         link = {{ rate = \"10 Mbit/s\", delay = \"1 ms\" }}\n[routing]\n{routing}\n\
         [[flow]]\nkind = \"udp\"\nfrom = \"enb1\"\nto = \"enb9\"\nrate = \"1 Mbit/s\"\n"
    )
}

#[test]
fn its_keys_are_checked_swept_and_run() {
    let models = models();
    let catalogue = models.catalogue();
    let swept = text(
        "protocol = \"walk\"\n[sweep]\n\"routing.patience\" = [4, 60]\n\"routing.choice\" = [\"round-robin\", \"random\"]",
    );
    let plan = catalogue.plan(&swept, "walk.toml", &[], None);
    let plan = plan.unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(plan.cells.len(), 4);
    assert!(
        plan.cells[0]
            .resolved
            .contains("choice = \"turn\"\npatience = 4\npause = \"5 ms\" # default"),
        "{}",
        plan.cells[0].resolved
    );
    let delivered = |cell: usize| {
        let scenario = catalogue.from_resolved(&plan.cells[cell].resolved).unwrap();
        let world = World::with_models(&models, &scenario, 1, None).unwrap();
        world.run(|_, _| Ok(())).unwrap().summary.packets_delivered
    };
    assert!(delivered(0) < delivered(2));
    assert!(schema(catalogue).contains("A packet that has wandered for more hops is dropped."));
}

#[test]
fn errors_in_its_keys_are_reported_like_others() {
    let catalogue = models().catalogue();
    let wrong = text("protocol = \"walk\"\npatence = 3\nchoice = \"trun\"\npause = 5");
    let report = catalogue.check(&wrong, "walk.toml", &[]).unwrap_err();
    let codes: Vec<_> = report.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["S010", "S013", "S014"]);
    let swept = text("protocol = \"walk\"\n[sweep]\n\"routing.patience\" = [4, 600]");
    let report = catalogue.check(&swept, "walk.toml", &[]).unwrap_err();
    assert_eq!(report.diagnostics[0].code, "S017");
}

params! {
    /// A default out of its range.
    pub struct Bad {
        /// Ten at most.
        many: u32 = 11, in 1..=10;
    }
}
params! {
    /// A key that all protocols have.
    pub struct Clash {
        /// Taken.
        warm_up: bool = true;
    }
}

fn refused<C: Params + 'static>(name: &'static str) -> CatalogueError {
    let protocol = Protocol::new(name, |_: C, _| unreachable!());
    let built = Models::builder().router(protocol).build();
    built.err().unwrap()
}

#[test]
fn invalid_additions_are_refused_at_the_start() {
    assert_eq!(
        refused::<Bad>("bad"),
        CatalogueError::BadDefault {
            of: "bad",
            key: "many",
            default: "11",
            takes: "an integer from 1 to 10".to_owned(),
        }
    );
    assert_eq!(
        refused::<Clash>("clash"),
        CatalogueError::KeyTaken {
            of: "clash",
            key: "warm_up",
        }
    );
    assert_eq!(
        refused::<Walk>("olsr"),
        CatalogueError::NameTaken {
            section: "routing",
            name: "olsr",
        }
    );
    assert_eq!(
        refused::<Walk>("aodv"),
        CatalogueError::NameTaken {
            section: "routing",
            name: "aodv",
        }
    );
}

#[test]
fn a_key_is_explained_by_its_path() {
    let catalogue = models().catalogue();
    assert!(
        catalogue
            .explain("routing.patience")
            .unwrap()
            .contains("from 1 to 255, default 30")
    );
}

params! {
    /// A router that panics.
    #[derive(Clone, Copy, Debug)]
    pub struct Fragile {
        /// Simulated time from which on a packet is too much.
        until: Duration = Duration::from_secs(1), in Duration::ZERO..=Duration::from_secs(100);
    }
}

struct Panics(Fragile);

impl Router for Panics {
    fn start(&mut self, _: &mut Context<'_>) {}

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        let now = context.now();
        assert!(
            now.as_secs_f64() < self.0.until.as_secs_f64(),
            "one packet too many"
        );
        context.transmit(0, id);
    }

    fn on_message(&mut self, _: &mut Context<'_>, _: usize, _: u8, _: &[u8]) {}
    fn on_timer(&mut self, _: &mut Context<'_>, _: u32) {}
}

#[test]
fn a_panic_ends_its_run_with_name_place_and_time_and_other_runs_go_on() {
    let protocol = Protocol::new("fragile", |config: Fragile, _| {
        Ok(Box::new(move |_| Box::new(Panics(config))))
    });
    let models = Models::builder().router(protocol).build().unwrap();
    let catalogue = models.catalogue();
    let swept = text("protocol = \"fragile\"\n[sweep]\n\"routing.until\" = [\"1 s\", \"9 s\"]");
    let plan = catalogue.plan(&swept, "fragile.toml", &[], None).unwrap();
    let run = |cell: usize| {
        let scenario = catalogue.from_resolved(&plan.cells[cell].resolved).unwrap();
        models.run(&scenario, 1)
    };
    let Err(RunError::Model(panic)) = run(0) else {
        panic!("the run goes on");
    };
    assert_eq!(
        (
            panic.model.as_str(),
            panic.place.as_str(),
            panic.message.as_str()
        ),
        ("fragile", "router of enb1", "one packet too many")
    );
    // A packet of 1000 bytes each 8 ms.
    assert!((1.0..1.009).contains(&panic.at.as_secs_f64()), "{panic}");
    assert!(run(1).is_ok());
}

/// The keys of protocol "python".
fn python(routing: &str) -> String {
    let routing = format!("protocol = \"python\"\nrouter = \"walk.py:Walk\"\n{routing}");
    text(&routing) + "[[python]]\nfile = \"walk.py\"\nsource = \"class Walk: pass\"\n"
}

fn supplied(router: Option<&Protocol>, scenario: &str) -> Result<Outcome, BuildError> {
    let models = Models::standard();
    let scenario = models.catalogue().from_resolved(scenario).unwrap();
    let supplied = Supplied {
        router,
        ..Supplied::default()
    };
    let world = World::watched(models, supplied, &scenario, 1, None, |_, _| Ok(()))?;
    Ok(world.unwrap().run(|_, _| Ok(())).unwrap())
}

#[test]
fn routers_that_the_program_supplies_take_the_place_of_the_model() {
    let walk = Protocol::new("python", |config: PythonRouting, site| {
        assert_eq!(config.router.0, "walk.py:Walk");
        assert_eq!(site.names().nth(3), Some("enb4"));
        let patience = config.parameters.and_then(|own| {
            let patience = own.0.get("patience")?.clone();
            u32::from_value(&patience)
        });
        let config = Walk {
            patience: patience.unwrap_or_default(),
            ..Walk::default()
        };
        let stream = site.streams("walk");
        Ok(Box::new(move |node| {
            Box::new(Walker {
                config,
                stream: stream(node),
                turn: 0,
            })
        }))
    });
    let delivered = |more: &str| {
        let outcome = supplied(Some(&walk), &python(more)).unwrap();
        outcome.summary.packets_delivered
    };
    let (few, many) = (delivered(""), delivered("parameters = { patience = 60 }"));
    assert!(few < many, "{few} {many}");
}

#[test]
fn a_scenario_without_the_routers_that_it_names_is_not_built() {
    let error = supplied(None, &python("")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the routers of protocol \"python\" are not in this program"
    );
}

/// A router that panics when it is asked for its measures.
struct Unreadable;

impl Router for Unreadable {
    fn start(&mut self, _: &mut Context<'_>) {}

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        context.drop(id, DropCause::NoRoute);
    }

    fn on_message(&mut self, _: &mut Context<'_>, _: usize, _: u8, _: &[u8]) {}
    fn on_timer(&mut self, _: &mut Context<'_>, _: u32) {}

    fn readings(&self, _now: backlane_world::units::SimTime) -> Vec<(&'static str, u128)> {
        panic!("no measures")
    }
}

#[test]
fn a_panic_of_a_constructor_or_of_a_reader_is_an_error_of_its_run() {
    let unmade = Protocol::new("unmade", |_: Fragile, _| {
        Ok(Box::new(|_| -> Box<dyn Router> { panic!("no router") }))
    });
    let unread = Protocol::new("unread", |_: Fragile, _| {
        Ok(Box::new(|_| -> Box<dyn Router> { Box::new(Unreadable) }))
    });
    let models = Models::builder().router(unmade).router(unread);
    let models = models.build().unwrap();
    for (name, message) in [("unmade", "no router"), ("unread", "no measures")] {
        let routing = format!("protocol = \"{name}\"");
        let scenario = models.catalogue().parse(&text(&routing), "s.toml").unwrap();
        let Err(RunError::Model(panic)) = models.run(&scenario, 1) else {
            panic!("{name} has an outcome");
        };
        assert_eq!(
            (
                panic.model.as_str(),
                panic.place.as_str(),
                panic.message.as_str()
            ),
            (name, "router of enb1", message)
        );
    }
}
