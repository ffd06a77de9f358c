//! LTE access: the values of the model, and where its UEs are.

use backlane_param::Values;
use backlane_units::{Duration, Length};

use crate::model::{ChannelTrace, FadingTrace};

/// An LTE radio access network.
#[derive(Clone, Debug, PartialEq)]
pub struct Lte {
    /// The checked values of the section, which the model reads.
    pub values: Values,
    /// UEs are within ± this of their eNodeB, where [`Lte::ues`] is empty.
    pub spread: Length,
    /// UEs placed one by one.
    pub ues: Vec<LteUe>,
    /// Ways from traces.
    pub ways: Vec<Vec<Place>>,
    /// The index in `channels` of the trace of what UEs hear; `None` is the model of the radio.
    pub channel: Option<usize>,
    /// Traces of what UEs hear, in place of the model of the radio.
    pub channels: Vec<ChannelTrace>,
    /// Fading of all links, in place of the model of it.
    pub fading: Option<FadingTrace>,
}

/// A UE placed by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LteUe {
    /// Where it is at the start: east and north, in metres.
    pub position_m: (f64, f64),
    /// How it moves.
    pub motion: Option<Motion>,
    /// The way that it goes instead, an index into [`Lte::ways`].
    pub way: Option<usize>,
    /// The node that serves it; `None` is the strongest.
    pub serving: Option<usize>,
    /// The index in [`Lte::channels`] of the trace of what it hears; `None` is that of all UEs.
    pub channel: Option<usize>,
}

/// A place on the way of a UE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// When it is there, after the warm-up.
    pub at: Duration,
    /// East and north, in metres.
    pub position_m: (f64, f64),
}

/// A straight way at one speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Metres per second east and north.
    pub velocity_m_per_s: (f64, f64),
    /// When it begins, after the warm-up.
    pub start: Duration,
    /// How long it lasts; `None` is to the end.
    pub time: Option<Duration>,
}

/// The traces of what UEs hear.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    pub(crate) traces: Vec<ChannelTrace>,
    /// The index of the one for UEs that have none of their own.
    pub(crate) of_all: Option<usize>,
    pub(crate) fading: Option<FadingTrace>,
}
