//! Models of path loss that a program adds to those of `backlane_radio`.

use std::sync::Arc;

use backlane_param::{Mismatch, Params, Values};
use backlane_radio::Named;
pub use backlane_radio::path_loss::{Path, PathLossModel};
use backlane_scenario::Declared;

use crate::error::BuildError;
use crate::guard::Guarded;
use crate::registry::{Registry, registered};

type Make = dyn Fn(&Values) -> Result<Arc<dyn PathLossModel>, Mismatch> + Send + Sync;

/// A model of path loss: its name, its keys and its constructor.
pub struct PathLoss {
    declared: Declared,
    name: &'static str,
    make: Box<Make>,
}

impl PathLoss {
    /// The model `name`, whose keys are those of `C`, in `[access.path_loss]` and
    /// `[wifi.path_loss]`. `make` is called once for each network.
    pub fn new<C: Params>(
        name: &'static str,
        make: impl Fn(C) -> Arc<dyn PathLossModel> + Send + Sync + 'static,
    ) -> Self {
        Self {
            declared: Declared::Word {
                section: "path_loss",
                variant: C::spec().variant(name),
            },
            name,
            make: Box::new(move |values| {
                let config = C::read(values)?;
                let model = Guarded::new(name, "path loss".to_owned(), || make(config));
                Ok(Arc::new(model))
            }),
        }
    }
}

registered!(PathLoss, "path loss model");

impl Registry<PathLoss> {
    /// Makes the model that a network names, if it is one of the program.
    pub(crate) fn make<T>(
        &self,
        named: &mut Named<T, dyn PathLossModel>,
    ) -> Result<(), BuildError> {
        named.make(|name, values| Ok((self.find(name)?.make)(values)?))
    }
}
