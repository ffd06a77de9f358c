//! What one of each costs: the one table of measured numbers.
//!
//! **How CPU times were got.** `python -m validation.cost --measure` carries out the scenarios of
//! `examples/`, `studies/` and `validation/cost/scenes.py`, each in a process of its own with a
//! release build, and `python -m validation.cost --fit` finds the times of one hop, frame, interval
//! and so on that together come nearest to the CPU times of all runs (least squares of logarithms,
//! soft at the ends). A single number here therefore also stands for what always comes with it, and
//! is no benchmark of a function. The machine's two cores were busy with other
//! work: on a machine at rest a run takes less.
//!
//! **Memory** was read off from pairs of scenarios of the same measurement that differ in one count
//! (10³ to 10⁵ flows, 10³ to 10⁵ UEs, 25 to 10⁴ nodes): difference of the peaks over difference of
//! the counts. It covers the run and the tables that Python makes of it. **Disk** likewise, with the
//! size of the results folder. **Events** are those of `--fit`.

use super::ledger::Cost;

/// CPU time in nanoseconds, bytes of memory, bytes on the disk, events.
const fn cost(cpu_ns: f64, memory_bytes: f64, disk_bytes: f64, events: f64) -> Cost {
    Cost {
        cpu_ns,
        memory_bytes,
        disk_bytes,
        events,
    }
}

/// Any run: what the libraries of tables take, the files of a results folder.
pub(super) const RUN: Cost = cost(8e4, 20e6, 30e3, 0.0);
/// A node ("N x N nodes": 148 − 21 MB for 9 975 nodes with 39 500 link directions).
pub(super) const NODE: Cost = cost(2.6e3, 3e3, 40.0, 0.0);
/// A direction of a link between nodes.
pub(super) const LINK: Cost = cost(2.5e3, 2.5e3, 70.0, 0.0);
/// A direction of a link over radios ("200 saturated stations").
pub(super) const RADIO_LINK: Cost = cost(2.5e3, 630.0, 3.0, 0.0);
/// A UE behind an ideal cell ("100000 ideal UEs at rest", less its flows).
pub(super) const IDEAL_UE: Cost = cost(2e3, 600.0, 2.0, 0.0);
/// A UE behind traced links.
pub(super) const TRACE_UE: Cost = cost(2e3, 3e3, 40.0, 0.0);
/// A UE of LTE ("1000 LTE UEs, one download").
pub(super) const LTE_UE: Cost = cost(1.3e4, 5.5e3, 250.0, 0.0);
/// A UE's measurement of all cells.
pub(super) const MEASUREMENT: Cost = cost(105.0, 0.0, 0.0, 0.0);
/// A flow, begun or not ("100000 UDP loads").
pub(super) const FLOW: Cost = cost(2.4e3, 1.7e3, 2.0, 0.7);
/// A TCP connection ("100000 transfers that begin together": 10 kB with its flow).
pub(super) const TCP: Cost = cost(1.35e4, 9e3, 50.0, 1.1);
/// A UDP source.
pub(super) const UDP: Cost = cost(860.0, 0.0, 2.0, 0.95);
/// A data packet at both ends.
pub(super) const DATA_PACKET: Cost = cost(57.0, 0.0, 0.0, 0.0);
/// An acknowledgment at both ends.
pub(super) const ACK: Cost = cost(150.0, 0.0, 0.0, 0.0);
/// What network coding adds to a data packet.
pub(super) const CODED_PACKET: Cost = cost(640.0, 0.0, 0.0, 0.0);
/// The measure of reordering of one flow.
pub(super) const REORDERING: Cost = cost(0.0, 1e4, 5e3, 0.0);
/// What it adds to a data packet.
pub(super) const REORDERED_PACKET: Cost = cost(48.0, 0.0, 0.0, 0.0);
/// The hooks of a congestion control in Python that an acknowledgment calls ("a control in
/// Python", whose class has the two hooks that it must have).
pub(super) const PYTHON_ACK: Cost = cost(760.0, 0.0, 0.0, 0.0);
/// A packet with a Linux kernel at both ends: turns of three processes on one core (11.6 CPU-s for
/// 61 700 packets, `docs/guides/linux.md`).
pub(super) const KERNEL_PACKET: Cost = cost(1.9e5, 0.0, 0.0, 0.0);
/// A Linux kernel: its boot, and the memory that it touches.
pub(super) const KERNEL: Cost = cost(1e8, 35e6, 0.0, 0.0);
/// A packet under way or in a queue: 64 bytes of packet, its segment, the sender's record of it.
pub(super) const WAITING: Cost = cost(0.0, 200.0, 0.0, 0.0);
/// A packet over a drop-tail wire.
pub(super) const FIFO_HOP: Cost = cost(98.0, 0.0, 0.0, 1.0);
/// A packet over a wire that decides late.
pub(super) const DECIDING_HOP: Cost = cost(250.0, 0.0, 0.0, 1.4);
/// A packet over an ideal cell, with its proportional-fair scheduler.
pub(super) const CELL_HOP: Cost = cost(790.0, 0.0, 0.0, 2.6);
/// A packet over a link that carries what a trace says.
pub(super) const TRACE_HOP: Cost = cost(210.0, 0.0, 0.0, 2.1);
/// A packet over LTE: PDCP, RLC.
pub(super) const LTE_PACKET: Cost = cost(270.0, 0.0, 0.0, 0.0);
/// A packet over radios, beside its frame: queue, interface.
pub(super) const AIR_HOP: Cost = cost(250.0, 0.0, 0.0, 0.0);
/// The memory latency of a hop, times the 3/4th power of the number of nodes with traffic
/// (`docs/performance.md`: 75 ns a hop with 25 nodes, 506 with 2 500, 1 126 with 10 000).
pub(super) const CACHE_MISSES_NS: f64 = 1.2;
/// This many flows have the cache footprint of one more node ("100000 transfers of 10 kB").
pub(super) const FLOWS_LIKE_A_NODE: f64 = 20.0;
/// A choice of a next hop by BP-MR per flow, beside the hop.
pub(super) const BP_FLOW_CHOICE: Cost = cost(38.0, 0.0, 0.0, 0.0);
/// The same per packet or burst, and by the other kinds of backpressure.
pub(super) const BP_PACKET_CHOICE: Cost = cost(195.0, 0.0, 0.0, 0.0);
/// A choice of a next hop by L2.5R.
pub(super) const SPREAD_CHOICE: Cost = cost(51.0, 0.0, 0.0, 0.0);
/// Hops of a packet over those of its shortest path, where backpressure learns the way by trying
/// ("20 x 20 nodes, bp-classic").
pub(super) const WANDERING: f64 = 6.0;
/// A check of a queue per destination.
pub(super) const BP_QUEUE_COMPARED: Cost = cost(28.0, 0.0, 0.0, 0.0);
/// A TTI of an active cell.
pub(super) const LTE_CELL_TTI: Cost = cost(330.0, 0.0, 0.0, 0.6);
/// A TTI of a UE with data to send or receive.
pub(super) const LTE_UE_TTI: Cost = cost(590.0, 0.0, 0.0, 0.0);
/// A pair of cells in a TTI.
pub(super) const LTE_INTERFERENCE: Cost = cost(115.0, 0.0, 0.0, 0.0);
/// A radio.
pub(super) const RADIO: Cost = cost(1e4, 1e4, 100.0, 0.0);
/// A frame with its acknowledgment and the channel access before it.
pub(super) const FRAME: Cost = cost(430.0, 0.0, 0.0, 4.7);
/// A frame at one radio that hears it.
pub(super) const FRAME_HEARD: Cost = cost(110.0, 0.0, 0.0, 0.0);
/// A routing message at one neighbour.
pub(super) const MESSAGE: Cost = cost(1.2e3, 0.0, 0.0, 1.0);
/// An announcement of OLSR at one neighbour ("20 x 20 nodes, olsr, warm-up").
pub(super) const OLSR_FLOODED: Cost = cost(2e3, 0.0, 0.0, 1.0);
/// An OGM of batman-adv at one neighbour (10 x 10 nodes, 30 s: 1.6 s for 1.1 million of V, 1.0 s of
/// IV).
pub(super) const BATMAN_OGM: Cost = cost(1.2e3, 0.0, 0.0, 0.0);
/// The state of an OLSR node for one link direction (142 − 26 MB for 400 nodes with 1 520
/// directions).
pub(super) const OLSR_TOPOLOGY: Cost = cost(100.0, 200.0, 0.0, 0.0);
/// An entry of an update of Babel at one neighbour: assumed, not measured.
pub(super) const BABEL_ENTRY: Cost = cost(150.0, 0.0, 0.0, 0.02);
/// A request of AODV at one neighbour; most do not go through the whole network.
pub(super) const AODV_FLOODED: Cost = cost(500.0, 0.0, 0.0, 0.15);
/// A request of AODV at one node.
pub(super) const AODV_ROUTE: Cost = cost(75.0, 0.0, 0.0, 0.0);
/// The state of an AODV node for one other node (3 721 − 148 MB for 10⁴ nodes, 280 − 55 for 2 500).
pub(super) const AODV_TABLE: Cost = cost(25.0, 36.0, 0.0, 0.0);
/// A point of a recorded trace; its text stands in the resolved scenario.
pub(super) const POINT: Cost = cost(50.0, 40.0, 12.0, 0.0);
/// A row of the series of windows.
pub(super) const CWND_ROW: Cost = cost(400.0, 400.0, 6.0, 0.0);
/// A row of the series of goodput.
pub(super) const GOODPUT_ROW: Cost = cost(200.0, 150.0, 1.5, 0.0);
/// A row of the series of queues.
pub(super) const QUEUE_ROW: Cost = cost(200.0, 200.0, 1.5, 0.0);
/// A row of the series of radios.
pub(super) const RADIO_ROW: Cost = cost(730.0, 400.0, 15.0, 0.0);
/// A packet in a capture ("capture at 1 Gbit/s": 236 MB for 2.46 million packets).
pub(super) const CAPTURED_BYTES: f64 = 96.0;
/// The same, with the time that it takes: 1.6 − 0.3 CPU-s.
pub(super) const CAPTURED: Cost = cost(500.0, 0.0, CAPTURED_BYTES, 0.0);
/// A slot of the slotted model.
pub(super) const SLOT: Cost = cost(57.0, 0.0, 0.0, 1.0);
/// A flow in a slot.
pub(super) const SLOT_FLOW: Cost = cost(17.0, 0.0, 0.0, 0.0);
/// A link's look at a flow's queue.
pub(super) const SLOT_LINK_FLOW: Cost = cost(0.54, 0.0, 0.0, 0.0);
/// A link in the order of the greedy scheduler, times the logarithm of their number.
pub(super) const SLOT_SORTED: Cost = cost(1.4, 0.0, 0.0, 0.0);
/// A step of the exact scheduler.
pub(super) const SLOT_SCHEDULE: Cost = cost(1.3, 0.0, 0.0, 0.0);
/// The number of additional links that doubles the steps of its search ("slotted, 60 links,
/// exact").
pub(super) const SLOT_LINKS_PER_DOUBLING: f64 = 16.0;
/// A queue of a flow at a node.
pub(super) const SLOTTED_QUEUE: Cost = cost(0.0, 100.0, 0.0, 0.0);
/// A row of the series of flows.
pub(super) const SLOTTED_ROW: Cost = cost(180.0, 200.0, 1.0, 0.0);
/// A point of a map of stability.
pub(super) const REGION_POINT: Cost = cost(0.0, 300.0, 40.0, 0.0);
