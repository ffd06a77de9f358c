//! Medium access: who sends what in which TTI, and again if it was lost.
//!
//! - [`scheduler`]: who gets which resource block groups of the downlink.
//! - `carrier`: the formats and limits of one component carrier.
//! - `link`: what an eNodeB knows of a downlink.
//! - `downlink`: assignments, transport blocks, feedback.
//! - `uplink`: requests, reports, grants, transport blocks.
//! - `buffer_status`: what a report can say.
//! - `harq`: transport blocks under way.

mod buffer_status;
pub(crate) mod carrier;
pub(crate) mod downlink;
pub(crate) mod harq;
pub(crate) mod link;
mod report;
pub mod scheduler;
pub(crate) mod uplink;

use backlane_units::SimTime;

use crate::rlc::{Bearer, Direction, Outcome, Pdu};

/// Bytes of the subheader of a PDU that ends its transport block, and of one that something
/// follows (TS 36.321 §6.1.2; that of a PDU under 128 bytes is one shorter).
const SUBHEADER_BYTES: [u32; 2] = [1, 3];

/// Fills a transport block of `bytes` with what one direction of a bearer has to send; gives how
/// many of them that takes.
fn fill(
    bearer: &mut Bearer,
    direction: Direction,
    now: SimTime,
    bytes: u32,
    mac_headers: bool,
    pdus: &mut Vec<Pdu>,
    outcome: &mut Outcome,
) -> u32 {
    if !mac_headers {
        return bearer.fill(direction, now, bytes, 0, pdus, outcome);
    }
    let [last, other] = SUBHEADER_BYTES;
    let more = other - last;
    let used = bearer.fill(direction, now, bytes + more, other, pdus, outcome);
    used.saturating_sub(more)
}

/// Bytes of RLC in a transport block.
fn rlc_bytes(pdus: &[Pdu]) -> u32 {
    pdus.iter().map(Pdu::bytes).sum()
}
