//! How a configuration makes controls.

use backlane_param::Params;

use super::CongestionControl;

/// A configuration that makes controls.
pub(super) trait Factory: Params + Default {
    /// The name in files, as Linux has it.
    const NAME: &'static str;

    /// A control for one connection; if it draws, from a stream of `random_seed`.
    fn build(&self, random_seed: u64) -> Box<dyn CongestionControl>;

    /// The same control with the constants of ns-3, where those differ from Linux's.
    fn into_ns3(self) -> Self {
        self
    }
}
