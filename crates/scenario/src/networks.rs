//! The networks of the cells of a sweep.

use std::rc::Rc;

use crate::files::Files;
use crate::problems::Problems;
use crate::topology::{self, Network};
use crate::tree::{Item, Table};

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
        let network = Rc::new(topology::build(file, files, problems)?);
        if self.is_sweep && problems.error_count() == before {
            self.last = Some((Sections::of(file), network.clone()));
        }
        Some(network)
    }
}
