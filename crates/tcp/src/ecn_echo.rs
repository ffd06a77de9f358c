//! How a receiver echoes congestion marks: until CWR arrives (RFC 3168 §6.1.3), or exactly,
//! segment by segment (RFC 8257 §3.2).

use crate::config::Ecn;
use crate::segment::{EcnField, Flags, Segment};

#[derive(Clone, Debug)]
pub(crate) struct EcnEcho {
    mode: Ecn,
    /// Both ends want it.
    pub(crate) agreed: bool,
    /// Acknowledgments carry ECE now.
    echoes: bool,
    /// An acknowledgment that must leave first, because what it covers differs in marks from
    /// what came after: its number and whether it carries ECE.
    earlier: Option<(u64, bool)>,
}

impl EcnEcho {
    pub(crate) fn new(mode: Ecn) -> Self {
        Self {
            mode,
            agreed: false,
            echoes: false,
            earlier: None,
        }
    }

    /// The bits that ask for ECN in a SYN, or grant it in its answer (RFC 3168 §6.1.1).
    pub(crate) fn handshake_flags(&self, answers: bool) -> Flags {
        match (self.mode, answers) {
            (Ecn::Off, _) => Flags::NONE,
            (_, false) => Flags::ECE | Flags::CWR,
            (_, true) if self.agreed => Flags::ECE,
            (_, true) => Flags::NONE,
        }
    }

    /// The peer's SYN, or its answer to ours.
    pub(crate) fn on_syn(&mut self, segment: &Segment) {
        let ece = segment.flags.contains(Flags::ECE);
        let cwr = segment.flags.contains(Flags::CWR);
        let answers = segment.flags.contains(Flags::ACK);
        self.agreed = self.mode != Ecn::Off && ece && cwr != answers;
    }

    /// Data arrived, and `rcv_nxt` was expected before it. Whether an acknowledgment is due at
    /// once; `delayed`: one is being held back.
    pub(crate) fn on_data(&mut self, segment: &Segment, rcv_nxt: u64, delayed: bool) -> bool {
        if !self.agreed {
            return false;
        }
        let marked = segment.ecn == EcnField::Marked;
        let echoed = self.echoes;
        match self.mode {
            Ecn::Off => {}
            Ecn::Classic => {
                self.echoes &= !segment.flags.contains(Flags::CWR);
                self.echoes |= marked;
            }
            Ecn::Exact => {
                if marked != echoed && delayed {
                    self.earlier = Some((rcv_nxt, echoed));
                }
                self.echoes = marked;
            }
        }
        self.echoes != echoed
    }

    /// Whether acknowledgments carry ECE.
    pub(crate) fn echoes(&self) -> bool {
        self.echoes
    }

    /// The acknowledgment that must leave first.
    pub(crate) fn take_earlier(&mut self) -> Option<(u64, bool)> {
        self.earlier.take()
    }
}
