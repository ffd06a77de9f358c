//! A congestion control from outside this crate.

use std::fmt;
use std::sync::Arc;

use super::CongestionControl;

/// A congestion control that this crate does not know, by a name and the function that makes
/// one for each connection.
///
/// Its function holds its parameters.
///
/// ```
/// use backlane_tcp::congestion::{Ack, CongestionControl, Custom, Window};
/// use backlane_tcp::{Config, CongestionControlConfig};
/// use backlane_units::SimTime;
///
/// /// A constant window of ten packets.
/// #[derive(Debug)]
/// struct Ten;
///
/// impl CongestionControl for Ten {
///     fn on_ack(&mut self, _now: SimTime, _ack: &Ack, window: &mut Window) {
///         window.cwnd_pkts = 10;
///     }
///
///     fn ssthresh(&mut self, _now: SimTime, _window: &Window, _in_flight_pkts: u32) -> u32 {
///         10
///     }
/// }
///
/// let ten = Custom::new("ten", |_random_seed| Box::new(Ten));
/// let config = Config {
///     congestion_control: CongestionControlConfig::Custom(ten),
///     ..Config::default()
/// };
/// assert_eq!(config.congestion_control.name(), "ten");
/// ```
#[derive(Clone)]
pub struct Custom {
    name: Arc<str>,
    make: Arc<Make>,
}

type Make = dyn Fn(u64) -> Box<dyn CongestionControl> + Send + Sync;

impl Custom {
    /// A control called `name`. `make` gets the seed of the connection's draws.
    pub fn new(
        name: &str,
        make: impl Fn(u64) -> Box<dyn CongestionControl> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            make: Arc::new(make),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A fresh control for one connection.
    pub(super) fn build(&self, random_seed: u64) -> Box<dyn CongestionControl> {
        (self.make)(random_seed)
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Custom").field(&self.name).finish()
    }
}

/// Equal are copies of one control; functions cannot be compared.
impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.make, &other.make)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::{CongestionControlConfig, reno};
    use super::*;

    #[test]
    fn each_connection_gets_a_control_of_its_own_with_its_seed() {
        let seeds = Arc::new(Mutex::new(Vec::new()));
        let seen = seeds.clone();
        let custom = Custom::new("mine", move |seed| {
            seen.lock().unwrap().push(seed);
            Box::new(reno::Reno::new(&reno::Config::default()))
        });
        let config = CongestionControlConfig::Custom(custom);
        assert_eq!(config.name(), "mine");
        config.build(7);
        config.clone().build(8);
        assert_eq!(*seeds.lock().unwrap(), [7, 8]);
    }

    #[test]
    fn copies_are_equal_and_two_of_one_name_are_not() {
        let make = |_| -> Box<dyn CongestionControl> {
            Box::new(reno::Reno::new(&reno::Config::default()))
        };
        let one = Custom::new("mine", make);
        assert_eq!(one, one.clone());
        assert_ne!(one, Custom::new("mine", make));
    }
}
