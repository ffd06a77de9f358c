//! Prints the trace of one bulk flow over a 50 Mb/s bottleneck with 40 ms of round trip, in the
//! columns of Linux's TCP_INFO: `cargo run --release --example dumbbell cubic`, with `paths3` behind it over three
//! paths in turn.

#[path = "../tests/dumbbell/mod.rs"]
mod dumbbell;

use backlane_tcp::congestion::{CongestionControlConfig, HyStart, cubic};
use backlane_tcp::{Config, CongestionState};
use backlane_units::{Bytes, Duration, SimTime};
use dumbbell::{Dumbbell, Path};

fn main() {
    let name = std::env::args().nth(1).unwrap_or("cubic".to_owned());
    let congestion_control = if name == "cubic_nohystart" {
        CongestionControlConfig::Cubic(cubic::Config {
            hystart: HyStart::Off,
            ..cubic::Config::default()
        })
    } else {
        name.parse().unwrap_or_else(|error| {
            eprintln!("{error}");
            std::process::exit(2)
        })
    };
    let config = Config {
        congestion_control,
        receive_buffer: Bytes::new(4 << 20),
        ..Config::default()
    };
    let path = match std::env::args().nth(2).as_deref() {
        Some("paths3") => Path::three(),
        _ => Path::clean(),
    };
    let mut run = Dumbbell::new(&config, path);
    println!(
        "t,state,cwnd,ssthresh,srtt_us,rttvar_us,rto_us,unacked,sacked,lost,retrans,\
         total_retrans,bytes_acked,min_rtt_us,pacing_Bps,reordering,dsack,undos,rtos"
    );
    let mut at = Duration::from_millis(50);
    while at <= Duration::from_secs(60) {
        run.run_until(SimTime::ZERO + at);
        let r = run.sender.readings();
        let state = match r.state {
            CongestionState::Open => 0,
            CongestionState::Disorder => 1,
            CongestionState::Cwr => 2,
            CongestionState::Recovery => 3,
            CongestionState::Loss => 4,
        };
        println!(
            "{:.3},{state},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            run.now.as_secs_f64(),
            r.cwnd_pkts,
            r.ssthresh_pkts.min(i32::MAX as u32),
            r.srtt.as_micros(),
            r.rttvar.as_micros(),
            r.rto.as_micros(),
            r.packets_out_pkts,
            r.sacked_pkts,
            r.lost_pkts,
            r.retrans_out_pkts,
            run.sender.statistics().retransmits,
            run.sender.acked_bytes() + 1,
            r.min_rtt.unwrap_or(Duration::ZERO).as_micros(),
            r.pacing_rate.map_or(0, |rate| rate.as_bps() / 8),
            r.reordering_pkts,
            run.sender.statistics().spurious_retransmits,
            run.sender.statistics().undos,
            run.sender.statistics().rtos,
        );
        at += Duration::from_millis(if at < Duration::from_secs(1) { 10 } else { 100 });
    }
}
