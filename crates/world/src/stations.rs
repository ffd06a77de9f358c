//! The 802.11 radios of a world, the links over them, and their medium.

use std::any::Any;
use std::collections::BTreeSet;

use backlane_engine::Watch;
use backlane_net::{LinkId, MediumId, Simulation};
use backlane_traffic::Flows;
use backlane_wifi::{StationConfig, Wifi, WifiConfig, WifiLinkConfig, links_in_range};

use crate::error::BuildError;

/// The 802.11 radios of a world.
pub(crate) struct Radios {
    pub(crate) medium: MediumId,
    pub(crate) config: WifiConfig,
    pub(crate) stations: Vec<StationConfig>,
    pub(crate) links: Vec<WifiLinkConfig>,
    /// The first direction of the first link; the others follow, in pairs.
    pub(crate) first_link: LinkId,
}

impl Radios {
    /// The channel of a link of the network, if it leads over radios.
    pub(crate) fn channel(&self, link: LinkId) -> Option<u8> {
        let number = link.0.checked_sub(self.first_link.0)? / 2;
        Some(self.links.get(number as usize)?.channel)
    }

    /// The ends of links without a given loss that decode almost no frames.
    pub(crate) fn out_of_range(&self) -> Result<Vec<[String; 2]>, BuildError> {
        let mut in_range = BTreeSet::new();
        let mut no_watch = |_, _| Ok(());
        let watch = &mut Watch::new(&mut no_watch);
        for channel in channels(&self.stations) {
            let pairs = links_in_range(&self.config, &self.stations, channel, watch)
                .map_err(|error| BuildError(error.to_string()))?;
            in_range.extend(pairs.into_iter().map(|(a, b)| (a, b, channel)));
        }
        let long = |link: &&WifiLinkConfig| link.loss.is_none() && !in_range.contains(&pair(link));
        let name = |station: usize| self.stations[station].name.clone();
        let links = self.links.iter().filter(long);
        Ok(links.map(|link| [name(link.a), name(link.b)]).collect())
    }

    /// The medium that they are on.
    pub(crate) fn medium<'a>(&self, simulation: &'a Simulation<Flows>) -> Option<&'a Wifi> {
        let medium: &dyn Any = simulation.medium(self.medium)?;
        medium.downcast_ref()
    }
}

/// The channels in use.
pub(crate) fn channels(stations: &[StationConfig]) -> BTreeSet<u8> {
    let all = stations.iter().flat_map(|station| &station.channels);
    all.copied().collect()
}

/// The identity of a link.
pub(crate) fn pair(link: &WifiLinkConfig) -> (usize, usize, u8) {
    (link.a.min(link.b), link.a.max(link.b), link.channel)
}
