//! An eNodeB's side of the uplink: what it believes that a UE has to send.

/// What of a grant no data has room in: a report and MAC subheaders.
const OVERHEAD_BYTES: u64 = 6;
/// Reports leave out RLC headers (TS 36.321 §6.1.3.1), about so much of a train of TCP
/// acknowledgements, of which each costs 1.5 bytes.
const HEADER_SHARE: u64 = 32;
/// What LENA's schedulers take off a grant.
const LENA_OVERHEAD_BYTES: u64 = 2;

/// A grant's place among the grants of a UE.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grant {
    number: u64,
    /// Data that has room in this grant and in all before.
    until_bytes: u64,
}

/// What an eNodeB believes that a UE has to send.
#[derive(Debug, Default)]
pub(super) struct Belief {
    wanted_bytes: u64,
    /// It is known that something waits, and no more.
    asked: bool,
    last: Grant,
    /// Number of the grant that the newest report came with.
    reported: u64,
}

impl Belief {
    /// Bytes of a grant that takes everything, or of a first grant if the amount is not known; zero
    /// if nothing waits.
    pub(super) fn wanted_bytes(&self, first_grant_bytes: u64) -> u64 {
        if self.wanted_bytes != 0 {
            self.wanted_bytes + self.wanted_bytes / HEADER_SHARE + OVERHEAD_BYTES
        } else if self.asked {
            first_grant_bytes
        } else {
            0
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wanted_bytes == 0 && !self.asked
    }

    /// The UE is granted a transport block.
    pub(super) fn on_grant(&mut self, bytes: u32) -> Grant {
        let bytes = u64::from(bytes).saturating_sub(OVERHEAD_BYTES);
        self.grant((bytes * HEADER_SHARE).div_ceil(HEADER_SHARE + 1))
    }

    /// The same as LENA computes it.
    pub(super) fn on_lena_grant(&mut self, bytes: u32) -> Grant {
        self.grant(u64::from(bytes).saturating_sub(LENA_OVERHEAD_BYTES))
    }

    fn grant(&mut self, data_bytes: u64) -> Grant {
        self.wanted_bytes = self.wanted_bytes.saturating_sub(data_bytes);
        self.asked = false;
        self.last.number += 1;
        self.last.until_bytes += data_bytes;
        self.last
    }

    /// The UE has asked, or was heard in a way that leaves open whether something waits. A grant
    /// that it has not used yet will tell.
    pub(super) fn on_request(&mut self, has_grant: bool) {
        self.asked |= self.wanted_bytes == 0 && !has_grant;
    }

    /// This much waited after the PUSCH of this grant; what was granted since takes its part. A
    /// report that HARQ delayed tells nothing new if a later one has come.
    pub(super) fn on_report(&mut self, bytes: u64, with: Grant) {
        if with.number < self.reported {
            return;
        }
        self.reported = with.number;
        self.wanted_bytes = bytes.saturating_sub(self.last.until_bytes - with.until_bytes);
        self.asked = false;
    }

    /// The last grant so far: what a report that comes with none is counted from.
    pub(super) fn last_grant(&self) -> Grant {
        self.last
    }

    /// LENA takes a report for what waits now.
    pub(super) fn on_free_report(&mut self, bytes: u64, after: Grant) {
        if after.number >= self.reported {
            self.wanted_bytes = bytes;
        }
    }

    /// Forgets what was reported, and what is on its way.
    pub(super) fn forget(&mut self) {
        self.wanted_bytes = 0;
        self.asked = false;
        self.last.number += 1;
        self.reported = self.last.number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_brings_a_first_grant_and_only_one() {
        let mut belief = Belief::default();
        assert_eq!(belief.wanted_bytes(64), 0);
        belief.on_request(false);
        assert_eq!(belief.wanted_bytes(64), 64);
        belief.on_grant(64);
        belief.on_request(true);
        assert!(belief.is_empty());
    }

    /// 1000 bytes of data are 1000 · 33/32 + 6 bytes of transport blocks.
    #[test]
    fn a_grant_has_room_for_headers() {
        let mut belief = Belief::default();
        let grant = belief.on_grant(64);
        belief.on_report(1000, grant);
        assert_eq!(belief.wanted_bytes(64), 1037);
        belief.on_grant(1037);
        assert!(belief.is_empty(), "{belief:?}");
    }

    #[test]
    fn grants_since_the_report_count_wherever_they_are() {
        let mut belief = Belief::default();
        let first = belief.on_grant(64);
        belief.on_grant(336);
        belief.on_grant(666);
        // (336 − 6) · 32/33 and (666 − 6) · 32/33 bytes of data were granted since.
        belief.on_report(2000, first);
        assert_eq!(belief.wanted_bytes, 2000 - 320 - 640);
    }

    #[test]
    fn a_late_report_does_not_override_a_newer_one() {
        let mut belief = Belief::default();
        let lost = belief.on_grant(500);
        let next = belief.on_grant(500);
        belief.on_report(0, next);
        belief.on_report(9000, lost);
        assert!(belief.is_empty());
    }

    #[test]
    fn nothing_that_was_told_in_one_cell_is_believed_in_another() {
        let mut belief = Belief::default();
        let grant = belief.on_grant(500);
        let free = belief.last_grant();
        belief.forget();
        belief.on_report(9000, grant);
        belief.on_free_report(9000, free);
        assert!(belief.is_empty());
    }
}
