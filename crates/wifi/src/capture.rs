//! Frames that captured nodes send and decode, with their 802.11 headers.

use backlane_net::{AirFrame, MediumContext, NodeId, PacketId};
use backlane_units::Duration;

use crate::frame::{Frame, Kind, NONE};
use crate::medium::Wifi;

/// 802.11 headers without the check sequence (`LINKTYPE_IEEE802_11`).
const LINKTYPE_IEEE802_11: u16 = 105;
/// LLC and SNAP before an IPv4 packet (RFC 1042).
const LLC_SNAP: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];

/// Node and number of a radio.
type Station = (NodeId, u8);

impl Wifi {
    /// Captures a frame that `radio` sends or has decoded. `content` is the packet of a data
    /// frame, as long as the far end has not received it.
    #[cold]
    pub(crate) fn note(
        &self,
        context: &mut MediumContext<'_>,
        radio: usize,
        frame: &Frame,
        content: Option<PacketId>,
    ) {
        let radio = &self.radios[radio];
        if !context.is_captured(radio.node) {
            return;
        }
        let station = |radio: u32| {
            let radio = &self.radios[radio as usize];
            (radio.node, radio.number)
        };
        let from = station(frame.from);
        let to = (frame.to != NONE).then(|| station(frame.to));
        let mpdu = self.radios[frame.from as usize].mpdu;
        let retry = match frame.kind {
            Kind::Data | Kind::Rts => mpdu.is_some_and(|mpdu| mpdu.attempts > 1),
            Kind::Cts | Kind::Ack => false,
        };
        let sequence = content.map(|id| context.packet(id).sequence);
        let mut header = mac_header(frame.kind, from, to, frame.duration, retry, sequence);
        if content.is_some() {
            header.extend_from_slice(&LLC_SNAP);
        }
        let air = AirFrame {
            link_type: LINKTYPE_IEEE802_11,
            header,
        };
        let sent = from == (radio.node, radio.number);
        context.capture_frame(radio.node, radio.number, sent, air, content);
    }

    /// The packet of a data frame that `radio` sends, unless the far end has received it.
    pub(crate) fn content(&self, radio: usize, frame: &Frame) -> Option<PacketId> {
        let mpdu = self.radios[radio].mpdu?;
        (frame.kind == Kind::Data && !mpdu.arrived).then_some(mpdu.packet)
    }
}

/// The header of a frame in an independent network, without the check sequence
/// (IEEE 802.11-2020 §9.3.1, §9.3.2). Radio r of node n has the MAC address 02:r:n.
fn mac_header(
    kind: Kind,
    from: Station,
    to: Option<Station>,
    duration: Duration,
    retry: bool,
    sequence: Option<u64>,
) -> Vec<u8> {
    let frame_control = match kind {
        Kind::Data => 0x08,
        Kind::Rts => 0xb4,
        Kind::Cts => 0xc4,
        Kind::Ack => 0xd4,
    };
    let retry = if retry { 0x08 } else { 0 };
    let mut bytes = vec![frame_control, retry];
    // In microseconds, rounded up.
    let microseconds = duration.as_ps().div_ceil(Duration::from_micros(1).as_ps());
    let duration = microseconds.min(0x7fff) as u16;
    bytes.extend_from_slice(&duration.to_le_bytes());
    let receiver = to.map_or([0xff; 6], mac_address);
    bytes.extend_from_slice(&receiver);
    if matches!(kind, Kind::Data | Kind::Rts) {
        bytes.extend_from_slice(&mac_address(from));
    }
    if kind == Kind::Data {
        // The identifier of the one network.
        bytes.extend_from_slice(&[2, 0xff, 0xff, 0xff, 0xff, 0xff]);
        let number = (sequence.unwrap_or(0) as u16) << 4;
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes
}

fn mac_address((node, radio): Station) -> [u8; 6] {
    let [a, b, c, d] = node.0.to_be_bytes();
    [2, radio, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_the_headers_of_their_kinds() {
        let header = |kind, sequence| {
            let (from, to) = ((NodeId(1), 0), (NodeId(2), 1));
            let duration = Duration::from_nanos(44_100);
            mac_header(kind, from, Some(to), duration, true, sequence)
        };
        let data = header(Kind::Data, Some(3));
        assert_eq!(data.len(), 24);
        assert_eq!(data[..10], [8, 8, 45, 0, 2, 1, 0, 0, 0, 2]);
        assert_eq!(data[22..], [0x30, 0]);
        assert_eq!(header(Kind::Rts, None).len(), 16);
        assert_eq!(header(Kind::Ack, None).len(), 10);
    }
}
