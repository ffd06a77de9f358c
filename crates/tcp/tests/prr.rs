//! Proportional rate reduction against the tables of RFC 6937 §3.1: twenty segments out, the
//! threshold at ten, an acknowledgment for each segment that arrives.

mod script;

use std::fmt::Write;

use backlane_tcp::{Config, Connection};
use script::{client, config};

fn twenty_out() -> (Config, String) {
    let config = Config {
        initial_window_pkts: 20,
        ..config()
    };
    let mut script = "0 > S 0\n 0 write 100000\n 40 < S 0 ack 1\n 40 > ack 1\n".to_owned();
    for i in 0..20 {
        writeln!(script, "40 > {}:{} ack 1", i * 1000 + 1, i * 1000 + 1001).unwrap();
    }
    (config, script)
}

/// Segments `lost..20` arrive one by one and are SACKed. `rows`: what leaves for each ("N" new
/// data, "R" a retransmission), and how many are in flight then.
fn follows(lost: u32, rows: &[(&str, u32)]) -> Connection {
    let (config, mut script) = twenty_out();
    let (mut new, mut again) = (20, 0);
    let mut endpoint = None;
    for (row, (sent, pipe_pkts)) in (0u32..).zip(rows) {
        let ms = 80 + row;
        let (first, end) = (lost * 1000 + 1, (lost + row) * 1000 + 1001);
        writeln!(script, "{ms} < ack 1 sack {first}-{end}").unwrap();
        for kind in sent.chars() {
            let segment = if kind == 'N' { &mut new } else { &mut again };
            let (start, end) = (*segment * 1000 + 1, *segment * 1000 + 1001);
            writeln!(script, "{ms} > {start}:{end} ack 1").unwrap();
            *segment += 1;
        }
        let run = client(&config, &script);
        assert_eq!(run.readings().in_flight_pkts, *pipe_pkts, "row {row}");
        endpoint = Some(run);
    }
    endpoint.unwrap()
}

/// The first table, PRR: every second acknowledgment lets a segment out. From the fourth on, the
/// row "pipe" is that after sending, as here; the row "sent" has the last segment an
/// acknowledgment later than the row "pipe" and the formula.
#[test]
fn one_loss_in_twenty_halves_the_flight_over_one_round_trip() {
    let mut rows = vec![("N", 20), ("N", 20), ("R", 19)];
    for pipe_pkts in [
        18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10,
    ] {
        let arrived = rows.len() + 1;
        let sent = if arrived % 2 == 1 && arrived < 19 {
            "N"
        } else {
            ""
        };
        rows.push((sent, pipe_pkts));
    }
    let endpoint = follows(1, &rows);
    assert_eq!(endpoint.readings().ssthresh_pkts, 10);
    assert_eq!(endpoint.readings().cwnd_pkts, 10);
}

/// The second table, PRR-CRB: while acknowledgments do not advance, a segment leaves for each
/// that arrived. The slow-start bound is for those that advance, as in Linux.
#[test]
fn fifteen_losses_in_twenty_conserve_packets() {
    let rows = [("N", 20), ("N", 20), ("R", 5), ("R", 5), ("R", 5)];
    let endpoint = follows(15, &rows);
    assert_eq!(endpoint.readings().lost_pkts, 15);
}

#[test]
fn an_acknowledgment_that_advances_lets_one_more_out_until_the_threshold() {
    let (config, script) = twenty_out();
    let endpoint = client(
        &config,
        &(script
            + "80  < ack 1 sack 15001-16001
               80  > 20001:21001 ack 1
               81  < ack 1 sack 15001-17001
               81  > 21001:22001 ack 1
               82  < ack 1 sack 15001-18001
               82  > 1:1001 ack 1
               83  < ack 1 sack 15001-19001
               83  > 1001:2001 ack 1
               84  < ack 1 sack 15001-20001
               84  > 2001:3001 ack 1
               120 < ack 1 sack 15001-21001
               120 > 3001:4001 ack 1
               121 < ack 1 sack 15001-22001
               121 > 4001:5001 ack 1
               122 < ack 1001 sack 15001-22001
               122 > 5001:6001 ack 1
               122 > 6001:7001 ack 1
               123 < ack 2001 sack 15001-22001
               123 > 7001:8001 ack 1
               123 > 8001:9001 ack 1"),
    );
    assert_eq!(endpoint.readings().in_flight_pkts, 7);
}
