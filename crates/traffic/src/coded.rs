//! The network coding layer of a TCP flow: TCP's segments become symbols, and the layer's answers
//! become TCP's acknowledgments.
//!
//! SYN, SYN-ACK and the acknowledgment of the handshake are sent unchanged. Segments with data or
//! FIN are sent inside coded packets. In the reverse direction, answers of the coding layer replace
//! the receiver's acknowledgments, which end in the layer. An answer carries the receiver's TCP
//! header. The edge uses its window and timestamp, and fills in the acknowledgment.

use std::collections::VecDeque;

use backlane_coding::{
    ANSWER_BYTES, Acknowledgment, Answer, Config, Edge, EdgeReadings, Header, Original, Receiver,
    ReceiverReadings, Sender,
};
use backlane_param::params;
use backlane_tcp::{CongestionState, Connection, Flags, SackBlock, SackBlocks, Segment};
use backlane_units::SimTime;

params! {
    /// Network coding below every TCP flow, from the source to the destination: packets that the
    /// network loses are made good without TCP's knowledge, those that the queue of the source's
    /// first router drops are not. UDP goes uncoded. The paper (Seferoglu and Modiano) gives no
    /// numbers; the defaults are choices.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CodingConfig {
        /// Whether TCP flows are coded; `false` is as if the section were not there.
        enabled: bool = true;
        /// Both ends of the layer.
        layer: Config = Config::default();
        /// Whether bytes of application data are made, coded, decoded and compared. It changes no
        /// result and costs time.
        payload: bool = false;
    }
}

/// The counters of a flow's coding layer.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodingReadings {
    /// At the source.
    pub edge: EdgeReadings,
    /// At the destination.
    pub receiver: ReceiverReadings,
    /// Drops at the edge during a window reduction of TCP, or followed by one within two of its
    /// current round-trip times.
    pub edge_drops_answered: u64,
    /// Drops at the edge followed by a window reduction after more than two round-trip times.
    pub edge_drops_late: u64,
    /// Drops at the edge in the last two round trips without a window reduction yet.
    pub edge_drops_open: u64,
    /// Application bytes compared after decoding.
    pub bytes_compared: u64,
    /// Those of them that were wrong or out of order.
    pub bytes_unequal: u64,
}

/// The content of a coded flow's packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Content {
    /// An uncoded TCP segment.
    #[default]
    Plain,
    /// A coded packet, with its symbol stored separately.
    Coded(Header),
    /// An answer, with a TCP header.
    Answer(Answer),
}

/// Bytes of a segment's fields in a symbol, before its payload.
const FIELDS_BYTES: usize = 33;

/// The coding layer of one flow, both ends.
#[derive(Debug)]
pub(crate) struct Coding {
    edge: Edge,
    receiver: Receiver,
    payload_key: Option<u64>,
    /// The symbol under construction.
    symbol: Vec<u8>,
    /// Answers and requests to be sent.
    answers: VecDeque<Answer>,
    /// The last acknowledgment of the receiving TCP: the header that answers carry.
    header: Segment,
    /// The window last advertised to the sender, and the receiver's latest timestamp.
    advertised: (u32, u32),
    /// The times of the drops at the edge that TCP has not yet reacted to.
    open_drops: Vec<SimTime>,
    edge_drops_answered: u64,
    edge_drops_late: u64,
    /// The sequence number of the next byte to be compared.
    next_seq: u64,
    bytes_compared: u64,
    bytes_unequal: u64,
    /// Whether TCP gave up.
    is_over: bool,
}

impl Coding {
    pub(crate) fn new(config: &CodingConfig, mss_bytes: u32, keys: [u64; 2]) -> Self {
        let width = if config.payload {
            FIELDS_BYTES + mss_bytes as usize
        } else {
            FIELDS_BYTES
        };
        Self {
            edge: Edge::new(&config.layer, keys[0], width),
            receiver: Receiver::new(&config.layer, keys[0], width),
            payload_key: config.payload.then_some(keys[1]),
            symbol: Vec::new(),
            answers: VecDeque::new(),
            header: Segment::default(),
            advertised: (0, 0),
            open_drops: Vec::new(),
            edge_drops_answered: 0,
            edge_drops_late: 0,
            next_seq: 1,
            bytes_compared: 0,
            bytes_unequal: 0,
            is_over: false,
        }
    }

    /// `connection` is the sender.
    pub(crate) fn readings(&self, now: SimTime, connection: &Connection) -> CodingReadings {
        let span = connection.readings().srtt * 2;
        let open = self.open_drops.iter().filter(|&&at| now - at <= span);
        CodingReadings {
            edge: *self.edge.readings(),
            receiver: *self.receiver.readings(),
            edge_drops_answered: self.edge_drops_answered,
            edge_drops_late: self.edge_drops_late,
            edge_drops_open: open.count() as u64,
            bytes_compared: self.bytes_compared,
            bytes_unequal: self.bytes_unequal,
        }
    }

    /// Whether the layer absorbs a segment that TCP sends: data goes into a generation, and a
    /// receiver's acknowledgment is stored for later answers.
    pub(crate) fn takes(
        &mut self,
        receiver: bool,
        now: SimTime,
        segment: &Segment,
        connection: &Connection,
    ) -> bool {
        if receiver {
            self.header = Segment {
                seq: segment.end_seq(),
                flags: Flags::ACK,
                sack: SackBlocks::EMPTY,
                ..*segment
            };
            return !segment.flags.contains(Flags::SYN);
        }
        let has_fin = segment.flags.contains(Flags::FIN);
        if segment.payload_bytes == 0 && !has_fin {
            return false;
        }
        let original = Original {
            start: segment.seq,
            end: segment.end_seq(),
            stamp: segment.ts_val,
            bytes: segment.header_bytes() + segment.payload_bytes,
        };
        let payload_key = self.payload_key;
        let fill = |symbol: &mut [u8]| {
            let (fields, payload) = symbol.split_at_mut(FIELDS_BYTES);
            write_fields(segment, fields);
            if let Some(key) = payload_key {
                write_payload(
                    key,
                    segment.seq,
                    &mut payload[..segment.payload_bytes as usize],
                );
            }
        };
        self.edge.send(now, original, fill, || {
            let readings = connection.readings();
            Sender {
                cwnd_pkts: readings.cwnd_pkts,
                round_trip: readings.srtt,
            }
        });
        true
    }

    /// Sends the layer's pending packets from this side. The callback receives each packet's
    /// content, its TCP header, its size without the IP header, and the symbol of a coded packet.
    /// `sequence` is the number of the next packet of this side.
    pub(crate) fn send_all(
        &mut self,
        receiver: bool,
        now: SimTime,
        sequence: u64,
        mut send: impl FnMut(Content, Segment, u32, &mut Vec<u8>),
    ) {
        if self.is_over {
            return;
        }
        if receiver {
            let mut header = self.header;
            if header.ts_val != 0 {
                header.ts_val = (now.as_micros() as u32).max(1);
            }
            let bytes = ANSWER_BYTES + header.header_bytes();
            for answer in self.answers.drain(..) {
                send(Content::Answer(answer), header, bytes, &mut self.symbol);
            }
            return;
        }
        for sequence in sequence.. {
            let Some(coded) = self.edge.poll_transmit(now, sequence, &mut self.symbol) else {
                return;
            };
            let content = Content::Coded(coded.header);
            send(content, Segment::default(), coded.bytes, &mut self.symbol);
        }
    }

    /// A coded packet arrived; the segments that it completes go to `connection`, in order.
    pub(crate) fn on_coded(
        &mut self,
        now: SimTime,
        header: &Header,
        symbol: &[u8],
        connection: &mut Connection,
    ) {
        let answer = self.receiver.on_packet(now, header, symbol);
        self.answers.push_back(answer);
        while let Some(symbol) = self.receiver.poll_decoded(now) {
            let segment = read_fields(symbol);
            if let Some(key) = self.payload_key {
                let payload = &symbol[FIELDS_BYTES..][..segment.payload_bytes as usize];
                let unequal = unequal_bytes(key, segment.seq, payload);
                self.bytes_compared += u64::from(segment.payload_bytes);
                self.bytes_unequal += if segment.seq == self.next_seq {
                    unequal
                } else {
                    u64::from(segment.payload_bytes)
                };
                self.next_seq = segment.end_seq();
            }
            connection.on_segment(now, &segment);
        }
    }

    /// An answer arrived with the receiver's TCP header; the resulting acknowledgment goes to
    /// `connection`.
    pub(crate) fn on_answer(
        &mut self,
        now: SimTime,
        answer: &Answer,
        header: &Segment,
        connection: &mut Connection,
    ) {
        self.edge.on_answer(now, answer);
        // Answers may be reordered, and PAWS would reject a timestamp that decreases.
        let is_newer = header.ts_val.wrapping_sub(self.advertised.1) as i32 > 0;
        let clock = if is_newer || self.advertised.1 == 0 {
            header.ts_val
        } else {
            self.advertised.1
        };
        self.advertised.1 = clock;
        while let Some(ack) = self.edge.poll_acknowledgment() {
            // An acknowledgment with a changed window is no duplicate (RFC 5681 §2).
            if !ack.is_duplicate || self.advertised.0 == 0 {
                self.advertised.0 = header.window_bytes;
            }
            let segment = acknowledgment(&ack, header, self.advertised);
            connection.on_segment(now, &segment);
        }
    }

    /// The sending TCP may have changed its window.
    pub(crate) fn watch(&mut self, now: SimTime, connection: &Connection) {
        if connection.is_failed() {
            self.is_over = true;
        }
        if self.open_drops.is_empty() {
            return;
        }
        if reduces(connection) {
            let span = connection.readings().srtt * 2;
            let in_time = self.open_drops.iter().filter(|&&at| now - at <= span);
            let in_time = in_time.count();
            self.edge_drops_answered += in_time as u64;
            self.edge_drops_late += (self.open_drops.len() - in_time) as u64;
            self.open_drops.clear();
        }
    }

    /// The source's own queue dropped the packet sent under `sequence`.
    pub(crate) fn on_drop(&mut self, now: SimTime, sequence: u64, connection: &Connection) {
        if !self.edge.on_drop(sequence) {
            return;
        }
        if reduces(connection) {
            self.edge_drops_answered += 1;
        } else {
            self.open_drops.push(now);
        }
    }

    /// When [`Self::on_timer`] is due on this side.
    pub(crate) fn next_timeout(&self, receiver: bool) -> Option<SimTime> {
        let at = if receiver {
            self.receiver.next_timeout()
        } else {
            self.edge.next_timeout()
        };
        (at != SimTime::MAX && !self.is_over).then_some(at)
    }

    pub(crate) fn on_timer(&mut self, receiver: bool, now: SimTime) {
        if receiver {
            while let Some(request) = self.receiver.poll_request(now) {
                self.answers.push_back(request);
            }
        } else {
            self.edge.on_timer(now);
        }
    }
}

fn reduces(connection: &Connection) -> bool {
    !matches!(
        connection.readings().state,
        CongestionState::Open | CongestionState::Disorder
    )
}

fn acknowledgment(ack: &Acknowledgment, header: &Segment, advertised: (u32, u32)) -> Segment {
    let mut sack = SackBlocks::EMPTY;
    for &(start, end) in ack.blocks.iter().filter(|&&(_, end)| end > 0) {
        sack.push(ack.ack, SackBlock { start, end });
    }
    Segment {
        seq: header.seq,
        ack: ack.ack,
        window_bytes: advertised.0,
        ts_val: advertised.1,
        ts_ecr: ack.stamp,
        flags: Flags::ACK,
        sack,
        ..Segment::default()
    }
}

/// A segment's fields, in the order of its declaration; the peer sends no SACK blocks, since it
/// receives no data.
fn write_fields(segment: &Segment, fields: &mut [u8]) {
    fields[..8].copy_from_slice(&segment.seq.to_le_bytes());
    fields[8..16].copy_from_slice(&segment.ack.to_le_bytes());
    fields[16..20].copy_from_slice(&segment.payload_bytes.to_le_bytes());
    fields[20..24].copy_from_slice(&segment.window_bytes.to_le_bytes());
    fields[24..28].copy_from_slice(&segment.ts_val.to_le_bytes());
    fields[28..32].copy_from_slice(&segment.ts_ecr.to_le_bytes());
    fields[32] = u8::from(segment.flags.contains(Flags::FIN));
}

fn read_fields(symbol: &[u8]) -> Segment {
    let word = |at: usize| {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&symbol[at..at + 4]);
        u32::from_le_bytes(bytes)
    };
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    let fin = if symbol[32] == 1 {
        Flags::FIN
    } else {
        Flags::NONE
    };
    Segment {
        seq: long(0),
        ack: long(8),
        payload_bytes: word(16),
        window_bytes: word(20),
        ts_val: word(24),
        ts_ecr: word(28),
        flags: Flags::ACK | fin,
        ..Segment::default()
    }
}

/// Eight bytes of the application's data: those from the `block`-th on (the finaliser of
/// SplitMix64).
fn payload_word(key: u64, block: u64) -> [u8; 8] {
    let mut z = key.wrapping_add(block.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)).to_le_bytes()
}

fn payload_bytes(key: u64, seq: u64, count: usize) -> impl Iterator<Item = u8> {
    let first = (seq % 8) as usize;
    (seq / 8..)
        .flat_map(move |block| payload_word(key, block))
        .skip(first)
        .take(count)
}

fn write_payload(key: u64, seq: u64, payload: &mut [u8]) {
    let bytes = payload_bytes(key, seq, payload.len());
    for (to, byte) in payload.iter_mut().zip(bytes) {
        *to = byte;
    }
}

fn unequal_bytes(key: u64, seq: u64, payload: &[u8]) -> u64 {
    let expected = payload_bytes(key, seq, payload.len());
    payload
        .iter()
        .zip(expected)
        .filter(|(a, b)| **a != *b)
        .count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decoding_a_symbol_restores_its_segment(
            (seq, ack) in any::<(u64, u64)>(),
            (payload_bytes, window_bytes, ts_val, ts_ecr) in any::<(u32, u32, u32, u32)>(),
            fin in any::<bool>(),
        ) {
            let segment = Segment {
                seq,
                ack,
                payload_bytes,
                window_bytes,
                ts_val,
                ts_ecr,
                flags: if fin { Flags::ACK | Flags::FIN } else { Flags::ACK },
                ..Segment::default()
            };
            let mut symbol = [0; 33];
            write_fields(&segment, &mut symbol);
            prop_assert_eq!(read_fields(&symbol), segment);
        }
    }
}
