//! A UE's side of the uplink: when it asks, and when it tells how much waits.

use crate::config::ScheduledUplink;

/// TTIs after which LENA's RLC tells its buffer again, if it is not empty.
const FREE_REPORT_TTIS: u64 = 20;

/// Triggers of scheduling requests and buffer status reports (TS 36.321 §5.4.4, §5.4.5). With one
/// logical channel a regular report is triggered by data that comes to an empty buffer, and by
/// `retxBSR-Timer`.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The TTI of its chances to request, modulo their period.
    offset: u64,
    /// What waited after the last look, or after the last PUSCH.
    seen_bytes: u64,
    /// A regular report is triggered.
    triggered: bool,
    /// When `periodicBSR-Timer` expires.
    periodic_at: u64,
    /// When `retxBSR-Timer` expires; with free reports, when the next is due.
    repeated_at: u64,
}

impl Requests {
    pub(super) fn new(offset: u64) -> Self {
        Self {
            offset,
            ..Self::default()
        }
    }

    /// Looks at the buffer at the begin of a TTI. Whether it sends a scheduling request now, unless
    /// it has a grant for a TTI to come.
    pub(super) fn asks(&mut self, scheduled: &ScheduledUplink, tti: u64, bytes: u64) -> bool {
        if bytes != 0 && (self.seen_bytes == 0 || tti >= self.repeated_at) {
            self.triggered = true;
        }
        self.seen_bytes = bytes;
        let chance = tti % u64::from(scheduled.sr_period.0) == self.offset;
        chance && bytes != 0 && self.triggered
    }

    /// Whether a PUSCH must tell what waits.
    pub(super) fn report_is_due(&self, tti: u64) -> bool {
        self.triggered || tti >= self.periodic_at
    }

    /// A PUSCH was built; `left_bytes` wait still, and it `reports` them or does not.
    pub(super) fn on_pusch(
        &mut self,
        scheduled: &ScheduledUplink,
        tti: u64,
        left_bytes: u64,
        reports: bool,
    ) {
        self.seen_bytes = left_bytes;
        self.repeated_at = tti + u64::from(scheduled.retransmit_bsr.0);
        // A report is given up as well if all that waited is in the PUSCH.
        if reports || left_bytes == 0 {
            self.triggered = false;
        }
        if reports {
            self.periodic_at = tti + u64::from(scheduled.periodic_bsr.0);
        }
    }

    /// Whether a report that costs nothing goes out now: as in LENA, when its RLC has reported
    /// something new, or repeats its report.
    pub(super) fn tells(&mut self, tti: u64, bytes: u64) -> bool {
        let tells = bytes > self.seen_bytes || bytes != 0 && tti >= self.repeated_at;
        self.seen_bytes = bytes;
        if tells {
            self.repeated_at = tti + FREE_REPORT_TTIS;
        }
        tells
    }

    /// As `on_pusch`, where reports cost nothing.
    pub(super) fn on_free_pusch(&mut self, left_bytes: u64) {
        self.seen_bytes = left_bytes;
    }

    /// In another cell everything is reported again.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.offset);
    }
}

#[cfg(test)]
mod tests {
    use backlane_param::Milliseconds;

    use super::*;

    fn scheduled() -> ScheduledUplink {
        ScheduledUplink {
            sr_period: Milliseconds(10),
            periodic_bsr: Milliseconds(5),
            retransmit_bsr: Milliseconds(40),
            ..ScheduledUplink::default()
        }
    }

    #[test]
    fn a_request_waits_for_its_chance_and_comes_again_until_there_is_a_grant() {
        let rule = scheduled();
        let mut requests = Requests::new(3);
        let asked: Vec<u64> = (1..40)
            .filter(|&tti| requests.asks(&rule, tti, 54) && tti < 27)
            .collect();
        assert_eq!(asked, [3, 13, 23]);
    }

    #[test]
    fn an_empty_buffer_asks_for_nothing() {
        let rule = scheduled();
        let mut requests = Requests::new(0);
        assert!((0..100).all(|tti| !requests.asks(&rule, tti, 0)));
    }

    /// More data behind data triggers nothing; `retxBSR-Timer` does.
    #[test]
    fn what_was_reported_and_never_granted_is_asked_for_when_the_timer_expires() {
        let rule = scheduled();
        let mut requests = Requests::new(0);
        assert!(requests.asks(&rule, 10, 5000));
        requests.on_pusch(&rule, 18, 4000, true);
        let asked: Vec<u64> = (19..75)
            .filter(|&tti| requests.asks(&rule, tti, 4000 + tti))
            .collect();
        assert_eq!(asked, [60, 70]);
    }

    #[test]
    fn data_that_comes_to_an_empty_buffer_is_asked_for_at_once() {
        let rule = scheduled();
        let mut requests = Requests::new(0);
        assert!(requests.asks(&rule, 10, 54));
        requests.on_pusch(&rule, 18, 0, true);
        assert!(!requests.asks(&rule, 19, 54));
        assert!(requests.asks(&rule, 20, 54));
    }

    #[test]
    fn reports_are_due_when_triggered_and_periodically() {
        let rule = scheduled();
        let mut requests = Requests::new(0);
        requests.asks(&rule, 100, 9000);
        assert!(requests.report_is_due(108));
        requests.on_pusch(&rule, 108, 8000, true);
        let due: Vec<bool> = (109..115).map(|tti| requests.report_is_due(tti)).collect();
        assert_eq!(due, [false, false, false, false, true, true]);
    }

    #[test]
    fn free_reports_tell_what_is_new_and_the_rest_after_a_while() {
        let mut requests = Requests::new(0);
        assert!(requests.tells(5, 54));
        assert!(!requests.tells(6, 54));
        assert!(requests.tells(7, 108));
        requests.on_free_pusch(30);
        assert!(!requests.tells(8, 30));
        let told: Vec<u64> = (9..60).filter(|&tti| requests.tells(tti, 30)).collect();
        assert_eq!(told, [27, 47]);
    }

    /// TS 36.321 §5.9: with the MAC reset of a handover, timers stop and what was triggered is
    /// cancelled; what waits is new to the other cell, and asked for at the next chance.
    #[test]
    fn in_another_cell_what_waits_is_asked_for_anew() {
        let rule = scheduled();
        let mut requests = Requests::new(3);
        assert!(requests.asks(&rule, 13, 5000));
        requests.on_pusch(&rule, 18, 4000, true);
        assert!(!requests.asks(&rule, 23, 4000));
        requests.forget();
        let asked: Vec<u64> = (24..45)
            .filter(|&tti| requests.asks(&rule, tti, 4000))
            .collect();
        assert_eq!(asked, [33, 43]);
    }
}
