//! Congestion controls by name: what `congestion_control` may say, and the keys of `[tcp.NAME]`.

use backlane_param::Values;
use backlane_scenario::Declared;
use backlane_tcp::CongestionControlConfig;

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

    /// The control `name` with the parameters in the checked values of `[tcp]`.
    pub(crate) fn read(
        &self,
        name: &str,
        tcp: &Values,
    ) -> Result<CongestionControlConfig, BuildError> {
        let mut controls = self.0.iter();
        let Some(control) = controls.find(|control| control.config.name() == name) else {
            let message = format!("there is no congestion control \"{name}\" in this program");
            return Err(BuildError(message));
        };
        let none = Values::default();
        Ok(control.config.read(tcp.table(name).unwrap_or(&none))?)
    }
}
