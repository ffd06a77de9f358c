//! The declaration of the table of runs. Its rows are written by the caller of the runs, which
//! knows their ids and parameters.

use backlane_record::table;

table! {
    /// One row for each cell and seed of a campaign, or for the one run. Behind `seed` there is a
    /// column for each swept key, under the name of the key, with the values of the sweep. Cells
    /// with the same resolved scenario share a run and have the same `run_id`.
    pub(super) struct RunRow in "runs" {
        /// Hash of the scenario's values that differ from their defaults, the seed and the model
        /// version.
        run_id: String;
        /// Index of the cell of the sweep; 0 without a sweep.
        cell: u64;
        /// Random seed.
        seed: u64;
        /// Simulated time at the end, warm-up included.
        simulated_s: f64, "s";
        /// The same without the warm-up: the end on the clock of the flows.
        traffic_s: f64, "s";
        /// Elapsed real time of the run.
        wall_s: f64, "s";
        /// CPU time of the run, of all its threads.
        cpu_s: f64, "s";
        /// Threads that ran it.
        threads: u64;
        /// Events processed; slots in a slotted model.
        events: u64;
        /// Packets that applications and routers sent.
        packets_injected: u64;
        /// Copies that wires made of packets.
        packets_duplicated: u64;
        /// Packets that reached their destination.
        packets_delivered: u64;
        /// Packets dropped, for any cause.
        packets_dropped: u64;
        /// Packets in the network at the end.
        packets_in_flight: u64;
        /// Application bytes that all flows delivered; null in slotted models.
        delivered_bytes: Option<u64>, "B";
        /// Why the run ended: `flows finished`, `time limit`, or `stopped` (an emulation that its user ended).
        ended: String;
        /// Hash of all events and their times, in hexadecimal.
        digest: String;
        /// Delivered bytes over `traffic_s`, as a rate.
        delivered_bps: Option<f64>, "bit/s";
        /// Dropped packets by cause, as a JSON object.
        dropped_by_cause: String;
    }
}
