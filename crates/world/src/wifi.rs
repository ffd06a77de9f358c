//! Routers with 802.11 radios and the links over them.

use std::collections::BTreeSet;

use backlane_engine::{Interrupt, Watch};
use backlane_net::{LinkId, MediumId, NodeId};
use backlane_param::Params;
use backlane_radio::Position;
use backlane_scenario::model::{RadioLink, Wifi as Model};
use backlane_wifi::{
    LossLaw, Neighbours, StationConfig, Wifi, WifiConfig, WifiError, WifiLinkConfig, links_in_range,
};

use crate::builder::Builder;
use crate::error::{BuildError, Unbuilt};
use crate::infos::LinkInfo;
use crate::stations::{Radios, channels, pair};

impl Builder<'_> {
    /// Adds radios to the nodes, and builds the links over them.
    pub(crate) fn add_radios(&mut self, watch: &mut Watch<'_>) -> Result<(), Unbuilt> {
        let Some(wifi) = &self.scenario.wifi else {
            return Ok(());
        };
        let mut config = WifiConfig::read(&wifi.values).map_err(BuildError::from)?;
        self.models.path_losses.make(&mut config.path_loss)?;
        let queue = self.queue(&wifi.queue)?;
        let stations: Vec<StationConfig> = (self.scenario.nodes.iter().enumerate())
            .filter(|(_, node)| !node.channels.is_empty())
            .map(|(index, node)| {
                let (x_m, y_m) = node.position_m.unwrap_or_default();
                StationConfig {
                    node: NodeId(index as u32),
                    name: node.id.clone(),
                    position: Position { x_m, y_m, z_m: 0.0 },
                    channels: node.channels.clone(),
                }
            })
            .collect();
        let links = self.radio_links(wifi, &config, &stations, watch)?;
        let medium = Wifi::new(&config, &queue, &stations, &links, &self.streams, watch)?;
        let first_link = LinkId(self.links.len() as u32);
        let id = MediumId(self.media.len() as u32);
        let medium = medium.connect(&mut self.network, &mut self.events, id);
        self.media.push(Box::new(medium));
        for link in &links {
            let [a, b] = [link.a, link.b].map(|station| stations[station].name.clone());
            for (from, to) in [(a.clone(), b.clone()), (b, a)] {
                self.links.push(LinkInfo { from, to });
            }
        }
        self.wifi = Some(Radios {
            medium: id,
            config,
            stations,
            links,
            first_link,
        });
        Ok(())
    }

    /// The links of the file over radios, in its order, and those of all pairs in range if it
    /// asks for them.
    fn radio_links(
        &mut self,
        wifi: &Model,
        config: &WifiConfig,
        stations: &[StationConfig],
        watch: &mut Watch<'_>,
    ) -> Result<Vec<WifiLinkConfig>, Unbuilt> {
        let losses = self.given_losses(wifi, config);
        let station = |node: usize| {
            let node = NodeId(node as u32);
            stations.iter().position(|station| station.node == node)
        };
        let mut links = Vec::new();
        for (index, link) in self.scenario.links.iter().enumerate() {
            let Some(radio) = link.radio().filter(|radio| !radio.is_left_out) else {
                continue;
            };
            let ends = (station(link.a), station(link.b));
            let channel = ends.0.zip(ends.1).and_then(|(a, b)| {
                let channels = [a, b].map(|station| &stations[station].channels);
                Some((a, b, common(radio, channels)?))
            });
            let Some((a, b, channel)) = channel else {
                let [a, b] = [link.a, link.b].map(|node| &self.scenario.nodes[node].id);
                return Err(BuildError(format!("{a} and {b} have no common channel")).into());
            };
            self.link_ids[index] = Some(LinkId((self.links.len() + 2 * links.len()) as u32));
            links.push(WifiLinkConfig {
                a,
                b,
                channel,
                loss: radio.loss.or(losses[index]),
                rate: radio.rate,
            });
        }
        if config.neighbours == Neighbours::InRange {
            let listed: BTreeSet<_> = links.iter().map(pair).collect();
            for channel in channels(stations) {
                let pairs = links_in_range(config, stations, channel, watch)?;
                let all = pairs.into_iter().map(|(a, b)| WifiLinkConfig {
                    a,
                    b,
                    channel,
                    loss: None,
                    rate: None,
                });
                links.extend(all.filter(|link| !listed.contains(&pair(link))));
            }
        }
        Ok(links)
    }

    /// The loss of each link of the file where the radios have a given loss. If only a share of the
    /// links is lossy, those with the smallest draws are.
    fn given_losses(&self, wifi: &Model, config: &WifiConfig) -> Vec<Option<f64>> {
        let links = &self.scenario.links;
        let Some(loss) = config.loss else {
            return vec![None; links.len()];
        };
        let mut losses: Vec<Option<f64>> =
            links.iter().map(|link| link.radio().map(|_| 0.0)).collect();
        let is_laid = |link: &usize| links[*link].radio().is_some_and(|radio| !radio.is_left_out);
        let all = || (0..links.len()).collect();
        let mut candidates = wifi.lossy_links.clone().unwrap_or_else(all);
        candidates.retain(is_laid);
        let name = |link: usize| {
            let [a, b] = [links[link].a, links[link].b].map(|node| &self.scenario.nodes[node].id);
            format!("{a}-{b}")
        };
        let uniform = |link: usize, purpose| self.streams.stream(&name(link), purpose).uniform();
        let draw = |link: usize| uniform(link, "lossy");
        let mut drawn: Vec<(f64, usize)> =
            candidates.iter().map(|&link| (draw(link), link)).collect();
        drawn.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let lossy = (config.lossy_share * drawn.len() as f64).round() as usize;
        for (_, link) in &drawn[..lossy] {
            losses[*link] = Some(match config.loss_law {
                LossLaw::Same => loss,
                LossLaw::Uniform => loss * uniform(*link, "loss"),
            });
        }
        losses
    }
}

/// The channel of a link: its own, or the first of one end's that the other has too.
fn common(radio: &RadioLink, [a, b]: [&Vec<u8>; 2]) -> Option<u8> {
    let mut both = a.iter().copied().filter(|channel| b.contains(channel));
    match radio.channel {
        Some(channel) => both.find(|both| *both == channel),
        None => both.next(),
    }
}

impl From<WifiError> for Unbuilt {
    fn from(error: WifiError) -> Self {
        match error {
            WifiError::Interrupted(Interrupt) => Self::Interrupted,
            error => Self::Error(BuildError(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::World;

    /// The losses of the links of twelve cells.
    fn losses(wifi: &str, seed: u64) -> Vec<Option<f64>> {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"cells\"\nrows = 3\ncolumns = 4\n\
             link = {{ medium = \"wifi\" }}\n[wifi]\n{wifi}"
        );
        let scenario = crate::catalogue()
            .parse(&text, "s.toml")
            .unwrap_or_else(|report| panic!("{report}"));
        let world = World::new(&scenario, seed, None).unwrap();
        let links = world.wifi.unwrap().links;
        links.iter().map(|link| link.loss).collect()
    }

    #[test]
    fn a_share_of_the_links_is_lossy_and_each_run_draws_which() {
        let half = "loss = 0.3\nlossy_share = 0.5";
        let first = losses(half, 1);
        let count =
            |losses: &[Option<f64>], loss| losses.iter().filter(|l| **l == Some(loss)).count();
        // 17 links join neighbouring cells, and half of them is rounded up.
        assert_eq!((count(&first, 0.3), count(&first, 0.0)), (9, 8));
        assert_eq!(losses(half, 1), first);
        assert_ne!(losses(half, 2), first);
    }

    /// The mean of 170 values uniform to 0.4 has a standard deviation of 0.009.
    #[test]
    fn losses_may_be_drawn_from_zero_to_the_given_one() {
        let uniform = "loss = 0.4\nloss_law = \"uniform\"";
        let all: Vec<f64> = (1..=10)
            .flat_map(|seed| losses(uniform, seed))
            .map(Option::unwrap)
            .collect();
        assert!(all.iter().all(|loss| (0.0..0.4).contains(loss)));
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 0.2).abs() < 0.03, "{mean}");
        let half = losses("loss = 0.4\nlossy_share = 0.5\nloss_law = \"uniform\"", 1);
        assert_eq!(half.iter().filter(|loss| **loss == Some(0.0)).count(), 8);
    }

    #[test]
    fn named_links_are_lossy_and_without_a_given_loss_propagation_decides() {
        let named = losses("loss = 0.2\nlossy_links = [\"n2-n1\"]", 1);
        assert_eq!((named[0], named[1]), (Some(0.2), Some(0.0)));
        assert!(losses("", 1).iter().all(Option::is_none));
    }
}
