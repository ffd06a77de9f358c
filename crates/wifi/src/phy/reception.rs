//! The probability that a frame is decoded under changing interference.
//!
//! The ratio of signal to noise and interference changes whenever another frame begins or ends.
//! The bits between two changes are correct with the probability of their ratio, and the frame is
//! decoded if all bits are correct. Interference counts as noise of its power,
//! regardless of its modulation.
//!
//! Before that its preamble must be detected: the ratio must be 4 dB or more over its first 4 µs,
//! ns-3's values (`ThresholdPreambleDetectionModel`). So two frames that begin together and are
//! equally strong are both lost, even with DSSS, whose spreading tolerates 0 dB.

use backlane_units::{Duration, SimTime};

use super::error_rate::ErrorRate;
use super::standard::Mode;

/// The least ratio at which a preamble is detected: 4 dB.
const PREAMBLE_SINR: f64 = 2.511_886_431_509_58;
/// A frame with a success probability below e⁻⁵⁰ is lost.
const HOPELESS: f64 = 50.0;
/// The part of the preamble that detection takes.
const PREAMBLE_DETECTION: Duration = Duration::from_micros(4);

/// The reception of one frame at one receiver, by error rates.
///
/// It is updated at every change of the interference, in the order of time, and gives the result at
/// the end.
/// The preamble itself carries no bits; the header has 24 bits in OFDM's lowest mode or 48 at
/// 1 Mb/s, spread evenly over preamble and header, so that interference there costs as much as it
/// lasts.
#[derive(Clone, Copy, Debug)]
pub struct SinrReception {
    mode: Mode,
    signal_mw: f64,
    noise_mw: f64,
    interference_mw: f64,
    since: SimTime,
    preamble_found_at: SimTime,
    preamble_found: bool,
    payload_begins: SimTime,
    ends: SimTime,
    begins: SimTime,
    payload_bits: f64,
    hazard: f64,
}

impl SinrReception {
    /// A frame in `mode` that begins now, at `signal_mw` over `noise_mw` and the
    /// `interference_mw` that is on the air already. `bytes` of payload lie between
    /// `payload_begins` and `ends`.
    #[expect(clippy::too_many_arguments, reason = "each is one fact of the frame")]
    pub fn new(
        now: SimTime,
        mode: Mode,
        signal_mw: f64,
        noise_mw: f64,
        interference_mw: f64,
        payload_begins: SimTime,
        ends: SimTime,
        bytes: u32,
    ) -> Self {
        Self {
            mode,
            signal_mw,
            noise_mw,
            interference_mw,
            since: now,
            preamble_found_at: detects_until(now),
            preamble_found: finds_preamble(signal_mw, noise_mw + interference_mw),
            payload_begins,
            ends,
            begins: now,
            payload_bits: 8.0 * f64::from(bytes),
            hazard: 0.0,
        }
    }

    /// The power of the frame, in milliwatts.
    pub fn signal_mw(&self) -> f64 {
        self.signal_mw
    }

    /// Whether its preamble is detected so far. If not, the receiver does not lock on the frame: it
    /// may lock on another, and there is no FCS error at the end of this one.
    pub fn preamble_found(&self) -> bool {
        self.preamble_found
    }

    /// The interference is `interference_mw` from now on.
    pub fn on_interference(&mut self, now: SimTime, interference_mw: f64, rates: &ErrorRate) {
        self.advance(now, rates);
        self.interference_mw = interference_mw;
        if now < self.preamble_found_at
            && !is_detected(self.signal_mw, self.noise_mw + self.interference_mw)
        {
            self.preamble_found = false;
        }
    }

    fn sinr(&self) -> f64 {
        self.signal_mw / (self.noise_mw + self.interference_mw)
    }

    /// The probability that the whole frame came through, asked at its end.
    pub fn success(mut self, rates: &ErrorRate) -> f64 {
        if !self.preamble_found {
            return 0.0;
        }
        self.advance(self.ends, rates);
        match self.hazard {
            0.0 => 1.0,
            hazard if hazard > HOPELESS => 0.0,
            hazard => libm::exp(-hazard),
        }
    }

    fn advance(&mut self, now: SimTime, rates: &ErrorRate) {
        let now = now.min(self.ends);
        let since = self.since;
        if now <= since {
            return;
        }
        self.since = now;
        let sinr = self.sinr();
        // What is certain for the payload is so for the header, whose mode is no faster.
        if rates.is_certain(self.mode, sinr) || self.hazard > HOPELESS {
            return;
        }
        let payload_bits = if now > self.payload_begins {
            let from = since.max(self.payload_begins);
            self.payload_bits * share(from, now, self.payload_begins, self.ends)
        } else {
            0.0
        };
        if rates.is_garbled(self.mode, sinr) && 0.5 * payload_bits > HOPELESS {
            self.hazard = f64::INFINITY;
            return;
        }
        if since < self.payload_begins {
            let to = now.min(self.payload_begins);
            let share = share(since, to, self.begins, self.payload_begins);
            let bits = if self.mode.is_ofdm() { 24.0 } else { 48.0 };
            self.hazard += rates.hazard(self.mode.header_mode(), sinr, bits * share);
        }
        if payload_bits > 0.0 {
            self.hazard += rates.hazard(self.mode, sinr, payload_bits);
        }
    }
}

/// When the preamble of a frame that begins at this instant is detected.
pub(crate) fn detects_until(begins: SimTime) -> SimTime {
    begins.saturating_add(PREAMBLE_DETECTION)
}

/// Whether the detection of a preamble goes on over this noise and interference.
pub(crate) fn is_detected(signal_mw: f64, disturbance_mw: f64) -> bool {
    let is_lost = signal_mw / disturbance_mw < PREAMBLE_SINR;
    !is_lost
}

/// Whether a preamble is found over so much noise and interference.
#[inline]
pub fn finds_preamble(signal_mw: f64, disturbance_mw: f64) -> bool {
    signal_mw >= PREAMBLE_SINR * disturbance_mw
}

/// How much of the time from `begin` to `end` lies between `from` and `to`.
fn share(from: SimTime, to: SimTime, begin: SimTime, end: SimTime) -> f64 {
    to.saturating_since(from).as_ps() as f64 / end.saturating_since(begin).as_ps() as f64
}

#[cfg(test)]
mod tests {
    use super::super::airtime::{frame_airtime, preamble_airtime};
    use super::super::standard::{Preamble, Standard};
    use super::*;
    use backlane_radio::level::ratio;

    const BYTES: u32 = 1036;
    const MODE: Mode = Mode::Ofdm54;
    const BEGINS: SimTime = SimTime::from_ps(5_000_000);

    fn after_us(us: u64) -> SimTime {
        BEGINS.saturating_add(Duration::from_micros(us))
    }

    /// A frame over noise of −94 dBm with a signal-to-noise ratio of `snr_db`.
    fn frame(snr_db: f64) -> SinrReception {
        let noise_mw = ratio(-94.0);
        let airtime = frame_airtime(Standard::A, MODE, Preamble::Long, BYTES);
        SinrReception::new(
            BEGINS,
            MODE,
            noise_mw * ratio(snr_db),
            noise_mw,
            0.0,
            BEGINS.saturating_add(preamble_airtime(MODE, Preamble::Long)),
            BEGINS.saturating_add(airtime),
            BYTES,
        )
    }

    #[test]
    fn an_undisturbed_frame_comes_through_as_its_bits_do() {
        let rates = ErrorRate::new(Standard::A);
        for snr_db in [21.0, 22.0, 23.0, 25.0] {
            let sinr = ratio(snr_db);
            let expected = rates.success(MODE, sinr, 8.0 * f64::from(BYTES))
                * rates.success(Mode::Ofdm6, sinr, 24.0);
            assert!((frame(snr_db).success(&rates) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn interference_costs_as_many_bits_as_it_meets() {
        let rates = ErrorRate::new(Standard::A);
        let (signal_db, during_db) = (30.0, 22.0);
        let mut disturbed = frame(signal_db);
        let noise_mw = ratio(-94.0);
        let interference_mw = noise_mw * (ratio(signal_db - during_db) - 1.0);
        // 40 µs of the payload, of 156 µs: 39 symbols hold the bits.
        disturbed.on_interference(after_us(60), interference_mw, &rates);
        disturbed.on_interference(after_us(100), 0.0, &rates);
        let bits = 8.0 * f64::from(BYTES) * 40.0 / 156.0;
        let expected = rates.success(MODE, ratio(during_db), bits);
        let found = disturbed.success(&rates);
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        assert!((0.5..0.99).contains(&found));
    }

    #[test]
    fn a_preamble_is_found_at_4_db_over_4_us_and_else_the_frame_is_not() {
        let rates = ErrorRate::new(Standard::A);
        for (at_us, ratio_db, found) in [
            (0, 3.9, false),
            (3, 3.9, false),
            (3, 4.1, true),
            (4, 0.0, true),
        ] {
            // Noise is 26 dB below and adds 0.02 dB.
            let mut early = frame(30.0);
            let interference_mw = early.signal_mw() / ratio(ratio_db + 0.03);
            early.on_interference(after_us(at_us), interference_mw, &rates);
            early.on_interference(after_us(at_us + 1), 0.0, &rates);
            assert_eq!(early.preamble_found(), found, "{at_us} us, {ratio_db} dB");
            assert_eq!(early.success(&rates) == 0.0, !found);
        }
        assert!(!frame(3.9).preamble_found());
    }

    #[test]
    fn a_header_under_a_louder_frame_is_lost_and_what_comes_later_does_no_harm() {
        let rates = ErrorRate::new(Standard::A);
        let mut early = frame(30.0);
        early.on_interference(after_us(4), 10.0 * early.signal_mw(), &rates);
        early.on_interference(after_us(20), 0.0, &rates);
        assert!(early.success(&rates) < 1e-4);
        let mut late = frame(30.0);
        late.on_interference(after_us(176), 1.0, &rates);
        assert_eq!(late.success(&rates), frame(30.0).success(&rates));
    }

    #[test]
    fn changes_that_change_nothing_change_nothing() {
        let rates = ErrorRate::new(Standard::A);
        let mut told = frame(22.0);
        for us in [3, 20, 21, 90, 90, 175] {
            told.on_interference(after_us(us), 0.0, &rates);
        }
        let difference = told.success(&rates) - frame(22.0).success(&rates);
        assert!(difference.abs() < 1e-12);
    }

    /// With the long preamble of 192 µs, 96 µs of it under a frame 8 dB louder: half of the 48 bits
    /// of the PLCP header (IEEE 802.11-2016 §15.2.3), at 1 Mb/s.
    #[test]
    fn the_header_of_dsss_has_48_bits_at_1_mbps() {
        let rates = ErrorRate::new(Standard::B);
        let (noise_mw, mode) = (ratio(-94.0), Mode::Cck11);
        let airtime = frame_airtime(Standard::B, mode, Preamble::Long, BYTES);
        let mut frame = SinrReception::new(
            BEGINS,
            mode,
            noise_mw * ratio(30.0),
            noise_mw,
            0.0,
            BEGINS.saturating_add(preamble_airtime(mode, Preamble::Long)),
            BEGINS.saturating_add(airtime),
            BYTES,
        );
        let interference_mw = noise_mw * (ratio(38.0) - 1.0);
        frame.on_interference(after_us(10), interference_mw, &rates);
        frame.on_interference(after_us(106), 0.0, &rates);
        let expected = rates.success(Mode::Dsss1, ratio(-8.0), 24.0);
        let found = frame.success(&rates);
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        assert!((0.1..0.9).contains(&found), "{found}");
    }
}
