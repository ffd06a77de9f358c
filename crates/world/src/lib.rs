//! A resolved scenario becomes a running world, and a finished one becomes tables.
//!
//! `build` wires nodes, links, routers and flows together; [`World::run`] moves time;
//! `outcome` is what came of it. This is also the door for Rust programs that run scenarios:
//! [`Models`] has the catalogue that reads a file, and takes routing protocols, queue disciplines,
//! congestion controls, traffic sources, access technologies and path losses that the simulator does
//! not have.
//!
//! ```
//! use backlane_world::Models;
//! use backlane_world::controls::Control;
//! use backlane_world::param::params;
//! use backlane_world::tcp::congestion::{Ack, CongestionControl, Window};
//! use backlane_world::units::SimTime;
//!
//! params! {
//!     /// A constant window.
//!     #[derive(Clone, Copy, Debug)]
//!     pub struct Constant {
//!         /// The window.
//!         window_pkts: u32 = 10, in 2..=1000;
//!     }
//! }
//!
//! impl CongestionControl for Constant {
//!     fn on_ack(&mut self, _now: SimTime, _ack: &Ack, window: &mut Window) {
//!         window.cwnd_pkts = self.window_pkts;
//!     }
//!
//!     fn ssthresh(&mut self, _now: SimTime, _window: &Window, _in_flight_pkts: u32) -> u32 {
//!         self.window_pkts
//!     }
//! }
//!
//! let constant = Control::new("constant", |constant: &Constant, _seed| Box::new(*constant));
//! let models = Models::builder().congestion_control(constant).build()?;
//! let scenario = r#"
//! duration = "10 s"
//! topology = { kind = "chain", nodes = 2, link = { rate = "10 Mbit/s", delay = "50 ms" } }
//! tcp = { congestion_control = "constant" }
//! flow = [{ kind = "transfer", from = "enb1", to = "enb2", size = "endless" }]
//! "#;
//! let scenario = models.catalogue().parse(scenario, "constant.toml")?;
//! let outcome = models.run(&scenario, 1)?;
//! // Ten packets of 1448 bytes in a round trip of about 100 ms.
//! let goodput_bps = outcome.flows.floats("goodput_bps").unwrap()[0].unwrap();
//! assert!((1.0e6..1.2e6).contains(&goodput_bps), "{goodput_bps}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod assignment;
pub mod build;
mod builder;
mod capture;
pub mod controls;
mod convert;
mod error;
mod estimate;
mod failures;
mod guard;
mod infos;
mod link_state;
pub mod mobility;
pub mod models;
mod names;
pub mod outcome;
mod outside;
mod outside_flows;
pub mod path_losses;
pub mod python_router;
pub mod queues;
mod radio;
mod ran;
mod regions;
mod registry;
mod remarks;
pub mod routers;
mod run;
pub mod sink;
mod site;
pub mod slotted;
pub mod sources;
mod starts;
mod stations;
mod stepped;
pub mod technologies;
mod ues;
mod wifi;
mod world;

pub use backlane_engine::{self as engine, Interrupt};
pub use backlane_net as net;
pub use backlane_param as param;
pub use backlane_record as record;
pub use backlane_routing as routing;
pub use backlane_scenario::{Described, Scenario};
pub use backlane_tcp as tcp;
pub use backlane_traffic as traffic;
pub use backlane_traffic::address;
pub use backlane_units as units;
pub use build::{Supplied, Threads};
pub use error::BuildError;
pub use estimate::{Estimate, Part, estimate};
pub use guard::ModelPanic;
pub use link_state::LinkState;
pub use models::{Models, catalogue};
pub use outcome::{Ended, Outcome, Summary};
pub use outside::{Door, Outside};
pub use outside_flows::OutsideFlow;
pub use remarks::remarks;
pub use run::RunError;
pub use sink::Sink;
pub use stepped::{FlowState, Stepped, TcpState};
pub use world::World;
