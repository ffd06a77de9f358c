//! The arrival processes of flows.

use backlane_engine::{Stream, Streams};

use crate::config::{Arrivals, Growth, Window};

/// The state of a flow's source.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Bernoulli {
        whole: u64,
        chance: Chance,
    },
    Constant {
        rate: f64,
        carry: f64,
    },
    Window(WindowState),
    /// The fraction of a packet that is left over.
    Utility {
        carry: f64,
    },
}

/// An event of a fixed probability.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    stream: Stream,
    probability: f64,
}

impl Chance {
    pub(crate) fn new(stream: Stream, probability: f64) -> Self {
        Self {
            stream,
            probability,
        }
    }

    /// Whether it happens now. A certain event draws nothing.
    #[inline]
    pub(crate) fn happens(&mut self) -> bool {
        self.probability >= 1.0
            || (self.probability > 0.0 && self.stream.bernoulli(self.probability))
    }
}

impl State {
    /// The source of the flow with this name, of which `backlog` packets are there already.
    pub(crate) fn new(arrivals: Arrivals, backlog: u64, name: &str, streams: &Streams) -> Self {
        match arrivals {
            Arrivals::Bernoulli { rate } => Self::Bernoulli {
                whole: rate as u64,
                chance: Chance::new(streams.stream(name, "arrivals"), rate.fract()),
            },
            Arrivals::Constant { rate } => Self::Constant { rate, carry: 0.0 },
            Arrivals::Window(window) => Self::Window(WindowState::new(window, backlog)),
            Arrivals::Utility => Self::Utility { carry: 0.0 },
        }
    }

    /// The packets of this slot; `rate` is what the flow control says.
    #[inline]
    pub(crate) fn arrivals(&mut self, rate: f64) -> u64 {
        match self {
            Self::Bernoulli { whole, chance } => *whole + u64::from(chance.happens()),
            Self::Constant { rate, carry } => spend(carry, *rate),
            Self::Utility { carry } => spend(carry, rate),
            Self::Window(window) => window.arrivals(),
        }
    }
}

/// The whole part of what is there after `rate` was added; the rest stays.
#[inline]
fn spend(carry: &mut f64, rate: f64) -> u64 {
    *carry += rate;
    let whole = *carry as u64;
    *carry -= whole as f64;
    whole
}

/// The state of a congestion window.
#[derive(Clone, Debug)]
pub(crate) struct WindowState {
    config: Window,
    window_pkts: f64,
    outstanding_pkts: u64,
    /// Deliveries and drops on their way to the source, one entry for each slot of the delay.
    under_way: Vec<(u64, u64)>,
    next: usize,
    /// Packets that were outstanding at the last reduction and are not acknowledged: drops among
    /// them cause no further reduction.
    recovering_pkts: u64,
}

impl WindowState {
    fn new(config: Window, outstanding_pkts: u64) -> Self {
        Self {
            config,
            window_pkts: f64::from(config.window_pkts.min(config.most_window_pkts)),
            outstanding_pkts,
            under_way: vec![(0, 0); config.ack_delay_slots as usize + 1],
            next: 0,
            recovering_pkts: 0,
        }
    }

    pub(crate) fn window_pkts(&self) -> f64 {
        self.window_pkts
    }

    /// Packets were delivered or dropped in this slot.
    pub(crate) fn on_fate(&mut self, delivered: u64, dropped: u64) {
        let now = &mut self.under_way[self.next];
        now.0 += delivered;
        now.1 += dropped;
    }

    /// The packets that the window allows in the next slot.
    pub(crate) fn arrivals(&mut self) -> u64 {
        let room = (self.window_pkts as u64).saturating_sub(self.outstanding_pkts);
        self.outstanding_pkts += room;
        room
    }

    /// The slot ends: deliveries and drops of `ack_delay_slots` ago are acknowledged.
    pub(crate) fn on_slot_end(&mut self) {
        self.next = (self.next + 1) % self.under_way.len();
        let (acknowledged, lost) = std::mem::take(&mut self.under_way[self.next]);
        if self.config.growth == Growth::Additive {
            let most = f64::from(self.config.most_window_pkts);
            for _ in 0..acknowledged {
                self.window_pkts = (self.window_pkts + 1.0 / self.window_pkts).min(most);
            }
            if lost > 0 && self.recovering_pkts == 0 {
                self.window_pkts = (self.window_pkts / 2.0).max(1.0);
                self.recovering_pkts = self.outstanding_pkts;
            }
        }
        let heard = acknowledged + lost;
        self.recovering_pkts = self.recovering_pkts.saturating_sub(heard);
        self.outstanding_pkts = self.outstanding_pkts.saturating_sub(heard);
    }
}
