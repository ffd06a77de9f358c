//! Traffic sources by name: the values of a flow's `kind` besides TCP, "udp" and "on-off".

use std::fmt;
use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::FlowId;
use backlane_param::{Mismatch, Params, Values};
use backlane_scenario::Declared;
use backlane_traffic::{Source, SourceFactory};

use crate::error::BuildError;
use crate::guard::Guarded;
use crate::registry::{Registry, registered};

type Make = dyn Fn(&Values) -> Result<Arc<dyn SourceFactory>, Mismatch> + Send + Sync;

/// A kind of flow over UDP: its name, its keys and its sources.
pub struct Traffic {
    declared: Declared,
    name: &'static str,
    make: Box<Make>,
}

/// Makes sources from their parameters; a panic of one names the kind and the simulated time.
struct Factory<C, F> {
    name: &'static str,
    config: C,
    make: Arc<F>,
}

impl<C, F> fmt::Debug for Factory<C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<C, F> SourceFactory for Factory<C, F>
where
    C: Send + Sync,
    F: Fn(&C, Stream) -> Box<dyn Source> + Send + Sync,
{
    fn build(&self, flow: FlowId, stream: Stream) -> Box<dyn Source> {
        let place = format!("source of flow {}", flow.0);
        Box::new(Guarded::new(self.name, place, || {
            (self.make)(&self.config, stream)
        }))
    }
}

impl Traffic {
    /// The kind `name`, whose keys are those of `C` beside `from`, `to`, `size` and the keys of
    /// every flow. `make` is called once for each flow, with a random stream of its own.
    pub fn new<C: Params + 'static>(
        name: &'static str,
        make: impl Fn(&C, Stream) -> Box<dyn Source> + Send + Sync + 'static,
    ) -> Self {
        let make = Arc::new(make);
        Self {
            declared: Declared::Word {
                section: "flow.kind",
                variant: C::spec().variant(name),
            },
            name,
            make: Box::new(move |values| {
                Ok(Arc::new(Factory {
                    name,
                    config: C::read(values)?,
                    make: make.clone(),
                }))
            }),
        }
    }
}

registered!(Traffic, "kind of flow");

impl Registry<Traffic> {
    /// What makes the sources of a group of flows.
    pub(crate) fn factory(
        &self,
        name: &str,
        values: &Values,
    ) -> Result<Arc<dyn SourceFactory>, BuildError> {
        Ok((self.find(name)?.make)(values)?)
    }
}
