//! Link sections: templates of links, and their queues.

use std::sync::Arc;

use backlane_units::{Duration, Rate};

use super::rules::propagation;
use super::{capacities, impaired};
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::model::{
    Discipline, Impairments, Link, Medium, QueueConfig, QueueDiscipline, QueueLimit, RadioLink,
    Wire, WireCapacity,
};
use crate::phrases::{self, Limit};
use crate::plain;
use crate::problems::Problems;
use crate::spec::tables::LONGEST_PS;
use crate::tree::Table;

/// A full packet; a queue shorter than this is suspicious.
const FULL_PACKET_BYTES: u64 = 1500;

/// The largest IP packet.
const LARGEST_PACKET_BYTES: u64 = 65_535;

/// Picoseconds in a day.
const DAY_PS: u128 = 86_400 * 1_000_000_000_000;

/// The attributes of each link made from a link section.
#[derive(Clone, Debug)]
pub(super) struct Template {
    medium: MediumTemplate,
    flow_rates_bps: Option<[u64; 2]>,
    pub(super) span: Span,
    queue_span: Span,
    impaired_span: Span,
}

/// The technology of a section's links.
#[derive(Clone, Debug)]
enum MediumTemplate {
    Wire {
        rate: Rate,
        /// `None` follows from the length.
        delay: Option<Duration>,
        /// Added to a delay that follows from the length.
        fixed_delay: Duration,
        queue: Queue,
        loss: [f64; 2],
        capacity: Option<Arc<[Option<WireCapacity>; 2]>>,
        impairments: Option<Arc<[Impairments; 2]>>,
    },
    Wifi(RadioLink),
}

impl Template {
    /// Reads a normal link section.
    pub(super) fn read(table: &Table, span: Span) -> Option<Self> {
        let medium = if table.text("medium") == Some("wifi") {
            MediumTemplate::Wifi(RadioLink {
                channel: table.integer("channel"),
                is_left_out: table.text("channel") == Some("none"),
                rate: table.quantity("rate"),
                loss: table.number("loss"),
            })
        } else {
            MediumTemplate::Wire {
                rate: table.quantity("rate")?,
                delay: match table.text("delay")? {
                    "per length" => None,
                    text => Some(text.parse().ok()?),
                },
                fixed_delay: table.quantity("fixed_delay").unwrap_or_default(),
                queue: queue(table)?,
                loss: {
                    let there = table.number("loss")?;
                    [there, table.number("loss_back").unwrap_or(there)]
                },
                capacity: capacities::read(table),
                impairments: impaired::read(table),
            }
        };
        Some(Self {
            medium,
            flow_rates_bps: flow_rates_bps(table),
            span,
            queue_span: table.place("queue", span),
            impaired_span: table.place("impairments", table.place("impairments_back", span)),
        })
    }

    /// The link between nodes `a` and `b`, which are `length_m` metres apart if known. A wire has
    /// the rate of the template unless it has one of its own.
    pub(super) fn link(
        &self,
        a: usize,
        b: usize,
        length_m: Option<f64>,
        own_rate: Option<Rate>,
    ) -> Link {
        let medium = match self.medium {
            MediumTemplate::Wifi(radio) => Medium::Wifi(radio),
            MediumTemplate::Wire {
                rate,
                delay,
                fixed_delay,
                ref queue,
                loss,
                ref capacity,
                ref impairments,
            } => {
                let rate = own_rate.unwrap_or(rate);
                let delay = delay.unwrap_or_else(|| {
                    propagation(length_m.unwrap_or(0.0)).saturating_add(fixed_delay)
                });
                Medium::Wire(Wire {
                    rate,
                    delay,
                    queue: queue.on(rate, delay),
                    loss,
                    capacity: capacity.clone(),
                    impairments: impairments.clone(),
                })
            }
        };
        Link {
            a,
            b,
            medium,
            flow_rates_bps: self.flow_rates_bps,
        }
    }
}

/// The flow rates of a normal link section, there and back.
fn flow_rates_bps(table: &Table) -> Option<[u64; 2]> {
    let rate = |key| {
        let text = table.text(key)?;
        Some(text.parse::<Rate>().map_or(0, Rate::as_bps))
    };
    let there = rate("flow_rate");
    let back = rate("flow_rate_back").or(there)?;
    Some([there.unwrap_or(0), back])
}

/// A queue whose limits may follow from the rate and the delay of its link.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    limit: Limit,
    kind: QueueKind,
    routing_first: bool,
}

#[derive(Clone, Debug)]
enum QueueKind {
    /// What arrives at a full queue is dropped.
    DropTail { mark_above: Option<Limit> },
    /// A discipline that the running program declares.
    Declared(Arc<Discipline>),
}

impl Queue {
    fn on(&self, rate: Rate, delay: Duration) -> QueueConfig {
        QueueConfig {
            limit: self.limit.on(rate, delay),
            discipline: match &self.kind {
                QueueKind::DropTail { mark_above } => QueueDiscipline::DropTail {
                    mark_above: mark_above.map(|limit| limit.on(rate, delay)),
                },
                QueueKind::Declared(discipline) => QueueDiscipline::Declared(discipline.clone()),
            },
            routing_first: self.routing_first,
        }
    }

    /// Whether a limit follows from a rate.
    fn needs_rate(&self) -> bool {
        let is_bdp = |limit: &Limit| matches!(limit, Limit::Bdp { .. });
        let marks = match &self.kind {
            QueueKind::DropTail { mark_above } => mark_above.as_ref().is_some_and(is_bdp),
            QueueKind::Declared(_) => false,
        };
        is_bdp(&self.limit) || marks
    }
}

/// The queue of a normal link section.
pub(crate) fn queue(table: &Table) -> Option<Queue> {
    let Some(inner) = table.table("queue") else {
        return Some(Queue {
            limit: phrases::limit(table.text("queue")?).ok()?,
            kind: QueueKind::DropTail { mark_above: None },
            routing_first: false,
        });
    };
    let name = inner.text("discipline")?;
    let kind = if name == "drop-tail" {
        let mark_above = match inner.text("mark_above") {
            Some(text) => Some(phrases::limit(text).ok()?),
            None => None,
        };
        QueueKind::DropTail { mark_above }
    } else {
        QueueKind::Declared(Arc::new(Discipline {
            name: name.to_owned(),
            values: plain::values(inner),
        }))
    };
    Some(Queue {
        limit: phrases::limit(inner.text("limit")?).ok()?,
        kind,
        routing_first: inner.boolean("routing_first") == Some(true),
    })
}

/// The queue of a normal section whose link has no rate that a limit could follow from.
pub(crate) fn queue_without_rate(table: &Table) -> Option<QueueConfig> {
    let queue = queue(table).filter(|queue| !queue.needs_rate())?;
    Some(queue.on(Rate::from_bps(1), Duration::ZERO))
}

/// The template of the key `link` of a section. Where it was refused, a placeholder lets the
/// other checks of the network go on.
pub(super) fn template(section: &Table) -> Template {
    let read = section
        .get("link")
        .and_then(|item| Template::read(item.as_table()?, item.span));
    read.unwrap_or(Template {
        medium: MediumTemplate::Wifi(RadioLink::default()),
        flow_rates_bps: None,
        span: section.place("link", Span::default()),
        queue_span: Span::default(),
        impaired_span: Span::default(),
    })
}

/// A queue that follows from the link can hold little or nothing; impairments may contradict the
/// delay.
pub(super) fn check_wire(link: &Link, template: &Template, problems: &mut Problems) {
    let Some(wire) = link.wire() else {
        return;
    };
    impaired::check(wire, template.impaired_span, problems);
    let full_bytes = match wire.queue.limit {
        QueueLimit::Bytes(bytes) => bytes.get(),
        QueueLimit::Packets(packets) => packets.saturating_mul(LARGEST_PACKET_BYTES),
    };
    check_waiting_time(full_bytes, wire.rate, template.queue_span, problems);
    let QueueLimit::Bytes(bytes) = wire.queue.limit else {
        return;
    };
    let label = "write a size or a number of packets, such as \"500 kB\"";
    if bytes.get() == 0 {
        let message = format!(
            "the queue holds nothing: the delay of the link is {}",
            wire.delay
        );
        problems.error(Code::Zero, template.queue_span, message, label);
    } else if bytes.get() < FULL_PACKET_BYTES {
        let message = format!("the queue holds {bytes}, less than one full packet of 1500 B");
        problems.warning(Code::ShortQueue, template.queue_span, message, label);
    }
}

/// A full queue must empty within the longest run, so that no departure is beyond the clock.
pub(crate) fn check_waiting_time(bytes: u64, rate: Rate, span: Span, problems: &mut Problems) {
    let wait = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(rate.as_bps().max(1));
    if wait > u128::from(LONGEST_PS) {
        let message = format!("a full queue takes {} days to empty", wait / DAY_PS);
        problems.error(
            Code::Range,
            span,
            message,
            "write a smaller limit, or a faster rate",
        );
    }
}
