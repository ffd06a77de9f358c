//! The pacer as the outside of a world.

use std::collections::BTreeMap;

use backlane_engine::Interrupt;
use backlane_units::SimTime;
use backlane_world::net::NodeId;
use backlane_world::{Door, Outside};

use crate::pacer::{self, Pacer, Stop, Wall};

/// Hosts on the wall clock, as the outside of a world ([`backlane_world::World::run_beside`]). `ask`
/// is that of [`Pacer::proceed`]; a run that it ends has results.
pub struct Beside<W, A> {
    pacer: Pacer<W>,
    hosts: Vec<NodeId>,
    numbers: BTreeMap<NodeId, usize>,
    ask: A,
    rejected: u64,
    stop: Option<Stop>,
}

impl<W, A> Beside<W, A>
where
    W: Wall,
    A: FnMut(&mut Pacer<W>, &mut Door<'_>, SimTime, bool) -> bool,
{
    /// The hosts in the order of their devices.
    pub fn new(pacer: Pacer<W>, hosts: Vec<NodeId>, ask: A) -> Self {
        let numbers = hosts.iter().copied().zip(0..).collect();
        Self {
            pacer,
            hosts,
            numbers,
            ask,
            rejected: 0,
            stop: None,
        }
    }

    /// The pacer.
    pub fn pacer(&self) -> &Pacer<W> {
        &self.pacer
    }

    /// Datagrams of hosts that the simulation rejected: not IPv4, from an address that is not the
    /// host's, or to one that no external flow leads to.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Why the run was ended, if it was.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }
}

/// The simulation, with the hosts' numbers.
struct Numbered<'a, 'b> {
    door: &'a mut Door<'b>,
    hosts: &'a [NodeId],
    rejected: &'a mut u64,
}

impl pacer::Door for Numbered<'_, '_> {
    fn horizon(&mut self) -> SimTime {
        self.door.horizon()
    }

    fn send(&mut self, at: SimTime, host: usize, datagram: &[u8]) {
        let is_accepted = self.door.send(at, self.hosts[host], datagram);
        *self.rejected += u64::from(!is_accepted);
    }
}

impl<W, A> Outside for Beside<W, A>
where
    W: Wall,
    A: FnMut(&mut Pacer<W>, &mut Door<'_>, SimTime, bool) -> bool,
{
    fn proceed(&mut self, door: &mut Door<'_>) -> Result<(), Interrupt> {
        let mut inside = Numbered {
            door,
            hosts: &self.hosts,
            rejected: &mut self.rejected,
        };
        let ask = &mut self.ask;
        let passed = self
            .pacer
            .proceed(&mut inside, |pacer, inside, now, is_behind| {
                ask(pacer, inside.door, now, is_behind)
            });
        passed.map_err(|stop| {
            if matches!(stop, Stop::Asked) {
                // The results are those of the instant at which the run was ended.
                door.advance(self.pacer.asked());
            }
            self.stop = Some(stop);
            Interrupt
        })
    }

    fn receive(
        &mut self,
        door: &mut Door<'_>,
        host: NodeId,
        datagram: &[u8],
    ) -> Result<(), Interrupt> {
        if let Some(&number) = self.numbers.get(&host) {
            self.pacer.deliver(door.now(), number, datagram);
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        matches!(self.stop, Some(Stop::Asked))
    }

    fn outlasts_flows(&self) -> bool {
        true
    }
}
