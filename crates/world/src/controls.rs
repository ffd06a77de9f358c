//! Congestion controls by name: what `congestion_control` may say, and the keys of `[tcp.NAME]`.

use backlane_param::Values;
use backlane_scenario::{Declared, model};
use backlane_tcp::CongestionControlConfig;
use backlane_tcp::congestion::Custom;

use crate::build::BuildError;

/// A congestion control with its standard parameters.
struct Control {
    declared: Declared,
    config: CongestionControlConfig,
}

/// The congestion controls that a scenario may name.
pub(crate) struct Controls(Vec<Control>);

impl Controls {
    /// Those of this program.
    pub(crate) fn standard() -> Self {
        let controls = CongestionControlConfig::NAMES.iter().filter_map(|name| {
            let config: CongestionControlConfig = name.parse().ok()?;
            let noun = format!("tcp.{name}").leak();
            let table = config.spec()?.section(noun);
            let ns3 = config.clone().ns3().spec()?.section(noun);
            let declared = Declared::Control {
                name,
                table,
                profiles: vec![("ns3", ns3)].leak(),
            };
            Some(Control { declared, config })
        });
        Self(controls.collect())
    }

    pub(crate) fn declared(&self) -> impl Iterator<Item = Declared> {
        self.0.iter().map(|control| control.declared.clone())
    }

    /// A control with the parameters in the checked values of `[tcp]`; `own` are those of this run
    /// alone.
    pub(crate) fn read(
        &self,
        control: &model::CongestionControl,
        tcp: &Values,
        own: &[Custom],
    ) -> Result<CongestionControlConfig, BuildError> {
        let found = match control {
            model::CongestionControl::Known(name) => {
                let mut controls = self.0.iter();
                controls
                    .find(|control| control.config.name() == &**name)
                    .map(|control| {
                        let none = Values::default();
                        control.config.read(tcp.table(name).unwrap_or(&none))
                    })
            }
            model::CongestionControl::Custom(name) => {
                let mut controls = own.iter();
                controls
                    .find(|control| control.name() == &**name)
                    .map(|control| Ok(CongestionControlConfig::Custom(control.clone())))
            }
        };
        let name = control.name();
        Ok(found.ok_or_else(|| {
            BuildError(format!(
                "there is no congestion control \"{name}\" in this program"
            ))
        })??)
    }
}

#[cfg(test)]
mod tests {
    use backlane_param::Params;
    use backlane_tcp::Config;

    use super::*;
    use crate::Models;

    /// The configuration of a flow of a scenario with this `[tcp]`.
    fn config(tcp: &str, flow: &str) -> Config {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nnodes = 2\n\
             link = {{ rate = \"1 Mbit/s\", delay = \"1 ms\" }}\n[tcp]\n{tcp}\n\
             [[flow]]\nkind = \"transfer\"\nfrom = \"enb1\"\nto = \"enb2\"\nsize = \"1 MB\"\n{flow}"
        );
        let scenario = crate::catalogue().from_resolved(&text);
        let scenario = scenario.unwrap_or_else(|report| panic!("{report}"));
        let values = &scenario.tcp.values;
        let own = scenario.flows[0].congestion_control.as_ref();
        let control = own.unwrap_or(&scenario.tcp.congestion_control);
        Config {
            congestion_control: Models::standard()
                .controls
                .read(control, values, &[])
                .unwrap(),
            ..Config::read(values).unwrap()
        }
    }

    fn standard(name: &str) -> CongestionControlConfig {
        name.parse().unwrap()
    }

    #[test]
    fn a_profile_gives_the_configuration_of_its_name() {
        assert_eq!(config("", ""), Config::linux());
        assert_eq!(config("profile = \"linux\"", ""), Config::linux());
        assert_eq!(config("profile = \"ns3\"", ""), Config::ns3());
        for name in CongestionControlConfig::NAMES {
            let of = |profile: &str| {
                let tcp = format!("profile = \"{profile}\"\ncongestion_control = \"{name}\"");
                config(&tcp, "").congestion_control
            };
            assert_eq!(of("linux"), standard(name));
            assert_eq!(of("ns3"), standard(name).ns3(), "{name}");
        }
    }

    #[test]
    fn a_key_that_is_given_wins_over_the_profile() {
        let given = "profile = \"ns3\"\nmin_rto = \"200 ms\"\nfrto = true\n[tcp.cubic]\nc = 1.0";
        let mut expected = Config {
            min_rto: Config::linux().min_rto,
            frto: true,
            ..Config::ns3()
        };
        if let CongestionControlConfig::Cubic(cubic) = &mut expected.congestion_control {
            cubic.c = 1.0;
        }
        assert_eq!(config(given, ""), expected);
    }

    #[test]
    fn the_parameters_of_a_control_that_only_a_flow_uses_reach_it() {
        let tcp = "congestion_control = \"reno\"\n[tcp.scalable]\nper_pkts = 7";
        let flow = "congestion_control = \"scalable\"";
        let scalable = backlane_tcp::congestion::scalable::Config { per_pkts: 7 };
        assert_eq!(
            config(tcp, flow).congestion_control,
            CongestionControlConfig::Scalable(scalable)
        );
    }
}
