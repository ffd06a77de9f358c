//! Access technologies of other crates: the values of `kind` in `[access]` besides "ideal", "lte"
//! and "trace".

use backlane_engine::Streams;
use backlane_net::{Medium, NodeId};
use backlane_param::{Mismatch, Params, Values};
use backlane_scenario::Declared;
use backlane_scenario::model::DeclaredAccess;

use crate::error::BuildError;
use crate::guard::Guarded;

/// An eNodeB and the UEs that attach to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The eNodeB, a router.
    pub enodeb: NodeId,
    /// Its place, east and north of the origin in metres, if the scenario gives one.
    pub position_m: Option<(f64, f64)>,
    /// Its UEs, hosts; at least one.
    pub ues: Vec<NodeId>,
}

type Make = dyn Fn(&Values, &[Cell], &Streams) -> Result<Box<dyn Medium>, Mismatch> + Send + Sync;

/// An access technology: its name, its keys and its medium.
pub struct Technology {
    declared: Declared,
    name: &'static str,
    make: Box<Make>,
}

impl Technology {
    /// The technology `name`, whose keys are those of `C` beside `ues`, `placement` and
    /// `per_enodeb`. `make` is called once for each network: one medium serves all cells. It takes
    /// random streams by the name of an entity and a purpose.
    pub fn new<C: Params>(
        name: &'static str,
        make: impl Fn(&C, &[Cell], &Streams) -> Box<dyn Medium> + Send + Sync + 'static,
    ) -> Self {
        Self {
            declared: Declared::Word {
                section: "access",
                variant: C::spec().variant(name),
            },
            name,
            make: Box::new(move |values, cells, streams| {
                let config = C::read(values)?;
                let place = "medium of the access".to_owned();
                let medium = Guarded::new(name, place, || make(&config, cells, streams));
                Ok(Box::new(medium))
            }),
        }
    }
}

/// The technologies that the program adds.
#[derive(Default)]
pub(crate) struct Technologies(Vec<Technology>);

impl Technologies {
    pub(crate) fn push(&mut self, technology: Technology) {
        self.0.push(technology);
    }

    pub(crate) fn declared(&self) -> impl Iterator<Item = Declared> {
        self.0.iter().map(|technology| technology.declared.clone())
    }

    pub(crate) fn medium(
        &self,
        access: &DeclaredAccess,
        cells: &[Cell],
        streams: &Streams,
    ) -> Result<Box<dyn Medium>, BuildError> {
        let found = self.0.iter().find(|known| known.name == access.name);
        let found =
            found.ok_or_else(|| BuildError(format!("there is no access \"{}\"", access.name)))?;
        let medium = (found.make)(&access.values, cells, streams);
        medium.map_err(|mismatch| BuildError(mismatch.to_string()))
    }
}
