//! Access technologies of other crates: the values of `kind` in `[access]` besides "ideal", "lte"
//! and "trace".

use backlane_engine::Streams;
use backlane_net::{Medium, NodeId};
use backlane_param::{Mismatch, Params, Values};
use backlane_scenario::Declared;
use backlane_scenario::model::DeclaredAccess;

use crate::error::BuildError;
use crate::guard::Guarded;
use crate::registry::{Registry, registered};

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

registered!(Technology, "access technology");

impl Registry<Technology> {
    pub(crate) fn medium(
        &self,
        access: &DeclaredAccess,
        cells: &[Cell],
        streams: &Streams,
    ) -> Result<Box<dyn Medium>, BuildError> {
        Ok((self.find(&access.name)?.make)(
            &access.values,
            cells,
            streams,
        )?)
    }
}
