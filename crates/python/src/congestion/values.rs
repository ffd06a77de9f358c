//! What the hooks of a Python control get: the simulator's structs of the same names.

use backlane_world::tcp::CongestionState;
use backlane_world::tcp::congestion as tcp;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// The largest window that a class can set, in packets: far beyond any buffer, and far enough
/// from the end of the number's range.
pub(super) const MOST_PKTS: u32 = 1 << 30;

/// The name of a state of loss recovery.
pub(super) const fn state_name(state: CongestionState) -> &'static str {
    match state {
        CongestionState::Open => "open",
        CongestionState::Disorder => "disorder",
        CongestionState::Cwr => "cwr",
        CongestionState::Recovery => "recovery",
        CongestionState::Loss => "loss",
    }
}

/// A whole number of packets from Python, at least `min` and at most `max`.
pub(super) fn packets(value: &Bound<'_, PyAny>, what: &str, min: u32, max: u32) -> PyResult<u32> {
    let shown = || {
        value
            .repr()
            .map_or_else(|_| "?".to_owned(), |repr| repr.to_string())
    };
    match value.extract::<i64>() {
        Ok(number) if number < 0 => Err(PyValueError::new_err(format!(
            "{what} is {number}: a number of packets is not negative"
        ))),
        Ok(number) => Ok(number.clamp(i64::from(min), i64::from(max)) as u32),
        Err(_) if value.is_instance_of::<PyInt>() => {
            if value.lt(0)? {
                return Err(PyValueError::new_err(format!(
                    "{what} is {}: a number of packets is not negative",
                    shown()
                )));
            }
            Ok(max)
        }
        Err(_) => Err(PyTypeError::new_err(format!(
            "{what} is {}: write a whole number of packets, such as int(…)",
            shown()
        ))),
    }
}

/// The congestion window and the slow-start threshold.
#[pyclass(module = "backlane._native")]
pub(crate) struct Window {
    pub(super) lent: tcp::Window,
    pub(super) is_writable: bool,
}

impl Window {
    fn writable(&mut self) -> PyResult<&mut tcp::Window> {
        if self.is_writable {
            return Ok(&mut self.lent);
        }
        Err(PyAttributeError::new_err(
            "the window can only be changed in the hook that got it, and not in ssthresh, \
             undo_cwnd or on_idle_restart",
        ))
    }
}

#[pymethods]
impl Window {
    #[getter]
    fn cwnd_pkts(&self) -> u32 {
        self.lent.cwnd_pkts
    }

    #[setter]
    fn set_cwnd_pkts(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let cwnd_pkts = packets(value, "cwnd_pkts", 1, MOST_PKTS)?;
        self.writable()?.cwnd_pkts = cwnd_pkts;
        Ok(())
    }

    #[getter]
    fn ssthresh_pkts(&self) -> u32 {
        self.lent.ssthresh_pkts
    }

    #[setter]
    fn set_ssthresh_pkts(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let ssthresh_pkts = packets(value, "ssthresh_pkts", 2, u32::MAX)?;
        self.writable()?.ssthresh_pkts = ssthresh_pkts;
        Ok(())
    }

    #[getter]
    fn in_slow_start(&self) -> bool {
        self.lent.in_slow_start()
    }

    fn slow_start(&mut self, acked_pkts: &Bound<'_, PyAny>) -> PyResult<u32> {
        let acked_pkts = packets(acked_pkts, "acked_pkts", 0, MOST_PKTS)?;
        let window = self.writable()?;
        let left = window.slow_start(acked_pkts);
        window.cwnd_pkts = window.cwnd_pkts.min(MOST_PKTS);
        Ok(left)
    }

    fn increase_additively(
        &mut self,
        per_pkts: &Bound<'_, PyAny>,
        acked_pkts: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let per_pkts = packets(per_pkts, "per_pkts", 1, MOST_PKTS)?;
        let acked_pkts = packets(acked_pkts, "acked_pkts", 0, MOST_PKTS)?;
        let window = self.writable()?;
        window.increase_additively(per_pkts, acked_pkts);
        window.cwnd_pkts = window.cwnd_pkts.min(MOST_PKTS);
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!(
            "Window(cwnd_pkts={}, ssthresh_pkts={})",
            self.lent.cwnd_pkts, self.lent.ssthresh_pkts
        )
    }
}

/// A class with the fields of one of the simulator's structs. Every field is named, so that a
/// new one cannot be forgotten.
macro_rules! mirror {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty,)* } $($made:ident = $made_by:expr => $made_kind:ty,)*) => {
        $(#[$doc])*
        #[pyclass(module = "backlane._native", frozen, get_all)]
        #[derive(Clone)]
        pub(crate) struct $name {
            $($field: $kind,)*
            $($made: $made_kind,)*
        }

        impl From<&tcp::$name> for $name {
            fn from(from: &tcp::$name) -> Self {
                let tcp::$name { $($field,)* $($made,)* } = *from;
                Self { $($field,)* $($made: $made_by($made),)* }
            }
        }
    };
}

mirror! {
    /// What an acknowledgment brought.
    Ack {
        acked_pkts: u32,
        covered_pkts: u32,
        in_flight_pkts: u32,
        snd_una: u64,
        snd_nxt: u64,
        is_cwnd_limited: bool,
        delivered_pkts: u64,
        delivered_ce_pkts: u64,
        lost_pkts: u64,
        newly_lost_pkts: u32,
        prior_in_flight_pkts: u32,
        has_ece: bool,
        min_rtt_us: u32,
        rtt_us: Option<u32>,
        srtt_us: u32,
        max_packets_out_pkts: u32,
        pacing_wait_us: u32,
        mss_bytes: u32,
    }
    state = state_name => &'static str,
    rate = rate_sample => RateSample,
}

mirror! {
    /// How fast the network delivered.
    RateSample {
        delivered_pkts: u32,
        interval_us: u32,
        delivered_ce_pkts: u32,
        prior_delivered_pkts: u64,
        prior_lost_pkts: u64,
        tx_in_flight_pkts: u32,
        is_app_limited: bool,
        is_retransmitted: bool,
    }
}

fn rate_sample(rate: tcp::RateSample) -> RateSample {
    RateSample::from(&rate)
}

mirror! {
    /// A packet that was marked lost.
    LostPacket {
        tx_in_flight_pkts: u32,
        lost_since_sent_pkts: u64,
        is_app_limited: bool,
        delivered_pkts: u64,
    }
}

mirror! {
    /// What a new acknowledgment says, before losses are looked for.
    Arrival {
        acked_bytes: u64,
        delivered_pkts: u32,
        snd_una: u64,
        snd_nxt: u64,
        has_ece: bool,
        one_way_delay_us: Option<i64>,
        srtt_us: u32,
        mss_bytes: u32,
    }
}

mirror! {
    /// An RTT sample, of the newest segment acknowledged.
    RttSample {
        rtt_us: u32,
        srtt_us: u32,
        covered_pkts: u32,
        sacked_pkts: u32,
        packets_out_pkts: u32,
        snd_una: u64,
        snd_nxt: u64,
        mss_bytes: u32,
    }
}
