//! Queue disciplines by name: the values of a queue's `discipline`, and the construction of queues.

use std::fmt;
use std::sync::Arc;

use backlane_engine::{Stream, Streams};
use backlane_net::queue::{CoDelConfig, FqCoDelConfig};
use backlane_net::{QueueConfig, QueueDiscipline, QueueFactory, QueueLimit, QueueSite};
use backlane_param::{Mismatch, Params, Values};
use backlane_scenario::{Declared, model};

use crate::error::BuildError;
use crate::guard::Guarded;
use crate::registry::{Registry, registered};

type Make = dyn Fn(&Values, &Streams) -> Result<Arc<dyn QueueFactory>, Mismatch> + Send + Sync;

/// A queue discipline: its name, its keys and its queues.
pub struct Queue {
    declared: Declared,
    name: &'static str,
    make: Box<Make>,
}

/// Makes queues of a discipline from their parameters and a random stream of each.
struct Factory<C, F> {
    name: &'static str,
    config: C,
    make: Arc<F>,
    streams: Streams,
}

impl<C, F> fmt::Debug for Factory<C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<C, F> QueueFactory for Factory<C, F>
where
    C: Send + Sync,
    F: Fn(&C, QueueSite, Stream) -> Box<dyn QueueDiscipline> + Send + Sync,
{
    fn build(&self, site: QueueSite) -> Box<dyn QueueDiscipline> {
        let stream = self.streams.stream(&site.place.to_string(), "queue");
        (self.make)(&self.config, site, stream)
    }
}

#[derive(Debug)]
struct GuardedFactory {
    name: &'static str,
    inner: Arc<dyn QueueFactory>,
}

impl QueueFactory for GuardedFactory {
    fn build(&self, site: QueueSite) -> Box<dyn QueueDiscipline> {
        let place = format!("queue before {}", site.place);
        Box::new(Guarded::new(self.name, place, || self.inner.build(site)))
    }
}

impl Queue {
    /// The discipline `name`, whose keys are those of `C`. `make` is called once for each queue,
    /// with a random stream of its own.
    pub fn new<C: Params + 'static>(
        name: &'static str,
        make: impl Fn(&C, QueueSite, Stream) -> Box<dyn QueueDiscipline> + Send + Sync + 'static,
    ) -> Self {
        let make = Arc::new(make);
        Self {
            declared: Declared::Word {
                section: "queue",
                variant: C::spec().variant(name),
            },
            name,
            make: Box::new(move |values, streams| {
                Ok(Arc::new(Factory {
                    name,
                    config: C::read(values)?,
                    make: make.clone(),
                    streams: streams.clone(),
                }))
            }),
        }
    }

    /// A panic of its queues names the discipline and the simulated time.
    pub(crate) fn guarded(mut self) -> Self {
        let (name, make) = (self.name, self.make);
        self.make = Box::new(move |values, streams| {
            Ok(Arc::new(GuardedFactory {
                name,
                inner: make(values, streams)?,
            }))
        });
        self
    }

    /// A discipline whose parameters make its queues and that draws nothing.
    fn of<C: Params + QueueFactory + 'static>(name: &'static str) -> Self {
        Self::new(name, |config: &C, site, _| config.build(site))
    }
}

registered!(Queue, "queue discipline");

/// The disciplines of this program, beside drop-tail.
pub(crate) fn standard() -> Registry<Queue> {
    Registry::from_iter([
        Queue::of::<CoDelConfig>("codel"),
        Queue::of::<FqCoDelConfig>("fq-codel"),
    ])
}

impl Registry<Queue> {
    /// The queue of a scenario.
    pub(crate) fn config(
        &self,
        queue: &model::QueueConfig,
        streams: &Streams,
    ) -> Result<QueueConfig, BuildError> {
        let limit = limit(queue.limit);
        let config = match &queue.discipline {
            model::QueueDiscipline::DropTail { mark_above: None } => QueueConfig::DropTail(limit),
            model::QueueDiscipline::DropTail {
                mark_above: Some(threshold),
            } => QueueConfig::Marking {
                limit,
                mark_above: self::limit(*threshold),
            },
            model::QueueDiscipline::Declared(discipline) => {
                let found = self.find(&discipline.name)?;
                let factory = (found.make)(&discipline.values, streams)?;
                QueueConfig::Discipline(limit, factory)
            }
        };
        Ok(if queue.routing_first {
            config.with_routing_first()
        } else {
            config
        })
    }
}

fn limit(limit: model::QueueLimit) -> QueueLimit {
    match limit {
        model::QueueLimit::Bytes(bytes) => QueueLimit::Bytes(bytes.get()),
        model::QueueLimit::Packets(packets) => {
            QueueLimit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
        }
    }
}
