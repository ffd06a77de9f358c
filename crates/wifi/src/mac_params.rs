//! The configuration as the medium needs it: times, powers and ratios as plain numbers.

use backlane_radio::FrameFading;
use backlane_radio::level::{ratio, thermal_noise_dbm};
use backlane_units::{Bytes, Duration, Rate, SimTime};

use crate::config::{AnswerWait, Arrival, Reception, WifiConfig};
use crate::error::WifiError;
use crate::phy::airtime::{ACK_BYTES, RTS_BYTES, preamble_airtime};
use crate::phy::{ErrorRate, Mode, Preamble, Standard, eifs, finds_preamble, frame_airtime};

/// The parameters that all radios share.
#[derive(Debug)]
pub(crate) struct MacParams {
    standard: Standard,
    preamble: Preamble,
    pub(crate) data_mode: Mode,
    pub(crate) broadcast_mode: Mode,
    control_mode: Option<Mode>,
    /// By [`Mode::index`]: the airtime of an ACK or a CTS.
    responses: [Duration; Mode::ALL.len()],
    pub(crate) overhead_bytes: u32,
    pub(crate) rts_threshold_bytes: u32,
    pub(crate) short_retry: u8,
    pub(crate) long_retry: u8,
    pub(crate) slot: Duration,
    pub(crate) sifs: Duration,
    pub(crate) difs: Duration,
    /// The interframe space after a frame that could not be decoded: EIFS, or DIFS without it.
    pub(crate) after_error: Duration,
    /// By [`Mode::index`] of a frame: CTS and ACK timeout, from its end.
    answer_waits: [Duration; Mode::ALL.len()],
    /// A frame that is being received extends the wait.
    pub(crate) waits_for_reception: bool,
    /// A packet that arrives as in ns-3.
    pub(crate) arrives_as_in_ns3: bool,
    pub(crate) lifetime: Option<Duration>,
    pub(crate) report_expiry: bool,
    pub(crate) cw_min: u32,
    pub(crate) cw_max: u32,
    pub(crate) sensing_delay: Duration,
    pub(crate) carrier_sense_mw: f64,
    pub(crate) reception: ReceptionModel,
    pub(crate) recapture: Option<f64>,
    pub(crate) fading: FrameFading,
    pub(crate) control_loss: bool,
    pub(crate) promiscuous: bool,
}

/// [`Reception`] in milliwatts and ratios.
#[derive(Debug)]
pub(crate) enum ReceptionModel {
    Threshold {
        sensitivity_mw: f64,
        capture: Option<f64>,
    },
    Pairwise {
        sensitivity_mw: f64,
        capture: f64,
    },
    ErrorRate {
        sensitivity_mw: f64,
        noise_mw: f64,
        rates: Box<ErrorRate>,
    },
}

impl ReceptionModel {
    pub(crate) fn sensitivity_mw(&self) -> f64 {
        match *self {
            Self::Threshold { sensitivity_mw, .. }
            | Self::Pairwise { sensitivity_mw, .. }
            | Self::ErrorRate { sensitivity_mw, .. } => sensitivity_mw,
        }
    }
}

impl MacParams {
    pub(crate) fn new(config: &WifiConfig) -> Result<Self, WifiError> {
        let standard = config.standard;
        let mode = |rate| mode_of(standard, rate);
        let data_mode = mode(config.data_rate())?;
        let broadcast_mode = mode(config.broadcast_rate())?;
        let control_mode = config.control_rate.value().map(mode).transpose()?;
        if config.short_retry == 0 || config.long_retry == 0 {
            return Err(WifiError::NoAttempt);
        }
        let [cw_min, cw_max] = config.contention_windows();
        if cw_min > cw_max {
            return Err(WifiError::Windows { cw_min, cw_max });
        }
        let slot = config.slot.value().unwrap_or(standard.slot());
        if slot == Duration::from_ps(0) {
            return Err(WifiError::NoSlot);
        }
        let sifs = config.sifs.value().unwrap_or(standard.sifs());
        let difs = sifs.saturating_add(slot.saturating_mul(2));
        // EIFS less SIFS and DIFS: an acknowledgment at the lowest rate.
        let slowest_response = eifs(standard)
            .saturating_sub(standard.sifs())
            .saturating_sub(standard.difs());
        let slowest_response = match control_mode {
            Some(mode) => {
                slowest_response.max(frame_airtime(standard, mode, config.preamble, ACK_BYTES))
            }
            None => slowest_response,
        };
        let after_response = sifs.saturating_add(slowest_response);
        let control = |mode| control_mode.unwrap_or(standard.control_mode(mode));
        let answer_waits = Mode::ALL.map(|mode| match config.answer_wait {
            AnswerWait::Response => after_response,
            AnswerWait::Preamble => sifs
                .saturating_add(slot)
                .saturating_add(preamble_airtime(control(mode), config.preamble)),
        });
        let sensitivity = config.reception.sensitivity();
        if sensitivity < config.carrier_sense {
            return Err(WifiError::DeafCarrierSense);
        }
        let sensitivity_mw = ratio(sensitivity.as_dbm_f64());
        let reception = match config.reception {
            Reception::Threshold { capture, .. } => ReceptionModel::Threshold {
                sensitivity_mw,
                capture: (capture.value()).map(|capture| ratio(capture.as_db_f64())),
            },
            Reception::Pairwise { capture, .. } => ReceptionModel::Pairwise {
                sensitivity_mw,
                capture: ratio(capture.as_db_f64()),
            },
            Reception::ErrorRate { noise_figure, .. } => ReceptionModel::ErrorRate {
                sensitivity_mw,
                noise_mw: ratio(thermal_noise_dbm(
                    standard.bandwidth_hz(),
                    noise_figure.as_db_f64(),
                )),
                rates: Box::new(ErrorRate::new(standard)),
            },
        };
        Ok(Self {
            standard,
            preamble: config.preamble,
            data_mode,
            broadcast_mode,
            control_mode,
            responses: Mode::ALL
                .map(|mode| frame_airtime(standard, mode, config.preamble, ACK_BYTES)),
            overhead_bytes: whole(config.overhead),
            rts_threshold_bytes: config.rts_threshold.value().map_or(u32::MAX, whole),
            short_retry: config.short_retry,
            long_retry: config.long_retry,
            slot,
            sifs,
            difs,
            after_error: if config.eifs {
                after_response.saturating_add(difs)
            } else {
                difs
            },
            answer_waits,
            waits_for_reception: config.answer_wait == AnswerWait::Preamble,
            arrives_as_in_ns3: config.arrival == Arrival::Ns3,
            lifetime: config.lifetime.value(),
            report_expiry: config.report_expiry,
            cw_min,
            cw_max,
            sensing_delay: (config.sensing_delay.value()).unwrap_or(sensing_delay(standard)),
            carrier_sense_mw: ratio(config.carrier_sense.as_dbm_f64()),
            reception,
            recapture: config.recapture.value().map(|more| ratio(more.as_db_f64())),
            fading: config.fading,
            control_loss: config.control_loss,
            promiscuous: config.promiscuous,
        })
    }

    /// The mode of this rate.
    pub(crate) fn mode(&self, rate: Rate) -> Result<Mode, WifiError> {
        mode_of(self.standard, rate)
    }

    /// The mode of the RTS before a frame in `mode`, and of the control responses.
    #[inline]
    pub(crate) fn control_mode(&self, mode: Mode) -> Mode {
        match self.control_mode {
            Some(control) => control,
            None => self.standard.control_mode(mode),
        }
    }

    #[inline]
    pub(crate) fn airtime(&self, mode: Mode, bytes: u32) -> Duration {
        if bytes == ACK_BYTES {
            return self.response_airtime(mode);
        }
        frame_airtime(self.standard, mode, self.preamble, bytes)
    }

    /// An ACK or a CTS.
    #[inline]
    pub(crate) fn response_airtime(&self, mode: Mode) -> Duration {
        self.responses[mode.index()]
    }

    /// How long the sender of a frame in this mode waits for the answer.
    #[inline]
    pub(crate) fn answer_wait(&self, mode: Mode) -> Duration {
        self.answer_waits[mode.index()]
    }

    /// Whether a packet that was queued then has waited too long.
    #[inline]
    pub(crate) fn is_expired(&self, queued_at: SimTime, now: SimTime) -> bool {
        self.lifetime
            .is_some_and(|lifetime| now.saturating_since(queued_at) > lifetime)
    }

    /// Where the payload of a frame begins.
    #[inline]
    pub(crate) fn preamble_airtime(&self, mode: Mode) -> Duration {
        preamble_airtime(mode, self.preamble)
    }

    /// The Duration field of an RTS before a data frame of this airtime.
    pub(crate) fn rts_duration(&self, control: Mode, data: Duration) -> Duration {
        self.sifs
            .saturating_mul(3)
            .saturating_add(self.response_airtime(control).saturating_mul(2))
            .saturating_add(data)
    }

    /// The Duration field of a data frame.
    pub(crate) fn data_duration(&self, control: Mode) -> Duration {
        self.sifs.saturating_add(self.response_airtime(control))
    }

    /// Whether a frame in `mode` is certain to be decoded at this power, if it is alone on the air.
    pub(crate) fn is_certain(&self, mode: Mode, power_mw: f64) -> bool {
        let certain = match &self.reception {
            ReceptionModel::ErrorRate {
                noise_mw, rates, ..
            } => finds_preamble(power_mw, *noise_mw) && rates.is_certain(mode, power_mw / noise_mw),
            _ => true,
        };
        certain && power_mw >= self.reception.sensitivity_mw()
    }

    /// Whole slots from one instant to another; none if that is earlier.
    #[inline]
    pub(crate) fn slots_between(&self, from: SimTime, to: SimTime) -> u64 {
        to.saturating_since(from).as_ps() / self.slot.as_ps()
    }

    /// The time after an RTS at which its NAV is reset if no frame follows: two SIFS, a CTS, the
    /// time to detect a preamble, and two slots.
    pub(crate) fn nav_reset(&self, control: Mode) -> Duration {
        self.sifs
            .saturating_mul(2)
            .saturating_add(self.response_airtime(control))
            .saturating_add(self.preamble_airtime(control))
            .saturating_add(self.slot.saturating_mul(2))
    }

    /// Whether a frame of `bytes` is announced by an RTS.
    #[inline]
    pub(crate) fn needs_rts(&self, bytes: u32) -> bool {
        bytes > self.rts_threshold_bytes
    }

    pub(crate) const RTS_BYTES: u32 = RTS_BYTES;
    pub(crate) const RESPONSE_BYTES: u32 = ACK_BYTES;
}

fn whole(bytes: Bytes) -> u32 {
    u32::try_from(bytes.get()).unwrap_or(u32::MAX)
}

fn mode_of(standard: Standard, rate: Rate) -> Result<Mode, WifiError> {
    standard
        .mode(rate)
        .ok_or(WifiError::Rate { standard, rate })
}

/// A station that has found the channel idle needs a while to sense what began since, and to turn
/// from receiving to sending. The slot is made of it: CCA time and turnaround are 15 and 5 µs of
/// 20 with DSSS; of 9 µs with OFDM, 4 and 2, the rest being for the MAC and the way through the
/// air.
fn sensing_delay(standard: Standard) -> Duration {
    Duration::from_micros(match standard {
        Standard::B => 20,
        Standard::A | Standard::G => 6,
        // ns-2 senses a frame at once.
        Standard::Dsss => 0,
    })
}
