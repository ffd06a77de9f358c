//! A network under construction, and the last one of a sweep.

use std::rc::Rc;

use backlane_units::Length;

use crate::codes::Code;
use crate::diagnostic::Span;
use crate::files::Files;
use crate::model::{Link, NodeKind};
use crate::problems::Problems;
use crate::spec::tables::MOST_NODES;
use crate::tree::{Item, Table};

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
    /// The channels that the file gives it in particular.
    pub(crate) channels: Option<Vec<u8>>,
    /// The number of radios that the file gives it in particular.
    pub(crate) radios: Option<u8>,
    pub(crate) span: Span,
}

/// The sections that determine a network.
struct Sections {
    network: [Option<Item>; 3],
    has_radios: bool,
}

impl Sections {
    const NAMES: [&str; 3] = ["topology", "gateway", "server"];

    fn of(file: &Table) -> Self {
        Self {
            network: Self::NAMES.map(|section| file.get(section).cloned()),
            has_radios: file.get("wifi").is_some(),
        }
    }

    fn are_of(&self, file: &Table) -> bool {
        let own = self.network.iter().map(Option::as_ref);
        own.eq(Self::NAMES.map(|section| file.get(section)))
            && self.has_radios == file.get("wifi").is_some()
    }
}

/// The networks of the cells of a sweep: one that is like that of the cell before is not built
/// again.
#[derive(Default)]
pub(crate) struct Networks {
    is_sweep: bool,
    last: Option<(Sections, Rc<Network>)>,
}

impl Networks {
    /// The networks of this many cells.
    pub(crate) fn of_cells(cells: usize) -> Self {
        Self {
            is_sweep: cells > 1,
            last: None,
        }
    }

    /// The network of a normal file.
    pub(crate) fn of(
        &mut self,
        file: &Table,
        files: &mut Files,
        problems: &mut Problems,
    ) -> Option<Rc<Network>> {
        if let Some((sections, network)) = &self.last
            && sections.are_of(file)
        {
            return Some(network.clone());
        }
        let before = problems.error_count();
        let network = Rc::new(super::build(file, files, problems)?);
        if self.is_sweep && problems.error_count() == before {
            self.last = Some((Sections::of(file), network.clone()));
        }
        Some(network)
    }
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
