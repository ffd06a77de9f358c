//! The scenario's parameters as the configurations of the models.

use backlane_net::{
    AtEnd, Capacity, GilbertElliott, ImpairmentConfig, Jitter, JitterLaw, Opportunities,
    OpportunityTrace, RateStep, RateTrace,
};
use backlane_scenario::model;

pub(crate) fn impairments(of: &model::Impairments) -> ImpairmentConfig {
    ImpairmentConfig {
        bursts: of.bursts.map(|bursts| GilbertElliott {
            p: bursts.p,
            r: bursts.r,
            loss_good: bursts.loss_good,
            loss_bad: bursts.loss_bad,
        }),
        jitter: of.jitter.map(|jitter| Jitter {
            amplitude: jitter.amplitude,
            law: if jitter.is_normal {
                JitterLaw::Normal
            } else {
                JitterLaw::Uniform
            },
            in_order: jitter.in_order,
        }),
        reorder: of.reorder,
        duplicate: of.duplicate,
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
