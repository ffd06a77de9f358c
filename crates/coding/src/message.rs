//! The messages between the two ends, as plain data, and their sizes.

use backlane_units::Duration;

/// Bytes of the header of a coded packet whose coefficients follow from its number: generation
/// (2), originals covered, size of the generation, size of the one before, round trip, and the
/// packet's number (2, its low 15 bits: the other end knows which is near), of which the highest
/// bit marks a repair.
pub const HEADER_BYTES: u32 = 8;
/// Bytes of the length that stands before an original, since originals of one generation differ.
pub const LENGTH_BYTES: u32 = 2;
/// Bytes of an answer: what it is, base generation (2), its rank, the answered packet's
/// generation (1, its low byte) and its rank, and the packet's number (2, its low 16 bits).
pub const ANSWER_BYTES: u32 = 8;

/// The unit of [`Header::round_trip`].
const ROUND_TRIP_UNIT: Duration = Duration::from_millis(4);

/// The header of a coded packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The generation, from 0.
    pub generation: u32,
    /// How many originals are mixed: the first ones of the generation.
    pub covered: u8,
    /// Originals of the generation: as many as are planned, and after it was closed early as
    /// many as there are.
    pub size: u8,
    /// Originals of the generation before, which is closed; 0 in the first.
    pub previous_size: u8,
    /// The source's smoothed round trip in units of 4 ms, as far as a byte goes.
    pub round_trip: u8,
    /// The number of the packet in its generation, which seeds the coefficients.
    pub number: u32,
    /// It brings no original for the first time.
    pub is_repair: bool,
}

impl Header {
    /// A round trip as the header carries it.
    pub(crate) fn round_trip_of(span: Duration) -> u8 {
        (span.as_ps() / ROUND_TRIP_UNIT.as_ps()).min(255) as u8
    }

    /// The source's smoothed round trip.
    pub fn round_trip(&self) -> Duration {
        ROUND_TRIP_UNIT * u64::from(self.round_trip)
    }
}

/// A message of the receiver: the answer to a coded packet, or a request.
///
/// An answer carries the state from the base on, so that the next makes up for a lost one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Why it was sent.
    pub kind: AnswerKind,
    /// The first incomplete generation.
    pub base: u32,
    /// The rank of the base.
    pub base_rank: u8,
    /// The generation of the packet that is answered, or the incomplete one.
    pub generation: u32,
    /// Its rank.
    pub rank: u8,
    /// The number of the packet that is answered; in a request, that of the packet received last.
    pub number: u32,
}

/// Why the receiver sends a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerKind {
    /// A packet raised the rank of its generation.
    #[default]
    Innovative,
    /// A packet did not raise the rank of its generation.
    NotInnovative,
    /// The generation is incomplete and no packet has arrived for a while.
    Request,
}
