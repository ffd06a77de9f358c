//! Panics of models that the program provides: the run ends with the model's name and the simulated
//! time.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use backlane_engine::Stream;
use backlane_net::{
    Context, Division, FlowId, LinkId, Medium, MediumContext, NodeId, Packet, PacketId,
    PacketStore, QueueDiscipline, Router, RouterQueue,
};
use backlane_radio::Position;
use backlane_radio::mobility::MobilityModel;
use backlane_radio::path_loss::{Path, PathLossModel};
use backlane_tcp::CongestionState;
use backlane_tcp::congestion::{Ack, Arrival, CongestionControl, LostPacket, RttSample, Window};
use backlane_traffic::{Emission, Source};
use backlane_units::{Duration, Frequency, Rate, SimTime};

/// A panic of a model that the program provides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPanic {
    /// The model's name in scenario files.
    pub model: String,
    /// What it is for, such as "router of node 3".
    pub place: String,
    /// The simulated time.
    pub at: SimTime,
    /// The message of the panic.
    pub message: String,
}

impl fmt::Display for ModelPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\", {}, panicked at {:.6} s: {}",
            self.model,
            self.place,
            self.at.as_secs_f64(),
            self.message
        )
    }
}

impl std::error::Error for ModelPanic {}

/// A model whose panics carry its name and its place.
#[derive(Debug)]
pub(crate) struct Guarded<T> {
    model: T,
    name: &'static str,
    place: String,
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

/// The result of a call; a panic goes on as a [`ModelPanic`].
pub(crate) fn guard<R>(name: &'static str, place: &str, call: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        resume_unwind(Box::new(ModelPanic {
            model: name.to_owned(),
            place: place.to_owned(),
            at: SimTime::ZERO,
            message: message(&*panic),
        }))
    })
}

/// The result of a call that may change `state`; `now` is the simulated time of a [`ModelPanic`] in
/// it.
pub(crate) fn timed<S, R>(
    state: &mut S,
    now: impl FnOnce(&S) -> SimTime,
    call: impl FnOnce(&mut S) -> R,
) -> R {
    catch_unwind(AssertUnwindSafe(|| call(state))).unwrap_or_else(|mut panic| {
        if let Some(panic) = panic.downcast_mut::<ModelPanic>() {
            panic.at = now(state);
        }
        resume_unwind(panic)
    })
}

impl<T> Guarded<T> {
    /// Makes the model.
    pub(crate) fn new(name: &'static str, place: String, make: impl FnOnce() -> T) -> Self {
        Self {
            model: guard(name, &place, make),
            name,
            place,
        }
    }

    fn call<R>(&mut self, call: impl FnOnce(&mut T) -> R) -> R {
        let model = &mut self.model;
        guard(self.name, &self.place, || call(model))
    }

    fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        guard(self.name, &self.place, || read(&self.model))
    }
}

/// The hooks that may change the control are guarded; those that only read it are not.
impl CongestionControl for Guarded<Box<dyn CongestionControl>> {
    fn on_established(&mut self, now: SimTime, srtt_us: u32, mss_bytes: u32, window: &mut Window) {
        self.call(|control| {
            control.on_established(now, srtt_us, mss_bytes, window);
        });
    }

    fn on_rtt_sample(&mut self, now: SimTime, sample: &RttSample, window: &mut Window) {
        self.call(|control| control.on_rtt_sample(now, sample, window));
    }

    fn on_arrival(&mut self, now: SimTime, arrival: &Arrival, window: &mut Window) {
        self.call(|control| control.on_arrival(now, arrival, window));
    }

    fn on_ack(&mut self, now: SimTime, ack: &Ack, window: &mut Window) {
        self.call(|control| control.on_ack(now, ack, window));
    }

    fn ssthresh(&mut self, now: SimTime, window: &Window, in_flight_pkts: u32) -> u32 {
        self.call(|control| control.ssthresh(now, window, in_flight_pkts))
    }

    fn on_loss(&mut self, now: SimTime, window: &mut Window) {
        self.call(|control| control.on_loss(now, window));
    }

    fn undo_cwnd(&mut self, window: &Window, prior_cwnd_pkts: u32) -> u32 {
        self.call(|control| control.undo_cwnd(window, prior_cwnd_pkts))
    }

    fn take_reduction(&mut self) -> bool {
        self.call(|control| control.take_reduction())
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.model.pacing_rate()
    }

    fn needs_rate_samples(&self) -> bool {
        self.model.needs_rate_samples()
    }

    fn owns_window(&self) -> bool {
        self.model.owns_window()
    }

    fn on_state_change(&mut self, now: SimTime, state: CongestionState, snd_nxt: u64) {
        self.call(|control| control.on_state_change(now, state, snd_nxt));
    }

    fn on_packet_lost(&mut self, now: SimTime, lost: &LostPacket, window: &Window) {
        self.call(|control| control.on_packet_lost(now, lost, window));
    }

    fn on_timeout(&mut self, now: SimTime, lost_pkts: u64) {
        self.call(|control| control.on_timeout(now, lost_pkts));
    }

    fn on_recovery_exit(&mut self, now: SimTime, window: &mut Window) {
        self.call(|control| control.on_recovery_exit(now, window));
    }

    fn on_idle_restart(&mut self, now: SimTime, snd_nxt: u64, window: &Window) {
        self.call(|control| control.on_idle_restart(now, snd_nxt, window));
    }

    fn on_transmit_start(&mut self, now: SimTime, idle: Duration, snd_nxt: u64) {
        self.call(|control| control.on_transmit_start(now, idle, snd_nxt));
    }

    fn on_restart(&mut self, now: SimTime, window: &mut Window) {
        self.call(|control| control.on_restart(now, window));
    }

    fn holds_back(&self) -> bool {
        self.model.holds_back()
    }
}

impl Router for Guarded<Box<dyn Router>> {
    fn start(&mut self, context: &mut Context<'_>) {
        self.call(|router| router.start(context));
    }

    fn on_packet(&mut self, context: &mut Context<'_>, id: PacketId) {
        self.call(|router| router.on_packet(context, id));
    }

    fn on_message(&mut self, context: &mut Context<'_>, interface: usize, ttl: u8, message: &[u8]) {
        self.call(|router| {
            router.on_message(context, interface, ttl, message);
        });
    }

    fn on_timer(&mut self, context: &mut Context<'_>, token: u32) {
        self.call(|router| router.on_timer(context, token));
    }

    fn on_carrier(&mut self, context: &mut Context<'_>, interface: usize, present: bool) {
        self.call(|router| {
            router.on_carrier(context, interface, present);
        });
    }

    fn on_power(&mut self, context: &mut Context<'_>, on: bool) {
        self.call(|router| router.on_power(context, on));
    }

    fn on_interface_ready(&mut self, context: &mut Context<'_>, interface: usize) {
        self.call(|router| {
            router.on_interface_ready(context, interface);
        });
    }

    fn on_tx_failed(&mut self, context: &mut Context<'_>, interface: usize, id: PacketId) {
        self.call(|router| {
            router.on_tx_failed(context, interface, id);
        });
    }

    fn on_tx_status(
        &mut self,
        context: &mut Context<'_>,
        interface: usize,
        attempts: u32,
        delivered: bool,
        rate: Rate,
    ) {
        self.call(|router| {
            router.on_tx_status(context, interface, attempts, delivered, rate);
        });
    }

    fn on_withdrawn(&mut self, context: &mut Context<'_>, interface: usize, id: PacketId) {
        self.call(|router| router.on_withdrawn(context, interface, id));
    }

    fn readings(&self, now: SimTime) -> Vec<(&'static str, u128)> {
        self.read(|model| model.readings(now))
    }

    fn flow_backlog_pkts(&self, flow: FlowId) -> u32 {
        self.read(|model| model.flow_backlog_pkts(flow))
    }

    fn queue(&self, interface: usize) -> Option<RouterQueue> {
        self.read(|model| model.queue(interface))
    }

    fn shared_queue(&self) -> Option<RouterQueue> {
        self.read(|model| model.shared_queue())
    }

    fn division(&self, packet: &Packet) -> Option<Division> {
        self.read(|model| model.division(packet))
    }

    fn next_hop(&self, exit: NodeId) -> Option<usize> {
        self.read(|model| model.next_hop(exit))
    }
}

impl QueueDiscipline for Guarded<Box<dyn QueueDiscipline>> {
    fn enqueue(
        &mut self,
        now: SimTime,
        id: PacketId,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) {
        self.call(|queue| queue.enqueue(now, id, packets, dropped));
    }

    fn dequeue(
        &mut self,
        now: SimTime,
        packets: &mut PacketStore,
        dropped: &mut Vec<PacketId>,
    ) -> Option<PacketId> {
        self.call(|queue| queue.dequeue(now, packets, dropped))
    }

    fn withdraw(
        &mut self,
        packets: &PacketStore,
        wanted: &dyn Fn(PacketId) -> bool,
        taken: &mut Vec<PacketId>,
    ) {
        self.call(|queue| queue.withdraw(packets, wanted, taken));
    }

    fn marks(&self) -> u64 {
        self.read(|model| model.marks())
    }

    fn backlog_bytes(&self) -> u64 {
        self.read(|model| model.backlog_bytes())
    }

    fn backlog_pkts(&self) -> usize {
        self.read(|model| model.backlog_pkts())
    }
}

impl Source for Guarded<Box<dyn Source>> {
    fn next(&mut self, now: SimTime) -> Option<Emission> {
        self.call(|source| source.next(now))
    }
}

impl Medium for Guarded<Box<dyn Medium>> {
    fn start(&mut self, context: &mut MediumContext<'_>) {
        self.call(|medium| medium.start(context));
    }

    fn on_packet(&mut self, context: &mut MediumContext<'_>, node: NodeId, id: PacketId) {
        self.call(|medium| medium.on_packet(context, node, id));
    }

    fn on_frame(&mut self, context: &mut MediumContext<'_>, link: LinkId, id: PacketId) {
        self.call(|medium| medium.on_frame(context, link, id));
    }

    fn on_broadcast(
        &mut self,
        context: &mut MediumContext<'_>,
        node: NodeId,
        radio: u8,
        id: PacketId,
    ) {
        self.call(|medium| {
            medium.on_broadcast(context, node, radio, id);
        });
    }

    fn withdraw(&mut self, context: &mut MediumContext<'_>, link: LinkId) {
        self.call(|medium| medium.withdraw(context, link));
    }

    fn set_link_up(&mut self, context: &mut MediumContext<'_>, link: LinkId, up: bool) {
        self.call(|medium| {
            medium.set_link_up(context, link, up);
        });
    }

    fn set_node_up(&mut self, context: &mut MediumContext<'_>, node: NodeId, up: bool) {
        self.call(|medium| {
            medium.set_node_up(context, node, up);
        });
    }

    fn on_timer(&mut self, context: &mut MediumContext<'_>, token: u32) {
        self.call(|medium| medium.on_timer(context, token));
    }

    fn held_pkts(&self) -> usize {
        self.read(|model| model.held_pkts())
    }
}

impl PathLossModel for Guarded<Arc<dyn PathLossModel>> {
    fn loss_db(&self, path: &Path, frequency: Frequency) -> f64 {
        self.read(|model| model.loss_db(path, frequency))
    }
}

impl MobilityModel for Guarded<Arc<dyn MobilityModel>> {
    fn places(
        &self,
        from: Position,
        end: Duration,
        stream: &mut Stream,
    ) -> Vec<(Duration, Position)> {
        self.read(|model| model.places(from, end, stream))
    }
}
