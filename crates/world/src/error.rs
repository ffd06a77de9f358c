//! Errors of building a world.

use std::fmt;

use backlane_engine::Interrupt;
use backlane_param::Mismatch;

/// A scenario that cannot be built. It does not occur for a scenario that passed its checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(pub String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BuildError {}

impl From<Mismatch> for BuildError {
    fn from(mismatch: Mismatch) -> Self {
        Self(mismatch.to_string())
    }
}

/// Why a world was not built.
pub(crate) enum Unbuilt {
    Error(BuildError),
    Interrupted,
}

impl From<BuildError> for Unbuilt {
    fn from(error: BuildError) -> Self {
        Self::Error(error)
    }
}

impl From<Interrupt> for Unbuilt {
    fn from(_: Interrupt) -> Self {
        Self::Interrupted
    }
}
