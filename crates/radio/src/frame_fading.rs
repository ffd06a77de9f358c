//! Fading that is drawn anew for each frame.

/// The law of a frame's received power around its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FrameFading {
    /// The mean itself.
    #[default]
    None,
    /// Exponential: no line of sight.
    Rayleigh,
    /// Gamma with shape `m`; 1 is Rayleigh.
    Nakagami {
        /// The shape, at least a half.
        m: f64,
    },
}
