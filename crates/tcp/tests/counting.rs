//! What an acknowledgment counts for, as a congestion control gets it.

mod script;

use std::sync::{Arc, Mutex};

use backlane_tcp::Config;
use backlane_tcp::congestion::{
    Ack, CongestionControl, CongestionControlConfig, Custom, RttSample, Window,
};
use backlane_units::SimTime;
use script::{client, config};

/// What the hooks were given: `(covered)` of samples, `(acked, covered)` of acknowledgments.
#[derive(Debug, Default)]
struct Seen {
    samples: Vec<u32>,
    acks: Vec<(u32, u32)>,
}

#[derive(Debug)]
struct Recorder(Arc<Mutex<Seen>>);

impl CongestionControl for Recorder {
    fn on_rtt_sample(&mut self, _now: SimTime, sample: &RttSample, _window: &mut Window) {
        self.0.lock().unwrap().samples.push(sample.covered_pkts);
    }

    fn on_ack(&mut self, _now: SimTime, ack: &Ack, _window: &mut Window) {
        let counts = (ack.acked_pkts, ack.covered_pkts);
        self.0.lock().unwrap().acks.push(counts);
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        (window.cwnd_pkts / 2).max(2)
    }
}

/// Three segments are SACKed before the recovery, and the last acknowledgment covers all twelve:
/// nine are delivered by it, twelve covered (Linux: `pkts_acked` of `tcp_clean_rtx_queue`). The
/// sample of a SACK covers none.
#[test]
fn the_acknowledgment_that_ends_a_recovery_covers_what_was_sacked_in_it() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let control = {
        let seen = Arc::clone(&seen);
        Custom::new("recorder", move |_seed| {
            Box::new(Recorder(Arc::clone(&seen)))
        })
    };
    let config = Config {
        congestion_control: CongestionControlConfig::Custom(control),
        ..config()
    };
    client(
        &config,
        "0   > S 0
         0   write 12000
         40  < S 0 ack 1
         40  > ack 1
         40  > 1:1001 ack 1
         40  > 1001:2001 ack 1
         40  > 2001:3001 ack 1
         40  > 3001:4001 ack 1
         40  > 4001:5001 ack 1
         40  > 5001:6001 ack 1
         40  > 6001:7001 ack 1
         40  > 7001:8001 ack 1
         40  > 8001:9001 ack 1
         40  > 9001:10001 ack 1
         80  < ack 1 sack 1001-2001
         80  > 10001:11001 ack 1
         81  < ack 1 sack 1001-3001
         81  > 11001:12001 ack 1
         82  < ack 1 sack 1001-4001
         82  > 1:1001 ack 1
         122 < ack 12001",
    );
    let seen = seen.lock().unwrap();
    assert_eq!(seen.acks, [(9, 12)]);
    assert_eq!(seen.samples, [0, 0, 0]);
}
