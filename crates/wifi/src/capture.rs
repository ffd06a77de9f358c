//! Frames that captured nodes send and decode.

use backlane_net::{AirFrame, FrameKind, MediumContext, PacketId};

use crate::frame::{Frame, Kind, NONE};
use crate::medium::Wifi;

impl Wifi {
    /// Tells a capture of a frame that `radio` sends, or has decoded. `content` is the packet of
    /// a data frame, as long as it has not come out at the far end.
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
        let place = |radio: u32| {
            let radio = &self.radios[radio as usize];
            (radio.node, radio.number)
        };
        let from = place(frame.from);
        let kind = match frame.kind {
            Kind::Data => FrameKind::Data,
            Kind::Rts => FrameKind::Rts,
            Kind::Cts => FrameKind::Cts,
            Kind::Ack => FrameKind::Ack,
        };
        let service = self.radios[frame.from as usize].service;
        let retry = match kind {
            FrameKind::Data | FrameKind::Rts => service.is_some_and(|service| service.attempts > 1),
            FrameKind::Cts | FrameKind::Ack => false,
        };
        let air = AirFrame {
            kind,
            from,
            to: (frame.to != NONE).then(|| place(frame.to)),
            reserves: frame.reserves,
            retry,
        };
        let sent = from == (radio.node, radio.number);
        context.capture_frame(radio.node, radio.number, sent, air, content);
    }

    /// The packet of a data frame that `radio` sends, if it has not come out before.
    pub(crate) fn content(&self, radio: usize, frame: &Frame) -> Option<PacketId> {
        let service = self.radios[radio].service?;
        (frame.kind == Kind::Data && !service.arrived).then_some(service.packet)
    }
}
