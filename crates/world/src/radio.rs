//! UEs behind a radio access network.

use std::sync::Arc;

use backlane_engine::Watch;
use backlane_lte::config::{CarrierConfig, CellConfig, RanConfig, UeChannel, UeConfig};
use backlane_lte::{FadingTrace, Ran};
use backlane_net::{MediumId, NodeId};
use backlane_param::Params;
use backlane_scenario::model::{Access, Lte};
use backlane_units::SimTime;

use crate::builder::Builder;
use crate::error::{BuildError, Unbuilt};
use crate::ran::Radio;
use crate::ues::{channel, mobility, position, way};

impl Builder<'_> {
    pub(crate) fn attach_lte(
        &mut self,
        access: &Access,
        lte: &Lte,
        enodebs: &[NodeId],
        watch: &mut Watch<'_>,
    ) -> Result<(), Unbuilt> {
        let mut config = RanConfig::read(&lte.values).map_err(BuildError::from)?;
        self.models.path_losses.make(&mut config.path_loss)?;
        let site = |node: NodeId| {
            let site = self.nodes[node.index()].position_m;
            site.unwrap_or_default()
        };
        let cells: Vec<CellConfig> = enodebs
            .iter()
            .map(|&node| CellConfig {
                node,
                position: position(site(node), config.enodeb_height),
            })
            .collect();
        let clock = SimTime::ZERO + self.scenario.warm_up;
        let channels: Vec<UeChannel> = (lte.channels.iter())
            .map(|trace| channel(trace, clock))
            .collect::<Option<_>>()
            .ok_or_else(|| BuildError("a trace has no order or no length".to_owned()))?;
        let fading_trace = match &lte.fading {
            Some(trace) => {
                let read = FadingTrace::new(&trace.rows_db, trace.window);
                let bad = || BuildError("a fading trace has rows of several lengths".to_owned());
                Some(Arc::new(read.ok_or_else(bad)?))
            }
            None => None,
        };
        let end = self.scenario.duration;
        let motions = (self.models.motions).motions(&config.mobility, clock, end)?;
        let spread_m = lte.spread.as_m_f64();
        let cell_of = |node: NodeId| enodebs.iter().position(|&enodeb| enodeb == node);
        let ues: Vec<UeConfig> = (0..access.ues)
            .map(|index| {
                watch.tick(2)?;
                let node = self.ues[index];
                let info = &self.nodes[node.index()];
                let (at, motion, serving) = if let Some(ue) = lte.ues.get(index) {
                    let serving = ue.serving.map(|node| NodeId(node as u32));
                    (ue.position_m, ue.motion, serving)
                } else {
                    let (x, y) = info.attached_to.map(site).unwrap_or_default();
                    let mut stream = self.streams.stream(&info.id, "position");
                    let mut offset = || (2.0 * stream.uniform() - 1.0) * spread_m;
                    ((x + offset(), y + offset()), None, info.attached_to)
                };
                let from = position(at, config.ue_height);
                let own = lte.ues.get(index).and_then(|ue| ue.channel);
                let heard = own.or(lte.channel);
                Ok(UeConfig {
                    node,
                    name: info.id.clone(),
                    mobility: match (way(lte, index, config.ue_height, clock), motion) {
                        (Some(way), _) => way,
                        (None, Some(motion)) => mobility(from, motion, clock),
                        (None, None) => {
                            motions.way(from, self.streams.stream(&info.id, "mobility"))?
                        }
                    },
                    serving: serving.and_then(cell_of),
                    channel: heard.map_or(UeChannel::Radio, |index| channels[index].clone()),
                    fading_trace: fading_trace.clone(),
                })
            })
            .collect::<Result<_, Unbuilt>>()?;
        let carriers = config.carrier.iter().map(CarrierConfig::n_rb);
        let carrier_prbs = carriers.map(u64::from).collect();
        let tunnel_bytes = config.tunnel.get() as u32;
        let network = Ran::new(config, &cells, &ues, &self.streams, watch)?;
        let serving: Vec<NodeId> = (0..ues.len())
            .map(|ue| enodebs[network.serving_cell(ue)])
            .collect();
        let medium = MediumId(self.media.len() as u32);
        self.media.push(Box::new(network));
        for (ue, serving) in ues.iter().zip(serving) {
            let begin = ue.mobility.position(SimTime::ZERO);
            let info = &mut self.nodes[ue.node.index()];
            info.position_m = Some((begin.x_m, begin.y_m));
            info.attached_to = Some(serving);
            self.network.attach_over(ue.node, serving, medium);
        }
        self.network.set_encapsulation_bytes(tunnel_bytes);
        self.radio = Some(Radio {
            medium,
            enodebs: enodebs.to_vec(),
            ues: ues.iter().map(|ue| ue.node).collect(),
            carrier_prbs,
        });
        Ok(())
    }
}
