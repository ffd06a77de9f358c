//! A resolved scenario becomes a running world, and a finished one becomes tables.
//!
//! `build` wires nodes, links, routers and flows together; [`World::run`] moves time;
//! `outcome` is what came of it. This is also the door for Rust programs that run scenarios:
//! [`backlane_scenario::Catalogue::parse`] reads one, and [`World::with_controls`] takes congestion
//! controls that the simulator does not have.
//!
//! ```
//! use backlane_world::tcp::congestion::{Ack, CongestionControl, Custom, Window};
//! use backlane_world::units::SimTime;
//! use backlane_world::{Scenario, World};
//!
//! /// Ten packets, whatever happens.
//! #[derive(Debug)]
//! struct Ten;
//!
//! impl CongestionControl for Ten {
//!     fn on_ack(&mut self, _now: SimTime, _ack: &Ack, window: &mut Window) {
//!         window.cwnd_pkts = 10;
//!     }
//!
//!     fn ssthresh(&mut self, _now: SimTime, _window: &Window, _in_flight_pkts: u32) -> u32 {
//!         10
//!     }
//! }
//!
//! let scenario = r#"
//! duration = "10 s"
//! topology = { kind = "chain", nodes = 2, link = { rate = "10 Mbit/s", delay = "50 ms" } }
//! tcp = { congestion_control = "custom:ten" }
//! flow = [{ kind = "transfer", from = "enb1", to = "enb2", size = "endless" }]
//! "#;
//! let scenario = backlane_world::catalogue().parse(scenario, "ten.toml")?;
//! let ten = Custom::new("ten", |_random_seed| Box::new(Ten));
//! let world = World::with_controls(&scenario, 1, None, &[ten])?;
//! let outcome = world.run(|_now, _events| Ok(()))?;
//! // Ten packets of 1448 bytes in a round trip of about 100 ms.
//! let goodput_bps = outcome.flows.floats("goodput_bps").unwrap()[0].unwrap();
//! assert!((1.0e6..1.2e6).contains(&goodput_bps), "{goodput_bps}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod assignment;
pub mod build;
mod capture;
mod controls;
mod convert;
mod convert_lte;
mod estimate;
mod failures;
mod guard;
pub mod models;
mod names;
pub mod outcome;
pub mod python_router;
pub mod queues;
mod radio;
mod remarks;
pub mod routers;
mod run;
pub mod sink;
pub mod slotted;
pub mod sources;
mod starts;
mod wifi;

pub use backlane_engine::{self as engine, Interrupt};
pub use backlane_net as net;
pub use backlane_param as param;
pub use backlane_record as record;
pub use backlane_routing as routing;
pub use backlane_scenario::{Described, Scenario};
pub use backlane_tcp as tcp;
pub use backlane_traffic as traffic;
pub use backlane_units as units;
pub use build::{BuildError, Supplied, World};
pub use estimate::{Estimate, Part, estimate};
pub use guard::{ModelPanic, RunError};
pub use models::{Models, catalogue};
pub use outcome::{Ended, Outcome, Summary};
pub use remarks::remarks;
pub use sink::Sink;
