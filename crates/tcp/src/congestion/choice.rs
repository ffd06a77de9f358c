//! The congestion controls by name.

use std::fmt;
use std::str::FromStr;

use super::{
    CongestionControl, Custom, Parameter, Parameters, bbr, bbr3, cdg, cubic, dctcp, highspeed,
    htcp, hybla, illinois, ledbat, lp, reno, scalable, vegas, veno, westwood, yeah,
};

/// A congestion control by name, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum CongestionControlConfig {
    /// Reno's window law (RFC 5681) by packets.
    Reno(reno::Config),
    /// CUBIC (RFC 9438).
    Cubic(cubic::Config),
    /// Westwood+.
    Westwood(westwood::Config),
    /// Illinois.
    Illinois(illinois::Config),
    /// HighSpeed TCP (RFC 3649).
    HighSpeed(highspeed::Config),
    /// Hybla.
    Hybla(hybla::Config),
    /// Scalable TCP.
    Scalable(scalable::Config),
    /// Vegas.
    Vegas(vegas::Config),
    /// Veno.
    Veno(veno::Config),
    /// H-TCP.
    Htcp(htcp::Config),
    /// `YeAH`.
    Yeah(yeah::Config),
    /// BBR, version 1.
    Bbr(bbr::Config),
    /// BBR, version 3.
    Bbr3(bbr3::Config),
    /// CDG.
    Cdg(cdg::Config),
    /// DCTCP (RFC 8257).
    Dctcp(dctcp::Config),
    /// LEDBAT (RFC 6817).
    Ledbat(ledbat::Config),
    /// TCP-LP.
    Lp(lp::Config),
    /// A control from outside this crate; it has no name among [`NAMES`](Self::NAMES).
    Custom(Custom),
}

impl CongestionControlConfig {
    /// The names that [`FromStr`] understands.
    pub const NAMES: &[&str] = &[
        "reno",
        "cubic",
        "westwood",
        "illinois",
        "highspeed",
        "hybla",
        "scalable",
        "vegas",
        "veno",
        "htcp",
        "yeah",
        "bbr",
        "bbr3",
        "cdg",
        "dctcp",
        "ledbat",
        "lp",
    ];

    /// The name, as Linux has it, or that of a [`Custom`] control.
    pub fn name(&self) -> &str {
        match self {
            Self::Reno(_) => "reno",
            Self::Cubic(_) => "cubic",
            Self::Westwood(_) => "westwood",
            Self::Illinois(_) => "illinois",
            Self::HighSpeed(_) => "highspeed",
            Self::Hybla(_) => "hybla",
            Self::Scalable(_) => "scalable",
            Self::Vegas(_) => "vegas",
            Self::Veno(_) => "veno",
            Self::Htcp(_) => "htcp",
            Self::Yeah(_) => "yeah",
            Self::Bbr(_) => "bbr",
            Self::Bbr3(_) => "bbr3",
            Self::Cdg(_) => "cdg",
            Self::Dctcp(_) => "dctcp",
            Self::Ledbat(_) => "ledbat",
            Self::Lp(_) => "lp",
            Self::Custom(custom) => custom.name(),
        }
    }

    /// A fresh control for one connection. The seed is for those that draw: connections
    /// with different seeds draw different numbers.
    pub fn build(&self, random_seed: u64) -> Box<dyn CongestionControl> {
        match self {
            Self::Reno(config) => Box::new(reno::Reno::new(config)),
            Self::Cubic(config) => Box::new(cubic::Cubic::new(config)),
            Self::Westwood(config) => Box::new(westwood::Westwood::new(config)),
            Self::Illinois(config) => Box::new(illinois::Illinois::new(config)),
            Self::HighSpeed(config) => Box::new(highspeed::HighSpeed::new(config)),
            Self::Hybla(config) => Box::new(hybla::Hybla::new(config)),
            Self::Scalable(config) => Box::new(scalable::Scalable::new(config)),
            Self::Vegas(config) => Box::new(vegas::Vegas::new(config)),
            Self::Veno(config) => Box::new(veno::Veno::new(config)),
            Self::Htcp(config) => Box::new(htcp::Htcp::new(config)),
            Self::Yeah(config) => Box::new(yeah::Yeah::new(config)),
            Self::Bbr(config) => Box::new(bbr::Bbr::new(config, random_seed)),
            Self::Bbr3(config) => Box::new(bbr3::Bbr3::new(config, random_seed)),
            Self::Cdg(config) => Box::new(cdg::Cdg::new(config, random_seed)),
            Self::Dctcp(config) => Box::new(dctcp::Dctcp::new(config)),
            Self::Ledbat(config) => Box::new(ledbat::Ledbat::new(config)),
            Self::Lp(config) => Box::new(lp::Lp::new(config)),
            Self::Custom(custom) => custom.build(random_seed),
        }
    }

    /// The same control with the constants of ns-3, where those differ from Linux's.
    pub fn ns3(self) -> Self {
        match self {
            Self::Cubic(_) => Self::Cubic(cubic::Config::ns3()),
            Self::Westwood(_) => Self::Westwood(westwood::Config::ns3()),
            Self::HighSpeed(_) => Self::HighSpeed(highspeed::Config::ns3()),
            Self::Hybla(_) => Self::Hybla(hybla::Config::ns3()),
            Self::Scalable(_) => Self::Scalable(scalable::Config::ns3()),
            Self::Lp(_) => Self::Lp(lp::Config::ns3()),
            same => same,
        }
    }

    /// The parameters, each by its name.
    pub fn parameters(&mut self) -> Vec<Parameter<'_>> {
        match self {
            Self::Reno(config) => config.parameters(),
            Self::Cubic(config) => config.parameters(),
            Self::Westwood(config) => config.parameters(),
            Self::Illinois(config) => config.parameters(),
            Self::HighSpeed(config) => config.parameters(),
            Self::Hybla(config) => config.parameters(),
            Self::Scalable(config) => config.parameters(),
            Self::Vegas(config) => config.parameters(),
            Self::Veno(config) => config.parameters(),
            Self::Htcp(config) => config.parameters(),
            Self::Yeah(config) => config.parameters(),
            Self::Cdg(config) => config.parameters(),
            Self::Bbr(config) => config.parameters(),
            Self::Bbr3(config) => config.parameters(),
            Self::Dctcp(config) => config.parameters(),
            Self::Ledbat(config) => config.parameters(),
            Self::Lp(config) => config.parameters(),
            Self::Custom(_) => Vec::new(),
        }
    }
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

impl UnknownCongestionControl {
    /// The known name that differs in the fewest letters, if it is less than half of them.
    fn nearest(&self) -> Option<&'static str> {
        CongestionControlConfig::NAMES
            .iter()
            .map(|known| (distance(&self.name, known), *known))
            .min()
            .filter(|(distance, known)| distance * 2 < known.len())
            .map(|(_, known)| known)
    }
}

/// How many letters must be inserted, deleted or replaced to make `b` of `a` (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[row.len() - 1]
}

impl fmt::Display for UnknownCongestionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown congestion control \"{}\"; ", self.name)?;
        if let Some(nearest) = self.nearest() {
            write!(f, "did you mean \"{nearest}\"? ")?;
        }
        write!(
            f,
            "choose one of {}",
            CongestionControlConfig::NAMES.join(", ")
        )
    }
}

impl std::error::Error for UnknownCongestionControl {}

impl FromStr for CongestionControlConfig {
    type Err = UnknownCongestionControl;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(match name {
            "reno" => Self::Reno(reno::Config::default()),
            "cubic" => Self::Cubic(cubic::Config::default()),
            "westwood" => Self::Westwood(westwood::Config::default()),
            "illinois" => Self::Illinois(illinois::Config::default()),
            "highspeed" => Self::HighSpeed(highspeed::Config::default()),
            "hybla" => Self::Hybla(hybla::Config::default()),
            "scalable" => Self::Scalable(scalable::Config::default()),
            "vegas" => Self::Vegas(vegas::Config::default()),
            "veno" => Self::Veno(veno::Config::default()),
            "htcp" => Self::Htcp(htcp::Config::default()),
            "yeah" => Self::Yeah(yeah::Config::default()),
            "bbr" => Self::Bbr(bbr::Config::default()),
            "bbr3" => Self::Bbr3(bbr3::Config::default()),
            "cdg" => Self::Cdg(cdg::Config::default()),
            "dctcp" => Self::Dctcp(dctcp::Config::default()),
            "ledbat" => Self::Ledbat(ledbat::Config::default()),
            "lp" => Self::Lp(lp::Config::default()),
            _ => {
                return Err(UnknownCongestionControl {
                    name: name.to_owned(),
                });
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_understood_and_given_back_and_its_defaults_are_valid() {
        for name in CongestionControlConfig::NAMES {
            let config: CongestionControlConfig = name.parse().unwrap();
            assert_eq!(config.name(), *name);
            assert_eq!(config.validate(), Ok(()));
        }
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest_and_lists_the_known_ones() {
        let message = |name: &str| {
            name.parse::<CongestionControlConfig>()
                .unwrap_err()
                .to_string()
        };
        let known = CongestionControlConfig::NAMES.join(", ");
        assert_eq!(
            message("renno"),
            format!(
                "unknown congestion control \"renno\"; did you mean \"reno\"? choose one of {known}"
            )
        );
        assert_eq!(
            message("fast"),
            format!("unknown congestion control \"fast\"; choose one of {known}")
        );
        assert!(message("highsped").contains("\"highspeed\""));
        assert!(message("").starts_with("unknown congestion control \"\"; choose"));
    }

    #[test]
    fn distances_count_letters() {
        assert_eq!(distance("", "reno"), 4);
        assert_eq!(distance("vegas", "vegas"), 0);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
