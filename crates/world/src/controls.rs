//! Congestion controls by name: the values of `congestion_control`, and the keys of `[tcp.NAME]`.

use std::sync::Arc;

use backlane_param::{Mismatch, Params, Section, Spec, Values};
use backlane_scenario::Declared;
use backlane_tcp::congestion::{CongestionControl, Custom};
use backlane_tcp::{CongestionControlConfig, Stack};

use crate::error::BuildError;
use crate::guard::Guarded;
use crate::registry::{Registry, registered};

/// A congestion control of a program for a TCP flow, by the flow's name; `None`: the scenario's.
pub type Instead<'a> = dyn Fn(&str) -> Option<Custom> + Sync + 'a;

type Read = dyn Fn(&Values) -> Result<CongestionControlConfig, Mismatch> + Send + Sync;

/// A congestion control: its name, its keys and its constructor.
pub struct Control {
    declared: Declared,
    name: &'static str,
    read: Box<Read>,
}

/// The table of a control.
fn table(name: &str, spec: &Spec) -> Section {
    spec.section(format!("tcp.{name}").leak())
}

impl Control {
    /// The control `name`, whose keys in `[tcp.NAME]` are those of `C`. `make` is called for each
    /// end of a connection, with the seed of its draws. A panic of its hooks names the control and
    /// the simulated time.
    pub fn new<C: Params + Send + Sync>(
        name: &'static str,
        make: impl Fn(&C, u64) -> Box<dyn CongestionControl> + Send + Sync + 'static,
    ) -> Self {
        let make = Arc::new(make);
        Self {
            declared: Declared::Control {
                name,
                table: table(name, C::spec()),
                profiles: &[],
            },
            name,
            read: Box::new(move |values| {
                let (config, make) = (C::read(values)?, make.clone());
                let control = Custom::new(name, move |random_seed| {
                    let place = "congestion control".to_owned();
                    Box::new(Guarded::new(name, place, || make(&config, random_seed)))
                });
                Ok(CongestionControlConfig::Custom(control))
            }),
        }
    }

    /// A control of `backlane_tcp`.
    fn known(name: &'static str) -> Option<Self> {
        let config: CongestionControlConfig = name.parse().ok()?;
        let mut profiles = Vec::new();
        // The first stack is that of the standard defaults.
        for stack in &Stack::ALL[1..] {
            let spec = config.clone().of(*stack).spec()?;
            profiles.push((stack.name(), table(name, &spec)));
        }
        Some(Self {
            declared: Declared::Control {
                name,
                table: table(name, &config.spec()?),
                profiles: profiles.leak(),
            },
            name,
            read: Box::new(move |values| config.read(values)),
        })
    }
}

registered!(Control, "congestion control");

/// The controls of this program.
pub(crate) fn standard() -> Registry<Control> {
    let names = CongestionControlConfig::NAMES.iter();
    names.filter_map(|name| Control::known(name)).collect()
}

impl Registry<Control> {
    /// A control with the parameters in the checked values of `[tcp]`; `own` are those of this run
    /// alone.
    pub(crate) fn read(
        &self,
        name: &str,
        tcp: &Values,
        own: &[Custom],
    ) -> Result<CongestionControlConfig, BuildError> {
        if let Some(control) = own.iter().find(|control| control.name() == name) {
            return Ok(CongestionControlConfig::Custom(control.clone()));
        }
        let control = self.find(name)?;
        // Without keys it has no table.
        let none = Values::default();
        Ok((control.read)(tcp.table(name).unwrap_or(&none))?)
    }
}

#[cfg(test)]
mod tests {
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
        let own = scenario.flows[0].congestion_control.as_deref();
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
        for stack in Stack::ALL {
            let tcp = format!("profile = \"{}\"", stack.name());
            assert_eq!(config(&tcp, ""), Config::of(stack));
            for name in CongestionControlConfig::NAMES {
                let tcp = format!("{tcp}\ncongestion_control = \"{name}\"");
                let control = config(&tcp, "").congestion_control;
                assert_eq!(control, standard(name).of(stack), "{tcp}");
            }
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
        let scalable = backlane_tcp::congestion::scalable::Config {
            per_pkts: 7,
            ..Default::default()
        };
        assert_eq!(
            config(tcp, flow).congestion_control,
            CongestionControlConfig::Scalable(scalable)
        );
    }
}
