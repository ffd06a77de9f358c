//! The section `[tcp]`.

use std::sync::Arc;

use backlane_param::Values;

use crate::custom;

/// The TCP endpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    /// The congestion control.
    pub congestion_control: CongestionControl,
    /// The checked values of the section, with a table for each congestion control in use.
    pub values: Values,
}

/// A congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// One of the catalogue.
    Known(Arc<str>),
    /// One that the simulator does not have; see [`crate::model::CustomControl::name`].
    Custom(Arc<str>),
}

impl CongestionControl {
    /// The name used in files; for one's own, [`crate::model::CustomControl::name`].
    pub fn name(&self) -> &str {
        match self {
            Self::Known(name) | Self::Custom(name) => name,
        }
    }
}

/// A congestion control as the file states it.
pub(crate) fn congestion_control(text: &str) -> Option<CongestionControl> {
    match custom::Stated::of(text) {
        Some(stated) => Some(CongestionControl::Custom(stated.ok()?.name().into())),
        None => Some(CongestionControl::Known(text.into())),
    }
}
