//! Sizes of PDUs, against the figures of TS 36.322 §6.2.1.

use backlane_lte::pdcp::{PdcpConfig, PdcpSequenceNumber};
use backlane_lte::rlc::{AmConfig, Direction, Pdu, RlcConfig, UmConfig, UmSequenceNumber};
use proptest::prelude::*;

use crate::air::Air;

fn am() -> RlcConfig {
    RlcConfig::from(AmConfig::default())
}

fn um(sequence_number: UmSequenceNumber) -> RlcConfig {
    RlcConfig::from(UmConfig {
        sequence_number,
        ..UmConfig::default()
    })
}

/// The PDUs of a block of 9000 bytes that takes packets of these sizes, PDCP's two bytes included.
fn sizes(rlc: RlcConfig, sdu_bytes: &[u32]) -> Vec<u32> {
    let mut air = Air::new(rlc, 1);
    for (number, bytes) in (0..).zip(sdu_bytes) {
        air.push(Direction::Down, number, bytes - 2);
    }
    air.fill(Direction::Down, 9000)
        .iter()
        .map(Pdu::bytes)
        .collect()
}

#[test]
fn each_packet_but_the_last_costs_twelve_bits_padded_to_whole_bytes() {
    // Figures 6.2.1.4-1 to -3: 2 bytes without LI, 2.5 + 1.5 K for odd K, 2 + 1.5 K for even K.
    for (packets, header) in [(1, 2), (2, 4), (3, 5), (4, 7), (5, 8), (6, 10), (7, 11)] {
        let sdus = vec![100; packets as usize];
        assert_eq!(sizes(am(), &sdus), [100 * packets + header]);
        // The extension part is the same in all; only the fixed part differs (§6.2.1.3).
        let long = um(UmSequenceNumber::Bits10);
        assert_eq!(sizes(long, &sdus), [100 * packets + header]);
        let short = um(UmSequenceNumber::Bits5);
        assert_eq!(sizes(short, &sdus), [100 * packets + header - 1]);
    }
}

#[test]
fn a_packet_longer_than_a_length_indicator_can_tell_ends_its_pdu() {
    // §6.2.2.2: 2047 bytes fit into 11 bits, 2048 do not.
    assert_eq!(sizes(am(), &[2047, 100]), [2047 + 100 + 4]);
    assert_eq!(sizes(am(), &[2048, 100]), [2048 + 2, 100 + 2]);
    assert_eq!(sizes(am(), &[100, 2048, 100]), [2148 + 4, 100 + 2]);
}

#[test]
fn a_packet_is_cut_where_the_block_ends() {
    let mut air = Air::new(am(), 1);
    for number in 0..3 {
        air.push(Direction::Down, number, 98);
    }
    // 3 of the MAC, 2 of the PDU, 50 of the packet; then 50, 100 and 20 with two LIs.
    assert_eq!(air.fill(Direction::Down, 55)[0].bytes(), 52);
    assert_eq!(air.fill(Direction::Down, 3 + 5 + 170)[0].bytes(), 175);
    // A byte less than the LI of the next packet and one byte of it need: it is left out.
    let mut air = Air::new(am(), 1);
    air.push(Direction::Down, 0, 98);
    air.push(Direction::Down, 1, 98);
    assert_eq!(air.fill(Direction::Down, 3 + 4 + 100)[0].bytes(), 102);
    assert_eq!(air.fill(Direction::Down, 3 + 2 + 100)[0].bytes(), 102);
    // Room for a header alone is room for nothing.
    air.push(Direction::Down, 2, 98);
    assert!(air.fill(Direction::Down, 5).is_empty());
    assert_eq!(air.fill(Direction::Down, 6)[0].bytes(), 3);
}

#[test]
fn pdcp_adds_one_or_two_bytes() {
    for (sequence_number, header) in [
        (PdcpSequenceNumber::Bits7, 1),
        (PdcpSequenceNumber::Bits12, 2),
    ] {
        let pdcp = PdcpConfig {
            sequence_number,
            ..PdcpConfig::default()
        };
        let mut air = Air::with(&am(), &pdcp, 1);
        air.push(Direction::Down, 0, 1500);
        assert_eq!(air.bearer.queue_bytes(Direction::Down), 1500 + header);
    }
}

/// Four packets of 100 bytes in PDU 0, one in PDU 1; PDU 0 is lost, and that is reported.
fn nacked() -> (Air, Vec<Pdu>) {
    let mut air = Air::new(am(), 1);
    for number in 0..5 {
        air.push(Direction::Down, number, 98);
    }
    assert_eq!(air.fill(Direction::Down, 410)[0].bytes(), 407);
    let second = air.fill(Direction::Down, 9000);
    air.arrive(Direction::Down, &second);
    air.now_ms = 35;
    air.run_timers();
    let status = air.fill(Direction::Up, 100);
    (air, status)
}

#[test]
fn a_status_pdu_has_fifteen_bits_and_twelve_for_each_nack_and_thirty_for_each_portion() {
    // Figure 6.2.1.6-1. Nothing is missing: 15 bits.
    let mut air = Air::new(am(), 1);
    air.push(Direction::Down, 0, 98);
    let first = air.fill(Direction::Down, 9000);
    air.arrive(Direction::Down, &first);
    assert_eq!(air.bearer.status(Direction::Up, air.now()).status_bytes, 2);
    assert_eq!(air.fill(Direction::Up, 100)[0].bytes(), 2);
    // One PDU is: 27 bits.
    let (mut air, status) = nacked();
    assert_eq!(status[0].bytes(), 4);
    // Of PDU 0 a segment arrives, the rest does not: 57 bits.
    air.arrive(Direction::Up, &status);
    let segment = air.fill(Direction::Down, 200);
    air.arrive(Direction::Down, &segment);
    air.push(Direction::Down, 5, 98);
    let rest_and_new = air.fill(Direction::Down, 9000);
    assert_eq!(rest_and_new.len(), 2);
    air.arrive(Direction::Down, &rest_and_new[1..]);
    air.now_ms = 55;
    air.run_timers();
    assert_eq!(air.fill(Direction::Up, 100)[0].bytes(), 8);
}

#[test]
fn a_segment_of_a_retransmitted_pdu_has_two_bytes_more_and_its_own_length_indicators() {
    let (mut air, status) = nacked();
    air.arrive(Direction::Up, &status);
    // Whole it has 407 bytes. In 406: Figure 6.2.1.5-2 with K = 3 has 4.5 + 4.5 bytes, so that 397
    // of 400 fit, and the other 3 follow behind 4 bytes.
    assert_eq!(air.fill(Direction::Down, 3 + 406)[0].bytes(), 9 + 397);
    assert_eq!(air.fill(Direction::Down, 9000)[0].bytes(), 4 + 3);
    // K = 1: a packet and a half.
    let (mut air, status) = nacked();
    air.arrive(Direction::Up, &status);
    assert_eq!(air.fill(Direction::Down, 3 + 6 + 150)[0].bytes(), 6 + 150);
    // What is left is 50, 100 and 100 bytes, K = 2.
    assert_eq!(air.fill(Direction::Down, 9000)[0].bytes(), 7 + 250);
}

#[test]
fn a_retransmission_that_fits_is_the_pdu_as_it_was() {
    let (mut air, status) = nacked();
    air.arrive(Direction::Up, &status);
    assert_eq!(air.fill(Direction::Down, 3 + 407)[0].bytes(), 407);
    assert!(air.fill(Direction::Down, 9000).is_empty());
}

proptest! {
    #[test]
    fn a_grant_of_what_the_status_tells_takes_all_that_waits(
        sdus in prop::collection::vec(3u32..2040, 1..40),
        cut in 6u32..3000,
        acknowledged in any::<bool>(),
    ) {
        let rlc = if acknowledged { am() } else { um(UmSequenceNumber::Bits10) };
        let mut air = Air::new(rlc, 1);
        for (number, bytes) in (0..).zip(&sdus) {
            air.push(Direction::Down, number, *bytes);
        }
        air.fill(Direction::Down, cut);
        let status = air.bearer.status(Direction::Down, air.now());
        // Larger grants than a PDU can be are not in question here.
        prop_assume!(status.new_bytes > 0 && status.total_bytes() < 32_000);
        prop_assert_eq!(status.new_bytes, air.bearer.queue_bytes(Direction::Down));
        let pdus = air.fill(Direction::Down, 3 + status.total_bytes() as u32);
        prop_assert_eq!(pdus.len(), 1);
        prop_assert_eq!(u64::from(pdus[0].bytes()), status.total_bytes());
        prop_assert!(air.bearer.status(Direction::Down, air.now()).is_empty());
    }
}
