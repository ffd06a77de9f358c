//! The scenario's parameters as the configurations of the models.

use backlane_net::queue::{CoDelConfig, FqCoDelConfig};
use backlane_net::{
    AtEnd, Capacity, Opportunities, OpportunityTrace, QueueConfig, QueueLimit, RateStep, RateTrace,
};
use backlane_scenario::model;

fn queue_limit(limit: model::QueueLimit) -> QueueLimit {
    match limit {
        model::QueueLimit::Bytes(bytes) => QueueLimit::Bytes(bytes.get()),
        model::QueueLimit::Packets(packets) => {
            QueueLimit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
        }
    }
}

pub(crate) fn at_end(at_end: model::AtEnd) -> AtEnd {
    match at_end {
        model::AtEnd::Repeat => AtEnd::Repeat,
        model::AtEnd::Hold => AtEnd::Hold,
        model::AtEnd::Stop => AtEnd::Stop,
    }
}

/// `None` where the trace has no order or no length, which the checks of a file exclude.
pub(crate) fn capacity(trace: &model::Capacity, at_end: model::AtEnd) -> Option<Capacity> {
    let at_end = self::at_end(at_end);
    match trace {
        model::Capacity::Opportunities(times) => {
            let times = times
                .iter()
                .map(|&(at_ms, count)| Opportunities { at_ms, count });
            OpportunityTrace::new(times.collect(), at_end).map(Capacity::Opportunities)
        }
        model::Capacity::Rates { steps, period } => {
            let steps = steps.iter().map(|&(from, bps)| RateStep { from, bps });
            RateTrace::new(steps.collect(), *period, at_end).map(Capacity::Rates)
        }
    }
}

pub(crate) fn queue(queue: model::QueueConfig) -> QueueConfig {
    let limit = queue_limit(queue.limit);
    let codel = |codel: model::CodelLimits| CoDelConfig {
        target: codel.target,
        interval: codel.interval,
        ecn: codel.ecn,
    };
    match queue.discipline {
        model::QueueDiscipline::DropTail => match queue.mark_above {
            None => QueueConfig::DropTail(limit),
            Some(threshold) => QueueConfig::Marking {
                limit,
                mark_above: queue_limit(threshold),
            },
        },
        model::QueueDiscipline::Codel(limits) => QueueConfig::CoDel(limit, codel(limits)),
        model::QueueDiscipline::FqCodel {
            codel: limits,
            quantum,
            flows,
        } => QueueConfig::FqCoDel(
            limit,
            FqCoDelConfig {
                codel: codel(limits),
                quantum_bytes: u32::try_from(quantum.get()).unwrap_or(u32::MAX),
                flows,
            },
        ),
    }
}
