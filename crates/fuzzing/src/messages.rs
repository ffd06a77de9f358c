//! A decoded routing message is encoded and decoded to the same; other bytes are refused.

use backlane_net::NodeId;
use backlane_routing::aodv;
use backlane_routing::backpressure::Hello;
use backlane_routing::backpressure::tcp_aware::Report;
use backlane_routing::batman::message::{Elp, IvOgm, Ogm2};
use backlane_routing::olsr::message as olsr;

/// Reads the bytes as a message of every protocol that sends any. L2.5R sends none.
///
/// # Panics
/// If a message is decoded to something other than it was encoded from.
pub fn messages(bytes: &[u8]) {
    if let Some(message) = aodv::message::Message::decode(bytes) {
        let written = message.encode();
        assert_eq!(aodv::message::Message::decode(&written), Some(message));
    }
    if let Some(hello) = Hello::decode(bytes) {
        let written = hello.encode();
        assert_eq!(Hello::decode(&written), Some(hello));
    }
    if let Some(report) = Report::decode(bytes) {
        assert_eq!(*report.encode(), *bytes_of(&report, bytes));
        assert_eq!(Report::decode(&report.encode()), Some(report));
    }
    olsr(bytes);
    batman(bytes);
}

/// A report from its bytes, without the unused bits.
fn bytes_of(report: &Report, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[1] = if report.complete { 0x80 } else { 0 };
    bytes
}

fn batman(bytes: &[u8]) {
    let mut written = Vec::new();
    if let Some((ogm, _)) = IvOgm::decode(bytes) {
        ogm.encode(&mut written);
        assert_eq!(IvOgm::decode(&written), Some((ogm, &[][..])));
    }
    written.clear();
    if let Some((ogm, _)) = Ogm2::decode(bytes) {
        ogm.encode(&mut written);
        assert_eq!(Ogm2::decode(&written), Some((ogm, &[][..])));
    }
    if let Some(elp) = Elp::decode(bytes) {
        assert_eq!(Elp::decode(&elp.encode(20)), Some(elp));
    }
}

fn olsr(bytes: &[u8]) {
    let _ = olsr::packet_sequence(bytes);
    let read: Vec<_> = olsr::messages(bytes).collect();
    let lengths = read
        .iter()
        .map(|m| m.body.len() + olsr::MESSAGE_HEADER_BYTES);
    assert!(lengths.sum::<usize>() <= bytes.len());
    let written: Vec<Vec<u8>> = read.iter().map(written).collect();
    let slices: Vec<&[u8]> = written.iter().map(Vec::as_slice).collect();
    let packet = olsr::encode_packet(1, &slices);
    assert_eq!(olsr::messages(&packet).collect::<Vec<_>>(), read);
    for message in &read {
        hello(message.kind, message.body);
        topology(message.kind, message.body);
    }
    // Bodies are decoded regardless of their origin.
    for kind in [olsr::HELLO, olsr::LQ_HELLO, olsr::AIRTIME_HELLO] {
        hello(kind, bytes);
    }
    for kind in [olsr::TC, olsr::LQ_TC, olsr::AIRTIME_TC] {
        topology(kind, bytes);
    }
}

fn written(message: &olsr::Message<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

/// A HELLO encoded from the list of another one decodes to the same list.
fn hello(kind: u8, body: &[u8]) {
    let Some(hello) = olsr::Hello::decode(kind, body) else {
        return;
    };
    let list: Vec<_> = hello.neighbours().collect();
    let qualities: Vec<_> = hello.qualities().collect();
    assert_eq!(list.len(), qualities.len());
    assert!(list.len() <= body.len() / 4);
    if kind == olsr::HELLO {
        let again = olsr::Hello::encode(hello.interval, hello.willingness, &list);
        let again = olsr::Hello::decode(kind, &again).expect("a HELLO that was written");
        assert_eq!(again.neighbours().collect::<Vec<_>>(), list);
    }
}

fn topology(kind: u8, body: &[u8]) {
    let Some(tc) = olsr::TopologyControl::decode(kind, body) else {
        return;
    };
    let nodes: Vec<NodeId> = tc.neighbours().collect();
    assert_eq!(tc.links().count(), nodes.len());
    assert!(nodes.len() <= body.len() / 4);
    if kind == olsr::TC {
        let again = olsr::TopologyControl::encode(tc.sequence, nodes.iter().copied());
        let again = olsr::TopologyControl::decode(kind, &again).expect("a TC that was written");
        assert_eq!(again.sequence, tc.sequence);
        assert_eq!(again.neighbours().collect::<Vec<_>>(), nodes);
    }
}
