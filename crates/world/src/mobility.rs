//! Models of the mobility of UEs that a program adds.

use std::sync::Arc;

use backlane_engine::Stream;
use backlane_param::{Mismatch, Params, Values};
pub use backlane_radio::Position;
pub use backlane_radio::mobility::MobilityModel;
use backlane_radio::mobility::UeMobility;
use backlane_radio::{Mobility, Named, Waypoints};
use backlane_scenario::Declared;
use backlane_units::{Duration, SimTime};

use crate::error::BuildError;
use crate::guard::Guarded;
use crate::registry::{Registry, registered};

type Make = dyn Fn(&Values) -> Result<Arc<dyn MobilityModel>, Mismatch> + Send + Sync;

/// A mobility model: its name, its keys and its constructor.
pub struct UeMotion {
    declared: Declared,
    name: &'static str,
    make: Box<Make>,
}

impl UeMotion {
    /// The model `name`, whose keys are those of `C`, in `[access.mobility]`. `make` is called once
    /// for each network.
    pub fn new<C: Params>(
        name: &'static str,
        make: impl Fn(C) -> Arc<dyn MobilityModel> + Send + Sync + 'static,
    ) -> Self {
        Self {
            declared: Declared::Word {
                section: "mobility",
                variant: C::spec().variant(name),
            },
            name,
            make: Box::new(move |values| {
                let config = C::read(values)?;
                let model = Guarded::new(name, "mobility".to_owned(), || make(config));
                Ok(Arc::new(model))
            }),
        }
    }
}

registered!(UeMotion, "mobility model");

/// How the UEs of a network move whose own row does not say so.
pub(crate) struct Motions {
    /// The model and its name; `None` where UEs stay.
    model: Option<(&'static str, Arc<dyn MobilityModel>)>,
    clock: SimTime,
    end: Duration,
}

impl Registry<UeMotion> {
    /// The model that a network names. Times of ways count from `clock`, and ways are made up to
    /// `end` after it.
    pub(crate) fn motions(
        &self,
        named: &Named<UeMobility, dyn MobilityModel>,
        clock: SimTime,
        end: Duration,
    ) -> Result<Motions, BuildError> {
        let mut named = named.clone();
        let mut name = "";
        named.make(|model, values| {
            let found = self.find(model)?;
            name = found.name;
            Ok::<_, BuildError>((found.make)(values)?)
        })?;
        let model = match named {
            Named::Known(UeMobility::Static) => None,
            Named::Added { model, .. } => model.map(|model| (name, model)),
        };
        Ok(Motions { model, clock, end })
    }
}

impl Motions {
    /// The way of a UE that begins at `from`.
    ///
    /// # Errors
    ///
    /// The model's places are not a way.
    pub(crate) fn way(&self, from: Position, mut stream: Stream) -> Result<Mobility, BuildError> {
        let Some((name, model)) = &self.model else {
            return Ok(Mobility::Static(from));
        };
        let mut places = vec![(self.clock, from)];
        let next = model.places(from, self.end, &mut stream);
        places.extend((next.into_iter()).map(|(at, place)| (self.clock + at, place)));
        let way = Waypoints::new(&places);
        let way = way.map_err(|error| {
            BuildError(format!("a way of the mobility model \"{name}\": {error}"))
        })?;
        Ok(Mobility::Waypoints(way))
    }
}
