//! The congestion controls by name: one line of [`controls!`] for each.

use std::fmt;
use std::str::FromStr;

use backlane_param::{Mismatch, Params, Spec, Values};

use super::factory::Factory;
use super::{
    CongestionControl, Custom, bbr, bbr3, cdg, cubic, dctcp, highspeed, htcp, hybla, illinois,
    ledbat, lp, reno, scalable, vegas, veno, westwood, yeah,
};
use crate::stack::Stack;

/// Declares [`CongestionControlConfig`]: a variant for each module with a [`Factory`].
macro_rules! controls {
    ($($(#[$doc:meta])* $variant:ident($module:ident),)*) => {
        /// A congestion control by name, with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum CongestionControlConfig {
            $(
                $(#[$doc])*
                $variant($module::Config),
            )*
            /// A control from outside this crate; it has no name among [`NAMES`](Self::NAMES).
            Custom(Custom),
        }

        impl CongestionControlConfig {
            /// The names that [`FromStr`] understands.
            pub const NAMES: &[&str] = &[$($module::Config::NAME),*];

            /// The name, as Linux has it, or that of a [`Custom`] control.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $module::Config::NAME,)*
                    Self::Custom(custom) => custom.name(),
                }
            }

            /// A control for one connection. Controls that draw random numbers take them from a
            /// stream of `random_seed`.
            pub fn build(&self, random_seed: u64) -> Box<dyn CongestionControl> {
                match self {
                    $(Self::$variant(config) => config.build(random_seed),)*
                    Self::Custom(custom) => custom.build(random_seed),
                }
            }

            /// The same control with the constants of `stack`, where those differ from Linux's.
            #[must_use]
            pub fn of(self, stack: Stack) -> Self {
                match self {
                    $(Self::$variant(config) => Self::$variant(config.of(stack)),)*
                    Self::Custom(custom) => Self::Custom(custom),
                }
            }

            /// The keys of the control's parameters, with these as defaults; a [`Custom`] control
            /// has none here.
            pub fn spec(&self) -> Option<Spec> {
                match self {
                    $(Self::$variant(config) => Some(config.as_defaults()),)*
                    Self::Custom(_) => None,
                }
            }

            /// The same control with checked parameters.
            ///
            /// # Errors
            ///
            /// A value that was not checked.
            pub fn read(&self, values: &Values) -> Result<Self, Mismatch> {
                match self {
                    $(Self::$variant(_) => Params::read(values).map(Self::$variant),)*
                    Self::Custom(custom) => Ok(Self::Custom(custom.clone())),
                }
            }
        }

        impl FromStr for CongestionControlConfig {
            type Err = UnknownCongestionControl;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                match name {
                    $($module::Config::NAME => Ok(Self::$variant($module::Config::default())),)*
                    _ => Err(UnknownCongestionControl {
                        name: name.to_owned(),
                    }),
                }
            }
        }
    };
}

controls! {
    /// Reno's window law (RFC 5681) by packets.
    Reno(reno),
    /// CUBIC (RFC 9438).
    Cubic(cubic),
    /// Westwood+.
    Westwood(westwood),
    /// Illinois.
    Illinois(illinois),
    /// HighSpeed TCP (RFC 3649).
    HighSpeed(highspeed),
    /// Hybla.
    Hybla(hybla),
    /// Scalable TCP.
    Scalable(scalable),
    /// Vegas.
    Vegas(vegas),
    /// Veno.
    Veno(veno),
    /// H-TCP.
    Htcp(htcp),
    /// `YeAH`.
    Yeah(yeah),
    /// BBR, version 1.
    Bbr(bbr),
    /// BBR, version 3.
    Bbr3(bbr3),
    /// CDG.
    Cdg(cdg),
    /// DCTCP (RFC 8257).
    Dctcp(dctcp),
    /// LEDBAT (RFC 6817).
    Ledbat(ledbat),
    /// TCP-LP.
    Lp(lp),
}

impl Default for CongestionControlConfig {
    fn default() -> Self {
        Self::Cubic(cubic::Config::default())
    }
}

/// A name that is no congestion control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCongestionControl {
    /// The name as given.
    pub name: String,
}

impl fmt::Display for UnknownCongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown congestion control \"{}\"; choose one of {}",
            self.name,
            CongestionControlConfig::NAMES.join(", ")
        )
    }
}

impl std::error::Error for UnknownCongestionControl {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_understood_and_given_back() {
        for name in CongestionControlConfig::NAMES {
            let config: CongestionControlConfig = name.parse().unwrap();
            assert_eq!(config.name(), *name);
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "renno".parse::<CongestionControlConfig>().unwrap_err();
        let known = CongestionControlConfig::NAMES.join(", ");
        assert_eq!(
            error.to_string(),
            format!("unknown congestion control \"renno\"; choose one of {known}")
        );
    }
}
