//! Impairments of a wire: what it does to packets beyond a constant delay.
//!
//! They are those of Linux's netem: independent losses, bursts of losses (the model of Gilbert and
//! Elliott), jitter, packets that skip the delay, and duplicates. Each draws from a random stream of
//! its own, so that one does not change the draws of another. A wire without impairments draws
//! nothing.
//!
//! A packet is first judged for loss. One that arrives may be duplicated; the copy arrives with it.

use std::collections::VecDeque;

use backlane_engine::Stream;
use backlane_units::{Duration, SimTime};

use crate::under_way::Mark;

/// The model of Gilbert and Elliott: a chain of two states that steps with each packet, and a loss
/// probability for each state. The chain starts in the good state (`loss gemodel` of tc-netem(8)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Probability of a step from the good state to the bad one.
    pub p: f64,
    /// Probability of a step from the bad state to the good one.
    pub r: f64,
    /// Probability that a packet is lost in the good state; netem's 1 − k.
    pub loss_good: f64,
    /// Probability that a packet is lost in the bad state; netem's 1 − h.
    pub loss_bad: f64,
}

/// The law of a jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JitterLaw {
    /// Uniform within ± the amplitude.
    Uniform,
    /// Normal, with the amplitude as its standard deviation, cut at four of them.
    Normal,
}

/// A random part of the delay of each packet, with a mean of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// The largest deviation of the uniform law, the standard deviation of the normal one. An
    /// arrival before the end of the transmission happens at its end.
    pub amplitude: Duration,
    /// The law.
    pub law: JitterLaw,
    /// Whether a packet waits for those before it. If not, packets overtake each other.
    pub in_order: bool,
}

/// The impairments of a link direction, but for independent losses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImpairmentConfig {
    /// Bursts of losses.
    pub bursts: Option<GilbertElliott>,
    /// Jitter around the delay.
    pub jitter: Option<Jitter>,
    /// Probability that a packet skips the delay: it arrives at the end of its transmission, and
    /// overtakes those on the wire (`reorder` of tc-netem(8)).
    pub reorder: f64,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
}

/// The state of the impairments of a link direction.
#[derive(Default)]
pub(crate) struct Impairments {
    loss: Option<(f64, Stream)>,
    bursts: Option<Bursts>,
    jitter: Option<Wandering>,
    reorder: Option<(f64, Stream)>,
    duplicate: Option<(f64, Stream)>,
    /// Packets of a FIFO that wait, if the time on the wire varies: the start of each transmission
    /// and the bytes.
    pub(crate) starts: VecDeque<(SimTime, u32)>,
}

struct Bursts {
    model: GilbertElliott,
    is_bad: bool,
    stream: Stream,
}

struct Wandering {
    jitter: Jitter,
    stream: Stream,
    /// The latest arrival so far.
    last: SimTime,
}

impl Impairments {
    pub(crate) fn set_loss(&mut self, probability: f64, stream: Stream) {
        self.loss = Some((probability, stream));
    }

    /// Sets what `config` has; `stream` gives the random stream of a purpose.
    pub(crate) fn set(
        &mut self,
        config: &ImpairmentConfig,
        mut stream: impl FnMut(&'static str) -> Stream,
    ) {
        if let Some(model) = config.bursts {
            self.bursts = Some(Bursts {
                model,
                is_bad: false,
                stream: stream("burst loss"),
            });
        }
        if let Some(jitter) = config.jitter {
            self.jitter = Some(Wandering {
                jitter,
                stream: stream("jitter"),
                last: SimTime::ZERO,
            });
        }
        if config.reorder > 0.0 {
            self.reorder = Some((config.reorder, stream("reorder")));
        }
        if config.duplicate > 0.0 {
            self.duplicate = Some((config.duplicate, stream("duplicate")));
        }
    }

    /// Whether arrivals may differ from the end of the transmission plus the delay.
    pub(crate) fn retimes(&self) -> bool {
        self.jitter.is_some() || self.reorder.is_some()
    }

    pub(crate) fn duplicates(&self) -> bool {
        self.duplicate.is_some()
    }

    /// Draws when a packet arrives whose transmission ends at `end`, and whether it is lost or
    /// duplicated.
    pub(crate) fn fate(&mut self, end: SimTime, delay: Duration) -> (SimTime, Mark) {
        let lost = draw(&mut self.loss) | self.bursts.as_mut().is_some_and(Bursts::loses);
        let twice = draw(&mut self.duplicate);
        let arrival = match &mut self.jitter {
            _ if draw(&mut self.reorder) => end,
            Some(jitter) => jitter.arrival(end, delay),
            None => end + delay,
        };
        let mark = match (lost, twice) {
            (true, _) => Mark::Lost,
            (false, true) => Mark::Twice,
            (false, false) => Mark::None,
        };
        (arrival, mark)
    }
}

fn draw(chance: &mut Option<(f64, Stream)>) -> bool {
    chance
        .as_mut()
        .is_some_and(|(probability, stream)| stream.bernoulli(*probability))
}

impl Bursts {
    /// Whether the wire loses this packet; then the chain steps. Two draws for each packet.
    fn loses(&mut self) -> bool {
        let (loss, leave) = if self.is_bad {
            (self.model.loss_bad, self.model.r)
        } else {
            (self.model.loss_good, self.model.p)
        };
        let lost = self.stream.bernoulli(loss);
        self.is_bad ^= self.stream.bernoulli(leave);
        lost
    }
}

impl Wandering {
    fn arrival(&mut self, end: SimTime, delay: Duration) -> SimTime {
        let amplitude_ps = self.jitter.amplitude.as_ps() as f64;
        let deviation_ps = match self.jitter.law {
            JitterLaw::Uniform => amplitude_ps * (2.0 * self.stream.uniform() - 1.0),
            JitterLaw::Normal => amplitude_ps * normal(&mut self.stream),
        };
        let rounded = deviation_ps.abs().round() as u64;
        let under_way_ps = if deviation_ps < 0.0 {
            delay.as_ps().saturating_sub(rounded)
        } else {
            delay.as_ps().saturating_add(rounded)
        };
        let mut arrival = end.saturating_add(Duration::from_ps(under_way_ps));
        if self.jitter.in_order {
            arrival = arrival.max(self.last);
            self.last = arrival;
        }
        arrival
    }
}

/// A standard normal deviate within ± 4, by the polar method of Marsaglia and Bray (1964).
fn normal(stream: &mut Stream) -> f64 {
    loop {
        let u = 2.0 * stream.uniform() - 1.0;
        let v = 2.0 * stream.uniform() - 1.0;
        let s = u * u + v * v;
        if s > 0.0 && s < 1.0 {
            let value = u * libm::sqrt(-2.0 * libm::log(s) / s);
            if value.abs() <= 4.0 {
                return value;
            }
        }
    }
}
