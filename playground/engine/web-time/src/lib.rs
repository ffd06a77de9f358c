//! In place of the crate `web-time`: the clock that `microlp` reads for time limits, which Backlane
//! never sets. In WebAssembly it stands still, so that no JavaScript is imported.

pub use std::time::Duration;

#[cfg(not(target_arch = "wasm32"))]
pub use std::time::Instant;

#[cfg(target_arch = "wasm32")]
pub use still::Instant;

#[cfg(target_arch = "wasm32")]
mod still {
    use std::ops::{Add, Sub};
    use std::time::Duration;

    /// A point in time: always the first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Instant(Duration);

    impl Instant {
        /// The first point in time.
        pub fn now() -> Self {
            Self(Duration::ZERO)
        }

        /// Zero.
        pub fn elapsed(&self) -> Duration {
            Duration::ZERO
        }

        /// The time since an earlier point.
        pub fn duration_since(&self, earlier: Self) -> Duration {
            self.0.saturating_sub(earlier.0)
        }

        /// The time since an earlier point.
        pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
            self.duration_since(earlier)
        }

        /// A later point.
        pub fn checked_add(&self, more: Duration) -> Option<Self> {
            self.0.checked_add(more).map(Self)
        }
    }

    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, more: Duration) -> Self {
            Self(self.0 + more)
        }
    }

    impl Sub for Instant {
        type Output = Duration;

        fn sub(self, earlier: Self) -> Duration {
            self.duration_since(earlier)
        }
    }
}
