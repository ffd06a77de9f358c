//! Frames of batman-adv 2022.3 in Linux 6.1, captured at node 1 of a ring of six (`validation/batman`):
//! what the kernel wrote is read here, and written again with the same bytes.

use backlane_routing::batman::message::{
    DATA_HEADER_BYTES, DIRECT_LINK, ELP_BYTES, Elp, IvOgm, Ogm2, data_header,
};
use backlane_routing::batman::metric::{after_hop, throughput_after_hop, throughput_of};
use backlane_units::Rate;

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |digit: u8| (digit as char).to_digit(16).unwrap() as u8;
    let pairs = hex.as_bytes().chunks_exact(2);
    pairs
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

#[test]
fn an_elp_of_the_kernel_is_written_again_with_its_bytes() {
    let frame = bytes("030f020000000001c61c07e0000001f400000000");
    let elp = Elp::decode(&frame).unwrap();
    assert_eq!(elp.interval_ms, 500);
    assert_eq!(elp.encode(ELP_BYTES), frame);
}

/// The five OGMs of version V that node 1 sends: its own, and those of others after one to four hops.
/// A wire has the 10 Gbit/s that the kernel's virtual Ethernet reports.
#[test]
fn ogms_of_version_v_have_the_bytes_and_the_throughputs_of_the_kernel() {
    let frames = [
        "040f3200e385e24d020000000201001cffffffff0401000c0101000163babe3200000000060200041800000002010000",
        "040f3100e385e24d020000000201001c000158ab0401000c0101000163babe3200000000060200041800000002010000",
        "040f3000c0acb703020000000401001c0001301e0401000c010100010a75ef0000000000060200041800000002010000",
        "040f2f00c0acb703020000000401001c00010c560401000c010100010a75ef0000000000060200041800000002010000",
        "040f2e00e385e24d020000000201001c0000ecc40401000c0101000163babe3200000000060200041800000002010000",
    ];
    let wire = throughput_of(Rate::from_bps(10_000_000_000));
    let mut expected = vec![u32::MAX];
    let mut throughput = wire;
    for _ in 0..4 {
        throughput = throughput_after_hop(throughput, 30, false);
        expected.push(throughput);
    }
    for ((hops, frame), expected) in (0..).zip(frames).zip(expected) {
        let frame = bytes(frame);
        let (ogm, rest) = Ogm2::decode(&frame).unwrap();
        assert!(rest.is_empty());
        assert_eq!((ogm.throughput, ogm.ttl), (expected, 50 - hops));
        assert_eq!(ogm.tvlv.len(), 28);
        let mut again = Vec::new();
        ogm.encode(&mut again);
        assert_eq!(again, frame);
    }
}

#[test]
fn ogms_of_the_kernel_that_share_a_frame_are_read_one_after_the_other() {
    let frame = bytes(
        "040f3000035a1719020000000501001c0001301e0401000c0101000119d7777700000000060200041800000002010000040f3200bb1f7e83020000000101001cffffffff0401000c01010001575d16ab00000000060200041800000002010000",
    );
    let (first, rest) = Ogm2::decode(&frame).unwrap();
    let (second, rest) = Ogm2::decode(rest).unwrap();
    assert!(rest.is_empty());
    assert_eq!((first.ttl, second.ttl), (48, 50));
}

/// Version IV: own OGMs of both ports, that of a neighbour with its flag, those of nodes two and three
/// hops away, and that of a neighbour's second port.
#[test]
fn ogms_of_version_iv_have_the_bytes_and_the_qualities_of_the_kernel() {
    let tq = [225, 198, 174];
    let frames = [
        (
            "000f3200ad0b24f602000000020102000000020100ff001c0401000c0102000163babe3200000000060200041800000002010000",
            50,
            0,
            255,
            28,
        ),
        (
            "000f0200c5add83502000000020202000000020200ff0000",
            2,
            0,
            255,
            0,
        ),
        (
            "000f31043e68925502000000000102000000000100e1001c0401000c0102000144ff8edc00000000060200041800000002010000",
            49,
            DIRECT_LINK,
            tq[0],
            28,
        ),
        (
            "000f3000ad0b24f602000000020102000000010200c6001c0401000c0102000163babe3200000000060200041800000002010000",
            48,
            0,
            tq[1],
            28,
        ),
        (
            "000f2f00f07bc17c02000000030102000000010200ae001c0401000c010200017018264500000000060200041800000002010000",
            47,
            0,
            tq[2],
            28,
        ),
        (
            "000f010485e492c302000000010202000000010200e10000",
            1,
            DIRECT_LINK,
            tq[0],
            0,
        ),
    ];
    assert_eq!(after_hop(after_hop(after_hop(255, 30), 30), 30), tq[2]);
    for (frame, ttl, flags, quality, tvlv) in frames {
        let frame = bytes(frame);
        let (ogm, rest) = IvOgm::decode(&frame).unwrap();
        assert!(rest.is_empty());
        let found = (ogm.ttl, ogm.flags, ogm.tq, ogm.tvlv.len());
        assert_eq!(found, (ttl, flags, quality, tvlv));
        let mut again = Vec::new();
        ogm.encode(&mut again);
        assert_eq!(again, frame);
    }
}

/// From the unicast header to the type of the frame inside; two numbers differ: the TTL, of which the
/// kernel takes one off, and the number of the translation table, which is left out here.
#[test]
fn a_data_packet_of_the_kernel_has_a_header_of_24_bytes() {
    let frame = bytes(
        "400f32010200000001010200000001ff0200000000ff080045000044d2714000401154350a0000010a000002adfa2328",
    );
    let to = [0x02, 0, 0, 0, 1, 1];
    assert_eq!(
        (frame[0], frame[1], frame[4..10].to_vec()),
        (0x40, 15, to.to_vec())
    );
    // Behind the header is IPv4.
    assert_eq!((&frame[22..24], frame[24]), (&[8, 0][..], 0x45));
    let (ogm, _) = Ogm2::decode(&OWN).unwrap();
    let header = data_header(ogm.originator, ogm.originator);
    assert_eq!(header.len(), DATA_HEADER_BYTES);
    assert_eq!((&header[..2], &header[4..10]), (&frame[..2], &frame[4..10]));
    assert_eq!(&header[22..], &frame[22..24]);
}

/// The start of an OGM of node 1.
const OWN: [u8; 20] = [4, 15, 50, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0];
