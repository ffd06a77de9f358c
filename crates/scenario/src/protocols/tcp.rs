//! The section `[tcp]`.

use std::sync::Arc;

use backlane_param::Values;

/// The TCP endpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    /// The congestion control: a name of the catalogue, or that of a
    /// [`CustomControl`](crate::model::CustomControl).
    pub congestion_control: Arc<str>,
    /// The checked values of the section, with a table for each congestion control in use.
    pub values: Values,
}
