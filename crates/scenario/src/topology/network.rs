//! A network under construction.

use backlane_units::Length;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::{Link, NodeKind};
use crate::problems::Problems;
use crate::spec::tables::MOST_NODES;

/// Nodes and links under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    pub(crate) nodes: Vec<Placed>,
    pub(crate) links: Vec<(Link, Span)>,
}

/// A node and its place in the file.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) id: String,
    pub(crate) kind: NodeKind,
    pub(crate) position: Option<(Length, Length)>,
    /// Latitude and longitude in degrees.
    pub(crate) geographic_deg: Option<(f64, f64)>,
    /// The channels that the file gives it in particular.
    pub(crate) channels: Option<Vec<u8>>,
    /// The number of radios that the file gives it in particular.
    pub(crate) radios: Option<u8>,
    pub(crate) span: Span,
}

/// Reports a network that is too large.
pub(super) fn too_many(place: Span, count: u64, problems: &mut Problems) {
    problems.error(
        Code::TooManyNodes,
        place,
        format!("the network has {count} nodes or links"),
        format!("at most {MOST_NODES} are possible"),
    );
}
