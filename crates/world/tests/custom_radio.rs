//! Models of path loss and mobility that the program brings, with keys of their own, are checked,
//! resolved and run as those that the simulator has.

use std::sync::Arc;

use backlane_engine::Stream;
use backlane_param::params;
use backlane_scenario::CatalogueError;
use backlane_units::{Duration, Frequency, Length};
use backlane_world::mobility::{MobilityModel, Position, UeMotion};
use backlane_world::path_losses::{Path, PathLoss, PathLossModel};
use backlane_world::{Models, Outcome, RunError};

params! {
    /// Clear up to a wall.
    #[derive(Clone, Copy, Debug)]
    pub struct Wall {
        /// Distance of the wall.
        distance: Length = Length::from_um(300_000_000), in Length::from_um(1)..;
        /// Whether the wall panics.
        panics: bool = false;
    }
}

impl PathLossModel for Wall {
    fn loss_db(&self, path: &Path, _: Frequency) -> f64 {
        let beyond = path.distance_m > self.distance.as_m_f64();
        assert!(!(beyond && self.panics), "behind the wall");
        if beyond { 200.0 } else { 80.0 }
    }
}

params! {
    /// East after a pause.
    #[derive(Clone, Copy, Debug)]
    pub struct East {
        /// The pause.
        pause: Duration = Duration::from_secs(1), in Duration::from_ps(0)..=Duration::from_secs(60);
    }
}

impl MobilityModel for East {
    fn places(&self, from: Position, _: Duration, _: &mut Stream) -> Vec<(Duration, Position)> {
        let to = Position::new(from.x_m + 1000.0, from.y_m, from.z_m);
        let begin = self.pause;
        vec![(begin, from), (begin + Duration::from_secs(2), to)]
    }
}

fn models(name: &'static str) -> Result<Models, CatalogueError> {
    let wall = PathLoss::new("wall", |wall: Wall| Arc::new(wall));
    let east = UeMotion::new(name, |east: East| Arc::new(east));
    Models::builder().path_loss(wall).mobility(east).build()
}

fn text(access: &str) -> String {
    format!(
        "duration = \"5 s\"\n[topology]\nkind = \"chain\"\nnodes = 1\n\
         link = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[server]]\nnode = \"server\"\nattach = \"enb1\"\n\
         link = {{ rate = \"1 Gbit/s\", delay = \"5 ms\" }}\n\
         [access]\nkind = \"lte\"\n{access}\n\
         [[access.ue]]\nnear = \"enb1\"\ndistance = \"100 m\"\n\
         [[flow]]\nkind = \"download\"\nsize = \"endless\"\n"
    )
}

fn run(access: &str) -> Result<Outcome, RunError> {
    let models = models("east").unwrap();
    let catalogue = models.catalogue();
    let plan = catalogue.plan(&text(access), "cell.toml", &[], None);
    let plan = plan.unwrap_or_else(|report| panic!("{report}"));
    let scenario = catalogue.from_resolved(&plan.cells[0].resolved).unwrap();
    models.run(&scenario, 1)
}

fn delivered_bytes(access: &str) -> u64 {
    let outcome = run(access).unwrap();
    outcome.flows.integers("delivered_bytes").unwrap()[0].unwrap()
}

#[test]
fn a_ue_that_walks_behind_the_wall_hears_nothing_more() {
    let wall = "path_loss = { model = \"wall\" }\n";
    let still = delivered_bytes(wall);
    // The wall is passed 200 m of 1000 m after the pause: at 1.4 s and at 3.4 s of 5 s.
    let early = delivered_bytes(&format!("{wall}mobility = \"east\""));
    let late = delivered_bytes(&format!(
        "{wall}mobility = {{ model = \"east\", pause = \"3 s\" }}"
    ));
    assert!(2 * early < late && late < still, "{early} {late} {still}");
}

#[test]
fn errors_in_their_keys_are_reported_like_others() {
    let catalogue = models("east").unwrap().catalogue();
    for (access, code) in [
        ("mobility = { model = \"east\", pause = \"2 min\" }", "S017"),
        ("mobility = { model = \"east\", paws = \"2 s\" }", "S010"),
        ("mobility = \"west\"", "S013"),
        ("path_loss = { model = \"wall\", panics = 1 }", "S012"),
    ] {
        let report = catalogue.check(&text(access), "cell.toml", &[]);
        let report = report.unwrap_err();
        let codes: Vec<_> = report.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{access}");
    }
    assert_eq!(
        models("static").err(),
        Some(CatalogueError::NameTaken {
            section: "mobility",
            name: "static",
        })
    );
}

#[test]
fn a_panic_names_the_model_and_the_time() {
    let access = "path_loss = { model = \"wall\", panics = true }\nmobility = \"east\"";
    let Err(RunError::Model(panic)) = run(access) else {
        panic!("the run goes on");
    };
    assert_eq!(
        (panic.model.as_str(), panic.place.as_str()),
        ("wall", "path loss")
    );
    let at_s = panic.at.as_secs_f64();
    assert!((1.4..1.41).contains(&at_s), "{at_s} s");
}

#[test]
fn places_without_order_are_refused() {
    let Err(RunError::Build(error)) = run("mobility = { model = \"east\", pause = \"0 s\" }")
    else {
        panic!("the run goes on");
    };
    assert!(error.to_string().contains("\"east\""), "{error}");
}
