//! Probes of ETX: what a node sends in its HELLOs and learns from those of its neighbours.

use backlane_net::{Context, NodeId};

use super::probe::Probe;
use super::{Aodv, Hello};
use crate::etx::Quality;

impl Aodv {
    /// Processes a HELLO with a probe from the neighbour on an interface.
    pub(super) fn on_probe(&mut self, context: &Context<'_>, interface: usize, probe: &Probe) {
        let interval = self.with_hellos().map(|hello| hello.interval);
        if let (Some(qualities), Some(interval)) = (&mut self.qualities, interval) {
            qualities.on_probe(context.now(), interface, probe.number);
            let own = probe.heard.iter().find(|(node, _)| *node == self.node);
            let reached = own.map_or(0, |(_, share)| *share);
            qualities.on_report(interface, interval, reached);
        }
    }

    /// The next probe. For a neighbour on several interfaces it reports the best.
    pub(super) fn next_probe(&mut self, context: &Context<'_>) -> Option<Probe> {
        let qualities = self.qualities.as_ref()?;
        self.probe_number = self.probe_number.wrapping_add(1);
        let interfaces = context.interfaces().iter().enumerate();
        let mut heard: Vec<(NodeId, u8)> = interfaces
            .map(|(interface, face)| {
                let Quality { heard, .. } = qualities.of(context.now(), interface);
                (face.peer, heard)
            })
            .filter(|(_, heard)| *heard > 0)
            .collect();
        heard.sort_unstable_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
        heard.dedup_by_key(|(node, _)| *node);
        Some(Probe {
            number: self.probe_number,
            heard,
        })
    }

    /// The HELLOs that this node sends.
    pub(super) fn with_hellos(&self) -> Option<Hello> {
        let probes = self.qualities.as_ref().map(|_| Hello::RFC);
        self.config.hello.or(probes)
    }
}
