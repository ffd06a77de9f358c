//! Single decisions of the two ends, with messages written by hand.

use backlane_coding::generation::draw_coefficients;
use backlane_coding::{
    Acknowledgment, Answer, AnswerKind, Coded, Coefficients, Config, Edge, Original, Receiver,
    Sender,
};
use backlane_units::{Duration, SimTime};

const ROUND_TRIP: Duration = Duration::from_millis(100);

fn at(ms: u64) -> SimTime {
    SimTime::ZERO + Duration::from_millis(ms)
}

fn edge() -> Edge {
    Edge::new(&Config::default(), 1, 0)
}

/// Segment `index` of 100 bytes, sent at this time with this window; its packets leave at once.
fn send(edge: &mut Edge, now: SimTime, index: u64, cwnd_pkts: u32) -> Vec<Coded> {
    let original = Original {
        start: 1 + 100 * index,
        end: 101 + 100 * index,
        stamp: now.as_micros() as u32,
        bytes: 120,
    };
    let sender = Sender {
        cwnd_pkts,
        round_trip: ROUND_TRIP,
    };
    edge.send(now, original, |_| {}, || sender);
    leave(edge, now)
}

/// Packets that are sent, named 1000 times their generation and their number in it.
fn leave(edge: &mut Edge, now: SimTime) -> Vec<Coded> {
    let mut symbol = Vec::new();
    let mut packets: Vec<Coded> = Vec::new();
    let sent = edge.readings().packets;
    while let Some(coded) = edge.poll_transmit(now, sent + packets.len() as u64, &mut symbol) {
        packets.push(coded);
    }
    packets
}

fn answer(
    kind: AnswerKind,
    base: u32,
    base_rank: u8,
    generation: u32,
    rank: u8,
    number: u32,
) -> Answer {
    Answer {
        kind,
        base,
        base_rank,
        generation,
        rank,
        number,
    }
}

/// The receiver has this rank of generation 0 by this packet.
fn ranks(edge: &mut Edge, now: SimTime, rank: u8, number: u32) -> Vec<Acknowledgment> {
    let answer = answer(AnswerKind::Innovative, 0, rank, 0, rank, number);
    edge.on_answer(now, &answer);
    std::iter::from_fn(|| edge.poll_acknowledgment()).collect()
}

fn blocks(ack: &Acknowledgment) -> Vec<(u64, u64)> {
    ack.blocks
        .iter()
        .copied()
        .filter(|block| block.1 > 0)
        .collect()
}

#[test]
fn a_generation_is_as_large_as_the_window_when_it_opens() {
    let mut edge = edge();
    let sizes: Vec<(u32, u8, u8)> = (0..8)
        .flat_map(|index| send(&mut edge, at(0), index, if index == 0 { 3 } else { 100 }))
        .map(|coded| {
            (
                coded.header.generation,
                coded.header.covered,
                coded.header.size,
            )
        })
        .collect();
    let expected = [
        (0, 1, 3),
        (0, 2, 3),
        (0, 3, 3),
        (1, 1, 64),
        (1, 2, 64),
        (1, 3, 64),
    ];
    assert_eq!(sizes[..6], expected);
    assert_eq!(edge.readings().generations, 2);
}

#[test]
fn the_header_takes_eight_bytes_or_lists_its_coefficients_and_the_length_two() {
    let bytes = |coefficients| {
        let config = Config {
            coefficients,
            ..Config::default()
        };
        let mut edge = Edge::new(&config, 1, 0);
        let packets = (0..3).flat_map(|index| send(&mut edge, at(0), index, 3));
        packets.map(|coded| coded.bytes).collect::<Vec<_>>()
    };
    assert_eq!(bytes(Coefficients::Seed), [130, 130, 130]);
    assert_eq!(bytes(Coefficients::Explicit), [131, 132, 133]);
}

#[test]
fn the_kth_rank_acknowledges_the_kth_original() {
    let mut edge = edge();
    (0..10).for_each(|index| drop(send(&mut edge, at(index), index, 10)));
    // Packet 0 was lost: packet 1 is the first that arrived.
    let acks = ranks(&mut edge, at(100), 1, 1);
    assert_eq!(
        (acks.len(), acks[0].ack, acks[0].is_duplicate),
        (1, 101, false)
    );
    assert_eq!(
        acks[0].stamp, 0,
        "that of the original which it acknowledges"
    );
    assert_eq!(ranks(&mut edge, at(101), 2, 2)[0].ack, 201);
    // An answer that was overtaken has no effect.
    assert_eq!(ranks(&mut edge, at(102), 1, 1), []);
    // Two answers were lost.
    assert_eq!(ranks(&mut edge, at(103), 5, 6)[0].ack, 501);
    assert_eq!(edge.readings().duplicate_acks, 0);
}

/// Two generations of three. The last packet of the first is lost: each that arrives still acknowledges
/// one segment, and the last acknowledgment waits for the repair.
#[test]
fn a_loss_delays_the_last_acknowledgment_alone_and_gives_no_duplicates() {
    let mut edge = edge();
    (0..6).for_each(|index| drop(send(&mut edge, at(0), index, 3)));
    assert_eq!(ranks(&mut edge, at(100), 2, 1)[0].ack, 201);
    for rank in 1..=3 {
        let number = u32::from(rank) - 1;
        let arrival = answer(AnswerKind::Innovative, 0, 2, 1, rank, number);
        edge.on_answer(at(101), &arrival);
        let acked = edge.poll_acknowledgment().map(|ack| ack.ack);
        assert_eq!(acked, Some(201 + 100 * u64::from(rank)));
    }
    edge.on_answer(at(150), &answer(AnswerKind::Request, 0, 2, 0, 2, 1));
    let repairs = leave(&mut edge, at(150));
    assert_eq!(repairs.len(), 1);
    assert!(repairs[0].header.is_repair && repairs[0].header.covered == 3);
    edge.on_answer(
        at(250),
        &answer(AnswerKind::Innovative, 2, 0, 0, u8::MAX, 3),
    );
    assert_eq!(edge.poll_acknowledgment().map(|ack| ack.ack), Some(601));
    assert_eq!(edge.readings().duplicate_acks, 0);
    assert_eq!(edge.next_timeout(), SimTime::MAX, "nothing is outstanding");
}

#[test]
fn a_repair_that_may_still_come_is_not_sent_again() {
    let mut edge = edge();
    (0..3).for_each(|index| drop(send(&mut edge, at(0), index, 3)));
    ranks(&mut edge, at(100), 1, 0);
    let request = answer(AnswerKind::Request, 0, 1, 0, 1, 0);
    edge.on_answer(at(150), &request);
    assert_eq!(leave(&mut edge, at(150)).len(), 2);
    edge.on_answer(at(300), &request);
    assert_eq!(leave(&mut edge, at(300)), [], "the queue may be long");
    // A packet that left 60 ms after the repairs was answered, and they were not.
    send(&mut edge, at(210), 3, 3);
    edge.on_answer(at(320), &answer(AnswerKind::Innovative, 0, 1, 1, 1, 0));
    edge.on_answer(at(330), &request);
    assert_eq!(leave(&mut edge, at(330)).len(), 2);
}

/// Ten originals, of which the edge's queue drops the third.
#[test]
fn tcp_hears_of_a_drop_at_the_edge_and_of_nothing_else() {
    let mut edge = edge();
    (0..10).for_each(|index| drop(send(&mut edge, at(0), index, 10)));
    assert!(edge.on_drop(2));
    assert_eq!(ranks(&mut edge, at(100), 2, 1)[0].ack, 201);
    let acks = ranks(&mut edge, at(101), 3, 3);
    assert!(acks[0].is_duplicate && acks[0].ack == 201);
    assert_eq!(blocks(&acks[0]), [(301, 401)]);
    // Packet 4 is lost in the network, which does not show.
    assert_eq!(blocks(&ranks(&mut edge, at(102), 4, 5)[0]), [(301, 501)]);
    assert_eq!(blocks(&ranks(&mut edge, at(103), 8, 9)[0]), [(301, 901)]);
    // The receiver lacks two, of which one must not be repaired.
    edge.on_answer(at(150), &answer(AnswerKind::Request, 0, 8, 0, 8, 9));
    assert_eq!(leave(&mut edge, at(150)).len(), 1);
    assert_eq!(blocks(&ranks(&mut edge, at(250), 9, 10)[0]), [(301, 1001)]);

    let again = send(&mut edge, at(251), 2, 10);
    assert_eq!(again.len(), 1);
    assert!(!again[0].header.is_repair && again[0].header.covered == 10);
    // A full rank by an earlier packet does not acknowledge it.
    assert_eq!(
        ranks(&mut edge, at(252), 10, 10)
            .iter()
            .filter(|ack| !ack.is_duplicate)
            .count(),
        0
    );
    let acks = ranks(&mut edge, at(351), 10, 11);
    assert_eq!((acks[0].ack, acks[0].is_duplicate), (1001, false));
    assert_eq!(
        acks[0].stamp, 251_000,
        "its own, and not that of the one that was dropped"
    );
    let readings = edge.readings();
    assert_eq!((readings.edge_drops, readings.resent), (1, 1));
    assert_eq!(readings.spurious_retransmits, 0);
}

#[test]
fn more_than_four_blocks_of_news_take_several_acknowledgments() {
    let mut edge = edge();
    (0..20).for_each(|index| drop(send(&mut edge, at(0), index, 20)));
    for sequence in (0..20).step_by(2) {
        assert!(edge.on_drop(sequence));
    }
    let acks = ranks(&mut edge, at(100), 10, 19);
    let told: Vec<_> = acks.iter().flat_map(blocks).collect();
    assert_eq!(acks.len(), 3);
    let expected: Vec<_> = (0..10).map(|i| (101 + 200 * i, 201 + 200 * i)).collect();
    assert_eq!(told, expected);
}

#[test]
fn what_tcp_sends_again_without_need_becomes_one_more_combination() {
    let mut edge = edge();
    (0..4).for_each(|index| drop(send(&mut edge, at(0), index, 4)));
    let packets = send(&mut edge, at(500), 0, 1);
    assert!(packets.len() == 1 && packets[0].header.is_repair);
    assert_eq!(edge.readings().spurious_retransmits, 1);
    // Its arrival shows as that of the first transmission.
    assert_eq!(ranks(&mut edge, at(600), 1, 4)[0].stamp, 0);
}

/// The window is ten, and TCP has three segments: after a round trip (100 ms) and the request
/// timer (50 ms) the generation is closed, and a packet asks for an answer.
#[test]
fn a_source_that_falls_silent_closes_its_generation_and_asks() {
    let mut edge = edge();
    (0..3).for_each(|index| drop(send(&mut edge, at(0), index, 10)));
    assert_eq!(edge.next_timeout(), at(150));
    edge.on_timer(at(149));
    assert_eq!(leave(&mut edge, at(149)), []);
    edge.on_timer(at(150));
    let probe = leave(&mut edge, at(150));
    assert_eq!((probe[0].header.size, probe[0].header.covered), (3, 3));
    assert_eq!(edge.next_timeout(), at(450), "twice as long");
    let after = send(&mut edge, at(200), 3, 10);
    assert_eq!(
        (after[0].header.generation, after[0].header.previous_size),
        (1, 3)
    );
}

#[test]
fn a_generation_that_is_short_is_requested_again_and_again() {
    let config = Config::default();
    let (mut edge, mut receiver) = (edge(), Receiver::new(&config, 1, 0));
    let packets: Vec<Coded> = (0..4)
        .flat_map(|index| send(&mut edge, at(0), index, 4))
        .collect();
    let receive = |receiver: &mut Receiver, ms, coded: &Coded| {
        let answer = receiver.on_packet(at(ms), &coded.header, &[]);
        while receiver.poll_decoded(at(ms)).is_some() {}
        answer
    };
    let first = receive(&mut receiver, 50, &packets[0]);
    assert_eq!(first.kind, AnswerKind::Innovative);
    assert_eq!(
        receiver.next_timeout(),
        SimTime::MAX,
        "more may be on its way"
    );
    receive(&mut receiver, 53, &packets[3]);
    assert_eq!(
        receiver.next_timeout(),
        at(103),
        "half a round trip after the last came"
    );
    let request = receiver.poll_request(at(103)).unwrap();
    let expected = answer(AnswerKind::Request, 0, 2, 0, 2, 3);
    assert_eq!(request, expected);
    assert_eq!(receiver.poll_request(at(103)), None);
    assert_eq!(receiver.next_timeout(), at(253), "a round trip and a wait");
    assert_eq!(receiver.poll_request(at(253)), Some(expected));
    assert_eq!(
        receiver.next_timeout(),
        at(453),
        "a round trip and two waits"
    );

    edge.on_answer(at(203), &request);
    for coded in leave(&mut edge, at(203)) {
        receive(&mut receiver, 300, &coded);
    }
    assert_eq!(receiver.next_timeout(), SimTime::MAX);
    assert_eq!(receiver.readings().originals, 4);
    assert_eq!(receiver.readings().masked_losses, 2);
    let late = receive(&mut receiver, 400, &packets[1]);
    assert_eq!((late.kind, late.base), (AnswerKind::NotInnovative, 1));
}

/// No packet of the first generation arrives; one of the second carries its size.
#[test]
fn a_generation_of_which_nothing_came_is_requested_too() {
    let config = Config::default();
    let (mut edge, mut receiver) = (edge(), Receiver::new(&config, 1, 0));
    (0..2).for_each(|index| drop(send(&mut edge, at(0), index, 2)));
    let third = send(&mut edge, at(0), 2, 2);
    receiver.on_packet(at(50), &third[0].header, &[]);
    let request = receiver.poll_request(receiver.next_timeout()).unwrap();
    assert_eq!((request.generation, request.rank), (0, 0));
    edge.on_answer(at(200), &request);
    for coded in leave(&mut edge, at(200)) {
        receiver.on_packet(at(250), &coded.header, &[]);
    }
    let mut originals = 0;
    while receiver.poll_decoded(at(250)).is_some() {
        originals += 1;
    }
    assert_eq!(originals, 3);
}

#[test]
fn a_generation_that_never_ends_numbers_no_two_packets_alike() {
    let mut edge = edge();
    let mut packets = send(&mut edge, at(0), 0, 3);
    while packets.len() <= 1 << 16 {
        let now = edge.next_timeout();
        edge.on_timer(now);
        packets.extend(leave(&mut edge, now));
    }
    let numbers = packets.iter().map(|coded| coded.header.number);
    assert!(numbers.eq(0..=1 << 16));

    // Nor are they mixed like the first packet of this generation or the next.
    let drawn = |generation, number| {
        let mut coefficients = [0; 16];
        draw_coefficients(1, generation, number, &mut coefficients);
        coefficients
    };
    assert_ne!(drawn(0, 1 << 16), drawn(0, 0));
    assert_ne!(drawn(0, 1 << 16), drawn(1, 0));

    let told = ranks(&mut edge, at(100), 1, 1 << 16);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].ack, 101);
}

/// RFC 6298 §2.3 with α = 1/8: after 100 ms a sample of 180 ms gives (7 × 100 + 180)/8 = 110 ms.
/// The edge waits for this time and a request timer.
#[test]
fn the_round_trip_is_smoothed_by_an_eighth() {
    let mut edge = edge();
    send(&mut edge, at(0), 0, 3);
    ranks(&mut edge, at(180), 1, 0);
    let wait = Duration::from_millis(110) + Config::default().request_timer;
    assert_eq!(edge.next_timeout(), at(180) + wait);
}
