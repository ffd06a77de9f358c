//! One UE as the network has it: its bearer, its links, its transport blocks.

use backlane_engine::{Stream, Streams};
use backlane_net::{DropCause, MediumContext, NodeId};

use crate::config::{RanConfig, UeConfig};
use crate::mac::harq::{PROCESSES, Process};
use crate::mac::link::DownlinkLink;
use crate::mac::scheduler::Average;
use crate::mac::uplink::UplinkState;
use crate::phy::link_adaptation::OuterLoop;
use crate::readings::UeReadings;
use crate::rlc::{Bearer, Direction, Outcome};
use crate::time::start_of;

/// A UE.
#[derive(Debug)]
pub(crate) struct Ue {
    pub(crate) node: NodeId,
    pub(crate) cell: usize,
    /// Data may flow.
    pub(crate) is_connected: bool,
    pub(crate) bearer: Bearer,
    pub(crate) carriers: Vec<UeCarrier>,
    /// When it measures next for a report, while it is active.
    pub(crate) next_report: u64,
    /// It is among its cell's UEs with something to send in the downlink.
    pub(crate) down_active: bool,
    pub(crate) uplink: UplinkState,
    pub(crate) up_active: bool,
    /// It is among the UEs with a timer of RLC running.
    pub(crate) timed: bool,
    pub(crate) readings: UeReadings,
    /// What decides over blocks, in the downlink.
    pub(crate) draws: Stream,
}

/// A UE's downlink on one carrier.
#[derive(Debug)]
pub(crate) struct UeCarrier {
    pub(crate) link: DownlinkLink,
    /// None before the first transmission.
    pub(crate) processes: Vec<Process>,
    /// Processes with nothing under way, a bit for each.
    pub(crate) free: u8,
    /// Processes that wait for a retransmission, a bit for each.
    pub(crate) due: u8,
    pub(crate) average: Average,
}

impl UeCarrier {
    /// Something is about to be transmitted.
    #[inline]
    pub(crate) fn ensure_processes(&mut self) {
        if self.processes.is_empty() {
            self.processes.resize_with(PROCESSES, Process::default);
        }
    }
}

impl Ue {
    pub(crate) fn new(config: &RanConfig, ue: &UeConfig, streams: &Streams) -> Self {
        let adaptation = &config.adaptation;
        let outer_loop = adaptation.outer_loop.then(|| {
            OuterLoop::new(
                adaptation.outer_loop_step.as_db_f64(),
                adaptation.outer_loop_limit.as_db_f64(),
                adaptation.target_bler,
            )
        });
        let carrier = |_: &_| UeCarrier {
            link: DownlinkLink::new(outer_loop),
            processes: Vec::new(),
            free: u8::MAX,
            due: 0,
            average: Average::default(),
        };
        Self {
            node: ue.node,
            cell: 0,
            is_connected: true,
            bearer: Bearer::new(&config.rlc, &config.pdcp),
            carriers: config.carrier.iter().map(carrier).collect(),
            next_report: 0,
            down_active: false,
            uplink: UplinkState::new(config, outer_loop, streams.stream(&ue.name, "uplink")),
            up_active: false,
            timed: false,
            readings: UeReadings::default(),
            draws: streams.stream(&ue.name, "downlink"),
        }
    }

    /// The UE leaves its cell: what is under way on the air and what is known there is forgotten.
    pub(crate) fn forget_blocks(&mut self) {
        self.is_connected = false;
        self.down_active = false;
        self.up_active = false;
        for carrier in &mut self.carriers {
            carrier.link.reset();
            carrier.due = 0;
            carrier.free = u8::MAX;
            for process in &mut carrier.processes {
                process.air = u64::MAX;
                for block in &mut process.blocks {
                    block.clear();
                }
            }
        }
        self.uplink.forget();
    }

    /// The UE has come into its cell: nothing is known of it there, and it reports from now on.
    pub(crate) fn enter(&mut self, config: &RanConfig, index: usize, tti: u64) {
        self.forget_blocks();
        self.is_connected = true;
        let period = u64::from(config.cqi.period.0);
        let offset = index as u64 % period;
        self.next_report = (tti + period - 1 - offset) / period * period + offset;
    }

    /// Something waits for the downlink.
    #[inline]
    pub(crate) fn has_downlink_work(&self, tti: u64) -> bool {
        self.carriers.iter().any(|carrier| carrier.due != 0)
            || !self
                .bearer
                .status(Direction::Down, start_of(tti))
                .is_empty()
    }

    /// Something waits for the uplink, or is believed to.
    #[inline]
    pub(crate) fn has_uplink_work(&self, tti: u64) -> bool {
        self.uplink.is_busy() || !self.bearer.status(Direction::Up, start_of(tti)).is_empty()
    }

    /// Hands on what came out of the bearer and drops what was given up; gives how many packets
    /// that were.
    #[inline]
    pub(crate) fn settle(
        &mut self,
        context: &mut MediumContext<'_>,
        enodeb: NodeId,
        outcome: &mut Outcome,
    ) -> usize {
        let n = outcome.delivered.len() + outcome.dropped.len() + outcome.lost.len();
        if n != 0 {
            self.hand_on(context, enodeb, outcome);
        }
        n
    }

    fn hand_on(&mut self, context: &mut MediumContext<'_>, enodeb: NodeId, outcome: &mut Outcome) {
        let now = context.now();
        for arrived in outcome.delivered.drain(..) {
            let down = context.packet(arrived.packet).destination == self.node;
            let delay = now.saturating_since(arrived.pushed_at);
            if down {
                self.readings.downlink.delay(delay);
                context.deliver(self.node, arrived.packet);
            } else {
                self.readings.uplink.delay(delay);
                context.deliver(enodeb, arrived.packet);
            }
        }
        for packet in outcome.dropped.drain(..) {
            context.drop(packet, DropCause::Queue);
        }
        for packet in outcome.lost.drain(..) {
            context.drop(packet, DropCause::Radio);
        }
    }
}
