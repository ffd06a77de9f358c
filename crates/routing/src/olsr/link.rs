//! Link sensing (RFC 3626 §4.2.1, §7.1.1).

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::message::{Hello, LinkType};

/// A link tuple; one interface is one wire with one neighbour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The address of the neighbour's interface.
    pub(super) neighbour: NodeId,
    /// Whether `L_SYM_time` is in the future; kept up to date when links expire.
    pub(super) symmetric: bool,
    /// `L_SYM_time`.
    pub(super) symmetric_until: SimTime,
    /// `L_ASYM_time`.
    heard_until: SimTime,
    /// `L_time`.
    pub(super) until: SimTime,
}

impl Link {
    /// A link to a new neighbour.
    pub(super) fn heard(neighbour: NodeId, until: SimTime) -> Self {
        Self {
            neighbour,
            symmetric: false,
            symmetric_until: SimTime::ZERO,
            heard_until: until,
            until,
        }
    }

    /// Processes a HELLO that was received over the link at the address `own` and that is valid
    /// until `until`.
    pub(super) fn sense(
        &mut self,
        own: NodeId,
        until: SimTime,
        neighbour_hold: Duration,
        hello: &Hello<'_>,
    ) {
        self.heard_until = until;
        // Entries for this node from another wire are ignored.
        let mine = hello
            .neighbours()
            .find(|(code, listed)| *listed == own && code.link != LinkType::Unspecified);
        match mine.map(|(code, _)| code.link) {
            Some(LinkType::Lost) => {
                self.symmetric = false;
                self.symmetric_until = SimTime::ZERO;
            }
            Some(_) => {
                self.symmetric = true;
                self.symmetric_until = until;
                self.until = until.saturating_add(neighbour_hold);
            }
            None => {}
        }
        self.until = self.until.max(self.heard_until);
    }

    /// The link's code in a HELLO (RFC 3626 §6.2).
    pub(super) fn kind(&self, now: SimTime) -> LinkType {
        if self.symmetric {
            LinkType::Symmetric
        } else if self.heard_until > now {
            LinkType::Asymmetric
        } else {
            LinkType::Lost
        }
    }
}
