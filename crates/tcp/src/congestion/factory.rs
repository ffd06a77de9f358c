//! How a configuration makes controls.

use backlane_param::Params;

use super::CongestionControl;
use crate::stack::Stack;

/// A configuration that makes controls.
pub(super) trait Factory: Params + Default {
    /// The name in files, as Linux has it.
    const NAME: &'static str;

    /// A control for one connection; if it draws, from a stream of `random_seed`.
    fn build(&self, random_seed: u64) -> Box<dyn CongestionControl>;

    /// The same control with the constants of `stack`, where those differ from Linux's.
    fn of(self, _stack: Stack) -> Self {
        self
    }
}
