//! Flows between hosts whose transport runs outside the simulation: kernels in simulated time, or
//! programs on the wall clock. Their packets carry real bytes, and what such a flow achieves is read
//! from its headers, as at a tap at both hosts.
//!
//! Left out: IP options change nothing, fragments count as packets without a transport header, and
//! packets of IPv6 are refused.

use std::collections::{BTreeMap, VecDeque};

use backlane_engine::Histogram;
use backlane_net::{Ecn, Packet, PacketId, TransportHeader};
use backlane_units::{Duration, SimTime};
use etherparse::{IpNumber, Ipv4HeaderSlice, TcpHeaderSlice, UdpHeaderSlice};

/// The two ends of a connection, as (address, port), the source of the flow first.
pub(crate) type Ends = [(u32, u16); 2];

/// What the simulation reads of a datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram<'a> {
    /// Source and destination address.
    pub(crate) addresses: [u32; 2],
    /// Source and destination port; zeros without a transport header.
    pub(crate) ports: [u16; 2],
    pub(crate) ecn: Ecn,
    pub(crate) ttl: u8,
    protocol: u8,
    content: Content<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Content<'a> {
    Tcp(Tcp, &'a [u8]),
    Udp(u32, &'a [u8]),
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Tcp {
    seq: u32,
    /// `None` without the ACK flag.
    ack: Option<u32>,
    syn: bool,
    fin: bool,
    payload_bytes: u32,
}

impl<'a> Datagram<'a> {
    /// Reads an IPv4 datagram; `None` if it is none, or is cut.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let ip = Ipv4HeaderSlice::from_slice(bytes).ok()?;
        let length = usize::from(ip.total_len());
        let body = bytes.get(usize::from(ip.ihl()) * 4..length)?;
        let ends_early = ip.more_fragments() || ip.fragments_offset().value() != 0;
        let (ports, content) = match ip.protocol() {
            IpNumber::TCP if !ends_early => {
                let tcp = TcpHeaderSlice::from_slice(body).ok()?;
                let header = usize::from(tcp.data_offset()) * 4;
                let read = Tcp {
                    seq: tcp.sequence_number(),
                    ack: tcp.ack().then(|| tcp.acknowledgment_number()),
                    syn: tcp.syn(),
                    fin: tcp.fin(),
                    payload_bytes: (body.len() - header) as u32,
                };
                let ports = [tcp.source_port(), tcp.destination_port()];
                (ports, Content::Tcp(read, &body[..header]))
            }
            IpNumber::UDP if !ends_early => {
                let udp = UdpHeaderSlice::from_slice(body).ok()?;
                let ports = [udp.source_port(), udp.destination_port()];
                (ports, Content::Udp((body.len() - 8) as u32, &body[..8]))
            }
            _ => ([0, 0], Content::Other),
        };
        Some(Self {
            addresses: [ip.source(), ip.destination()].map(u32::from_be_bytes),
            ports,
            ecn: match ip.ecn().value() {
                0 => Ecn::NotCapable,
                3 => Ecn::Marked,
                _ => Ecn::Capable,
            },
            ttl: ip.ttl(),
            protocol: ip.protocol().0,
            content,
        })
    }

    /// The ends of its connection, the source of the flow first.
    pub(crate) fn ends(&self, reverse: bool) -> Ends {
        let mut ends = [0, 1].map(|end| (self.addresses[end], self.ports[end]));
        if reverse {
            ends.swap(0, 1);
        }
        ends
    }

    /// Its transport header, for captures; the checksum is left at zero.
    pub(crate) fn header(&self) -> TransportHeader {
        let (header, checksum_at) = match self.content {
            Content::Tcp(_, header) => (header, 16),
            Content::Udp(_, header) => (header, 6),
            Content::Other => (&[][..], 0),
        };
        let mut header = header.to_vec();
        if let Some(checksum) = header.get_mut(checksum_at..checksum_at + 2) {
            checksum.fill(0);
        }
        TransportHeader {
            protocol: self.protocol,
            header,
        }
    }
}

/// Writes into the header of a datagram what happened to it on its way: the TTL, and whether a queue
/// has marked it. The header's checksum follows (RFC 1624).
pub(crate) fn arrive(datagram: &mut [u8], packet: &Packet) {
    let Some([_, tos, .., ttl, _, _, _]) = datagram.first_chunk_mut::<12>() else {
        return;
    };
    *ttl = ttl.saturating_sub(packet.hops).max(1);
    if packet.ecn == Ecn::Marked {
        *tos |= 3;
    }
    let header = usize::from(datagram[0] & 15) * 4;
    if let Some(header) = datagram.get_mut(..header) {
        header[10..12].fill(0);
        let words = header.chunks_exact(2);
        let words = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    }
}

/// The bytes of the packets of external flows that are under way, by [`PacketId`].
#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    by_packet: Vec<Option<Box<[u8]>>>,
}

impl Datagrams {
    pub(crate) fn store(&mut self, id: PacketId, datagram: Box<[u8]>) {
        let index = id.index();
        if index >= self.by_packet.len() {
            self.by_packet.resize(index + 1, None);
        }
        self.by_packet[index] = Some(datagram);
    }

    pub(crate) fn get(&self, id: PacketId) -> Option<&[u8]> {
        self.by_packet.get(id.index())?.as_deref()
    }

    pub(crate) fn take(&mut self, id: PacketId) -> Option<Box<[u8]>> {
        self.by_packet.get_mut(id.index())?.take()
    }
}

/// The state of a sender outside, as it reports it (`TCP_INFO`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// Congestion window.
    pub cwnd_pkts: u32,
    /// Slow-start threshold; 2³¹ − 1 is none yet.
    pub ssthresh_pkts: u32,
    /// Smoothed RTT in microseconds.
    pub srtt_us: u32,
    /// Packets in flight, as the kernel counts them: unacknowledged, less those that it takes for
    /// arrived or lost, and its retransmissions.
    pub in_flight_pkts: u32,
    /// The reordering degree that it assumes.
    pub reordering_pkts: u32,
    /// Segments that the receiver reported as received twice.
    pub dsacks: u64,
}

/// A running flow between two hosts outside.
#[derive(Debug, Default)]
pub struct ExternalFlow {
    connections: BTreeMap<Ends, Connection>,
    /// Packets sent by the source and by the destination.
    sent: [u64; 2],
    /// TCP segments with data or FIN that left the source.
    pub segments_sent: u64,
    /// Those whose data had left before.
    pub retransmits: u64,
    /// Payload delivered: of TCP in order, of UDP all.
    pub delivered_bytes: u64,
    /// RTTs of the source's segments that were sent once, from the segment to the acknowledgment
    /// that covers it.
    pub rtt: Histogram,
    /// The smallest of them.
    rtt_min: Option<Duration>,
    /// What the sender reported last.
    pub reported: Option<Reported>,
}

/// A TCP connection, as far as it can be followed at its two hosts. Sequence numbers are offsets
/// from the first one seen.
#[derive(Debug, Default)]
struct Connection {
    /// The sequence number that is offset 0.
    first: Option<u32>,
    /// The end of what has left the source.
    sent_to: u64,
    /// Segments without an acknowledgment: end, time, and whether they were sent once.
    unacknowledged: VecDeque<(u64, SimTime, bool)>,
    /// The end of what has arrived in order.
    arrived_to: u64,
    /// What arrived beyond it: start and end.
    beyond: BTreeMap<u64, u64>,
    /// Offsets that SYN and FIN take.
    syn: u64,
    fin: Option<u64>,
}

impl Connection {
    /// The offset of a sequence number near `near`.
    fn offset(&mut self, seq: u32, near: u64) -> u64 {
        let first = *self.first.get_or_insert(seq);
        let ahead = seq.wrapping_sub(first).wrapping_sub(near as u32) as i32;
        near.saturating_add_signed(i64::from(ahead))
    }

    /// A segment leaves the source; whether it has data or FIN, and whether they had left before.
    fn send(&mut self, tcp: &Tcp, now: SimTime) -> (bool, bool) {
        let start = self.offset(tcp.seq, self.sent_to);
        let end = start + u64::from(tcp.syn) + u64::from(tcp.payload_bytes) + u64::from(tcp.fin);
        let is_counted = tcp.payload_bytes > 0 || tcp.fin;
        if end == start {
            return (false, false);
        }
        if end > self.sent_to {
            self.sent_to = end;
            self.unacknowledged.push_back((end, now, true));
            return (is_counted, false);
        }
        let from = self.unacknowledged.partition_point(|&(to, ..)| to <= start);
        for segment in self.unacknowledged.range_mut(from..) {
            if segment.0 > end {
                break;
            }
            segment.2 = false;
        }
        (is_counted, is_counted)
    }

    /// An acknowledgment reaches the source: the RTT of the last segment that it covers, if that
    /// was sent once.
    fn acknowledge(&mut self, ack: u32, now: SimTime) -> Option<Duration> {
        self.first?;
        let ack = self.offset(ack, self.sent_to);
        let mut sample = None;
        while let Some(&(end, at, once)) = self.unacknowledged.front()
            && end <= ack
        {
            sample = once.then(|| now.saturating_since(at));
            self.unacknowledged.pop_front();
        }
        sample
    }

    /// A segment reaches the destination: the payload that is in order now and was not before.
    fn arrive(&mut self, tcp: &Tcp) -> u64 {
        let start = self.offset(tcp.seq, self.arrived_to);
        let data = start + u64::from(tcp.syn);
        let end = data + u64::from(tcp.payload_bytes);
        if tcp.syn {
            self.syn = 1;
        }
        if tcp.fin {
            self.fin = Some(end);
        }
        let end = end + u64::from(tcp.fin);
        let before = self.payload();
        if start > self.arrived_to {
            let known = self.beyond.entry(start).or_insert(end);
            *known = (*known).max(end);
        } else {
            self.arrived_to = self.arrived_to.max(end);
        }
        while let Some(first) = self.beyond.first_entry()
            && *first.key() <= self.arrived_to
        {
            self.arrived_to = self.arrived_to.max(first.remove());
        }
        self.payload() - before
    }

    /// Payload in order.
    fn payload(&self) -> u64 {
        let fin = self.fin.is_some_and(|fin| self.arrived_to > fin);
        self.arrived_to
            .saturating_sub(self.syn)
            .saturating_sub(u64::from(fin))
    }
}

impl ExternalFlow {
    /// A packet leaves one of the hosts; its number in its direction.
    pub(crate) fn send(&mut self, reverse: bool, datagram: &Datagram<'_>, now: SimTime) -> u64 {
        if !reverse && let Content::Tcp(tcp, _) = &datagram.content {
            let connection = self.connections.entry(datagram.ends(false)).or_default();
            let (is_counted, again) = connection.send(tcp, now);
            self.segments_sent += u64::from(is_counted);
            self.retransmits += u64::from(again);
        }
        let sent = &mut self.sent[usize::from(reverse)];
        *sent += 1;
        *sent - 1
    }

    /// A packet reaches one of the hosts.
    pub(crate) fn arrive(&mut self, reverse: bool, datagram: &Datagram<'_>, now: SimTime) {
        match &datagram.content {
            Content::Tcp(tcp, _) => {
                let connection = self.connections.entry(datagram.ends(reverse)).or_default();
                if !reverse {
                    self.delivered_bytes += connection.arrive(tcp);
                } else if let Some(ack) = tcp.ack
                    && let Some(rtt) = connection.acknowledge(ack, now)
                {
                    self.rtt.add(rtt);
                    self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
                }
            }
            Content::Udp(payload_bytes, _) if !reverse => {
                self.delivered_bytes += u64::from(*payload_bytes);
            }
            Content::Udp(..) | Content::Other => {}
        }
    }

    /// Packets that left the source.
    pub fn packets_sent(&self) -> u64 {
        self.sent[0]
    }

    /// The smallest RTT sample.
    pub fn rtt_min(&self) -> Option<Duration> {
        self.rtt_min
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backlane_net::{FlowId, NodeId};
    use etherparse::PacketBuilder;

    const A: [u8; 4] = [10, 0, 0, 1];
    const B: [u8; 4] = [10, 0, 0, 2];

    fn data(seq: u32, bytes: usize) -> Vec<u8> {
        let builder = PacketBuilder::ipv4(A, B, 64)
            .tcp(40_000, 5001, seq, 1000)
            .ack(1);
        let mut datagram = Vec::new();
        builder.write(&mut datagram, &vec![7; bytes]).unwrap();
        datagram
    }

    fn syn(seq: u32) -> Vec<u8> {
        let builder = PacketBuilder::ipv4(A, B, 64)
            .tcp(40_000, 5001, seq, 1000)
            .syn();
        let mut datagram = Vec::new();
        builder.write(&mut datagram, &[]).unwrap();
        datagram
    }

    fn ack(ack: u32) -> Vec<u8> {
        let builder = PacketBuilder::ipv4(B, A, 64)
            .tcp(5001, 40_000, 1, 1000)
            .ack(ack);
        let mut datagram = Vec::new();
        builder.write(&mut datagram, &[]).unwrap();
        datagram
    }

    /// Sequence numbers pass 2³² on the way.
    const FIRST: u32 = u32::MAX - 1500;

    #[test]
    fn payload_counts_in_order_once_across_the_wrap_of_sequence_numbers() {
        let mut flow = ExternalFlow::default();
        let mut arrive = |datagram: Vec<u8>| {
            flow.arrive(false, &Datagram::read(&datagram).unwrap(), SimTime::ZERO);
            flow.delivered_bytes
        };
        assert_eq!(arrive(syn(FIRST)), 0);
        let at = |offset: u32| FIRST.wrapping_add(1 + offset);
        assert_eq!(arrive(data(at(0), 1000)), 1000);
        assert_eq!(arrive(data(at(2000), 1000)), 1000, "a hole is open");
        assert_eq!(arrive(data(at(3000), 500)), 1000);
        assert_eq!(arrive(data(at(0), 1000)), 1000, "a copy adds nothing");
        assert_eq!(arrive(data(at(1000), 1000)), 3500);
    }

    /// Karn's rule: no sample from a segment that was sent twice.
    #[test]
    fn rtts_are_those_of_segments_sent_once() {
        let mut flow = ExternalFlow::default();
        let ms = |at: u64| SimTime::ZERO + Duration::from_millis(at);
        let send = |flow: &mut ExternalFlow, datagram: Vec<u8>, at| {
            flow.send(false, &Datagram::read(&datagram).unwrap(), ms(at));
        };
        let acknowledge = |flow: &mut ExternalFlow, datagram: Vec<u8>, at| {
            flow.arrive(true, &Datagram::read(&datagram).unwrap(), ms(at));
        };
        send(&mut flow, data(5, 1000), 0);
        acknowledge(&mut flow, ack(1005), 30);
        assert_eq!(flow.rtt_min(), Some(Duration::from_millis(30)));
        send(&mut flow, data(1005, 1000), 40);
        send(&mut flow, data(1005, 1000), 50);
        acknowledge(&mut flow, ack(2005), 60);
        assert_eq!((flow.rtt.count(), flow.segments_sent), (1, 3));
        assert_eq!(flow.retransmits, 1);
    }

    /// A header with a wrong checksum is refused by every receiver.
    #[test]
    fn an_arriving_header_has_its_mark_its_ttl_and_a_valid_checksum() {
        let mut datagram = data(0, 100);
        datagram[1] |= 2;
        let packet = Packet {
            ecn: Ecn::Marked,
            hops: 3,
            ..Packet::new(FlowId(0), NodeId(0), NodeId(1), 140)
        };
        arrive(&mut datagram, &packet);
        let ip = Ipv4HeaderSlice::from_slice(&datagram).unwrap();
        assert_eq!((ip.ecn().value(), ip.ttl()), (3, 61));
        assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
    }

    #[test]
    fn cut_and_foreign_datagrams_are_refused() {
        assert!(Datagram::read(&[]).is_none());
        assert!(Datagram::read(&data(0, 100)[..60]).is_none());
        let mut six = data(0, 10);
        six[0] = 0x65;
        assert!(Datagram::read(&six).is_none());
    }
}
