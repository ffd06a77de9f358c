//! What shares the clock with a run: kernels in simulated time, or programs on the wall clock.
//!
//! Flows over [`TransportSpec::External`](backlane_traffic::TransportSpec::External) have their ends
//! there. Before each event of the simulation, the outside may act up to that event's time; what it
//! sends enters the network at its instant, and what reaches one of its hosts is handed to it at
//! once. So neither side ever sees the other's past.

use std::cell::RefCell;

use backlane_engine::Interrupt;
use backlane_net::{Event, NodeId, Simulation};
use backlane_traffic::{Flows, OUTSIDE, Reported};
use backlane_units::{Duration, SimTime};

use crate::link_state::LinkState;

/// What is outside of the simulation and shares its clock.
pub trait Outside {
    /// The outside acts on its own until [`Door::horizon`], which comes closer as it sends. The
    /// simulation handles its next event after that.
    ///
    /// # Errors
    /// [`Interrupt`] ends the run; the caller of the run asks the outside for the reason.
    fn proceed(&mut self, door: &mut Door<'_>) -> Result<(), Interrupt>;

    /// An IPv4 datagram has reached a host at [`Door::now`].
    ///
    /// # Errors
    /// As [`Outside::proceed`].
    fn receive(
        &mut self,
        door: &mut Door<'_>,
        host: NodeId,
        datagram: &[u8],
    ) -> Result<(), Interrupt>;

    /// Whether an [`Interrupt`] is the end of the run, which then has results up to now. An
    /// interrupted run has none otherwise.
    fn has_ended(&self) -> bool {
        false
    }

    /// Whether the run goes on after the last finite flow has ended.
    fn outlasts_flows(&self) -> bool {
        false
    }
}

/// The simulation, as the outside sees it.
pub struct Door<'a> {
    simulation: &'a mut Simulation<Flows>,
    until: SimTime,
}

impl Door<'_> {
    /// The simulated time.
    pub fn now(&self) -> SimTime {
        self.simulation.events.now()
    }

    /// How far the outside may act: the time of the simulation's next event, or just after the next
    /// instant at which the simulation is looked at or changed.
    pub fn horizon(&mut self) -> SimTime {
        let after = self.until.saturating_add(Duration::from_nanos(1));
        let next = self.simulation.events.next_entry();
        next.map_or(after, |next| next.min(after))
    }

    /// A host sends an IPv4 datagram at `at`, which is neither before now nor after the horizon.
    /// False if it was refused ([`Flows::inject`]).
    pub fn send(&mut self, at: SimTime, host: NodeId, datagram: &[u8]) -> bool {
        let at = at.min(self.horizon());
        self.simulation.act(at, host.0, |flows, context| {
            flows.inject(context, host, datagram)
        })
    }

    /// Moves the clock to `at`, where nothing happens, but not beyond the horizon: what shares the clock
    /// ends the run at an instant without an event.
    pub fn advance(&mut self, at: SimTime) {
        let at = at.min(self.horizon());
        self.simulation.advance(at);
    }

    /// The state of each link direction, in the order of [`World::link_names`](crate::World::link_names).
    pub fn links(&mut self) -> Vec<LinkState> {
        let (now, links) = (self.now(), self.simulation.network.links().len());
        (0..links)
            .filter_map(|link| LinkState::of(self.simulation, link, now))
            .collect()
    }

    /// A host will send an IPv4 datagram at `at`, which is not before now. Events of the simulation
    /// may come first.
    pub fn send_at(&mut self, at: SimTime, host: NodeId, datagram: &[u8]) {
        self.simulation.application.will_send(at, host, datagram);
        let (id, token) = (OUTSIDE, 0);
        self.simulation
            .events
            .once(at, Event::Application { id, token });
    }

    /// How far a host may run ahead of the simulation: no packet reaches it before this time, if no
    /// host outside sends before `next`, and neither does the instant at which the simulation is
    /// looked at or changed.
    pub fn horizon_of(&mut self, host: NodeId, next: SimTime) -> SimTime {
        let after = self.until.saturating_add(Duration::from_nanos(1));
        let event = self.simulation.events.next_entry();
        let next = event.map_or(next, |event| event.min(next));
        let delivery = self.simulation.network.earliest_delivery(host, next);
        delivery.min(after)
    }

    /// The sender of a flow reports its state.
    pub fn report(&mut self, flow: u32, reported: Reported) {
        self.simulation.application.report(flow, reported);
    }

    /// The sender of a flow has given up.
    pub fn give_up(&mut self, flow: u32) {
        self.simulation.application.give_up(flow);
    }
}

/// Runs the simulation beside the outside until `until`, events of that instant included. `watch` is
/// called after each event.
///
/// # Errors
/// [`Interrupt`] from either.
pub(crate) fn run(
    outside: &RefCell<&mut dyn Outside>,
    simulation: &mut Simulation<Flows>,
    until: SimTime,
    mut watch: impl FnMut(&Simulation<Flows>) -> Result<(), Interrupt>,
) -> Result<(), Interrupt> {
    let mut outside = outside.borrow_mut();
    loop {
        let mut door = Door { simulation, until };
        outside.proceed(&mut door)?;
        let next = simulation.events.next_entry();
        let Some(next) = next.filter(|&next| next <= until) else {
            return Ok(());
        };
        // A medium may advance the clock only up to here. Without an event, the entry was that of a
        // timer which has moved.
        if simulation.step(next) {
            for (host, datagram) in simulation.application.take_arrived() {
                outside.receive(&mut Door { simulation, until }, host, &datagram)?;
            }
        }
        watch(simulation)?;
    }
}
