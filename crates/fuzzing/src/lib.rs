//! Properties that hold for any bytes: the bodies of the fuzz targets.
//!
//! Each target is a function of bytes that panics if a property is violated. `fuzz/` runs it with
//! libFuzzer; the tests of this crate run it on the corpora in `fuzz/corpus` and on bytes
//! generated from fixed seeds, without a nightly compiler.
//!
//! Texts:
//!
//! - [`units`]: printing and parsing of quantities agree.
//! - [`scenario`]: a scenario is refused with a coded report or resolves to a fixed point.
//! - [`sites`], [`traces`]: the files that a scenario names.
//!
//! Messages and segments:
//!
//! - [`messages`]: decoding and encoding of routing messages agree.
//! - [`routers`]: a neighbour that sends any bytes causes no panic of a router.
//! - [`tcp`]: forged segments cause no panic of an endpoint.
//! - [`coding`]: decoded packets equal the sent ones.
//!
//! Computations and files:
//!
//! - [`assignment`]: every assignment is accepted by a checker that shares no code with it.
//! - [`pcapng`]: captures are sequences of complete blocks.
//!
//! Runs, over networks that `networks` writes and `keys` changes:
//!
//! - [`runs`]: packets are conserved, and a repeated or interrupted run gives the same results.
//! - [`slotted`]: the same for the slotted model.
//!
//! `choices` turns bytes into choices, so that every input is a case. `dictionary` has the words
//! of scenario files, from the table of their keys.

mod assignment;
mod choices;
mod coding;
mod dictionary;
mod keys;
mod messages;
mod networks;
mod pcapng;
mod routers;
mod runs;
mod scenario;
mod slotted;
mod tables;
mod tcp;
mod units;

pub use assignment::assignment;
pub use choices::Choices;
pub use coding::coding;
pub use dictionary::dictionary;
pub use messages::messages;
pub use pcapng::pcapng;
pub use routers::routers;
pub use runs::{Ran, resolved_case, run, runs};
pub use scenario::scenario;
pub use slotted::slotted;
pub use tables::{sites, traces};
pub use tcp::tcp;
pub use units::units;

/// The body of a target.
pub type Target = fn(&[u8]);

/// Every target by its name, which is also that of its corpus.
pub const TARGETS: [(&str, Target); 12] = [
    ("assignment", assignment),
    ("coding", coding),
    ("messages", messages),
    ("pcapng", pcapng),
    ("routers", routers),
    ("runs", runs),
    ("scenario", scenario),
    ("sites", sites),
    ("slotted", slotted),
    ("tcp", tcp),
    ("traces", traces),
    ("units", units),
];
