//! One object of a Python class as a congestion control.

use std::cell::Cell;
use std::sync::Arc;

use backlane_units::{Duration, Rate, SimTime};
use backlane_world::tcp::CongestionState;
use backlane_world::tcp::congestion as tcp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::values::{self, Ack, Arrival, LostPacket, RttSample, Window, packets};
use crate::failure::{Failed, HookFailure, Origin};

/// The hooks that a class defines, bound to one object; the others are not called.
#[derive(Debug, Default)]
struct Hooks {
    on_established: Option<Py<PyAny>>,
    on_rtt_sample: Option<Py<PyAny>>,
    on_arrival: Option<Py<PyAny>>,
    on_ack: Option<Py<PyAny>>,
    ssthresh: Option<Py<PyAny>>,
    on_loss: Option<Py<PyAny>>,
    undo_cwnd: Option<Py<PyAny>>,
    take_reduction: Option<Py<PyAny>>,
    pacing_rate: Option<Py<PyAny>>,
    on_state_change: Option<Py<PyAny>>,
    on_packet_lost: Option<Py<PyAny>>,
    on_timeout: Option<Py<PyAny>>,
    on_recovery_exit: Option<Py<PyAny>>,
    on_idle_restart: Option<Py<PyAny>>,
    on_transmit_start: Option<Py<PyAny>>,
    on_restart: Option<Py<PyAny>>,
    holds_back: Option<Py<PyAny>>,
    needs_rate_samples: bool,
    owns_window: bool,
}

impl Hooks {
    fn of(made: &Bound<'_, PyAny>) -> PyResult<Self> {
        let made = made.cast::<PyDict>()?;
        let hook = |name: &str| Ok::<_, PyErr>(made.get_item(name)?.map(Bound::unbind));
        let flag = |name: &str| match made.get_item(name)? {
            Some(value) => value.extract::<bool>(),
            None => Ok(false),
        };
        Ok(Self {
            on_established: hook("on_established")?,
            on_rtt_sample: hook("on_rtt_sample")?,
            on_arrival: hook("on_arrival")?,
            on_ack: hook("on_ack")?,
            ssthresh: hook("ssthresh")?,
            on_loss: hook("on_loss")?,
            undo_cwnd: hook("undo_cwnd")?,
            take_reduction: hook("take_reduction")?,
            pacing_rate: hook("pacing_rate")?,
            on_state_change: hook("on_state_change")?,
            on_packet_lost: hook("on_packet_lost")?,
            on_timeout: hook("on_timeout")?,
            on_recovery_exit: hook("on_recovery_exit")?,
            on_idle_restart: hook("on_idle_restart")?,
            on_transmit_start: hook("on_transmit_start")?,
            on_restart: hook("on_restart")?,
            holds_back: hook("holds_back")?,
            needs_rate_samples: flag("needs_rate_samples")?,
            owns_window: flag("owns_window")?,
        })
    }
}

/// A control whose hooks are in Python.
#[derive(Debug)]
pub(super) struct PythonControl {
    hooks: Hooks,
    origin: Arc<Origin>,
    /// The time of the last hook, for those without an argument for it.
    now: Cell<SimTime>,
    failed: Failed,
}

impl PythonControl {
    /// A control made by `make` from the seed; without hooks if that fails.
    pub(super) fn new(make: &Py<PyAny>, seed: u64, origin: &Arc<Origin>, failed: &Failed) -> Self {
        let hooks = Python::attach(|py| {
            let made = make.bind(py).call1((seed,));
            made.and_then(|made| Hooks::of(&made))
        });
        let hooks = hooks.unwrap_or_else(|error| {
            failed.put(HookFailure {
                origin: origin.clone(),
                at: None,
                error,
            });
            Hooks::default()
        });
        Self {
            hooks,
            origin: origin.clone(),
            now: Cell::new(SimTime::ZERO),
            failed: failed.clone(),
        }
    }

    /// Calls a hook, unless it is not defined or the run has failed.
    fn call<R>(
        &self,
        hook: Option<&Py<PyAny>>,
        call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R> {
        let hook = hook?;
        if self.failed.is_set() {
            return None;
        }
        Python::attach(|py| {
            call(py, hook.bind(py))
                .map_err(|error| {
                    self.failed.put(HookFailure {
                        origin: self.origin.clone(),
                        at: Some(self.now.get()),
                        error,
                    });
                })
                .ok()
        })
    }

    /// Calls a hook with the window, which it may change if it is `writable`.
    fn lend<R>(
        &self,
        hook: Option<&Py<PyAny>>,
        window: &mut tcp::Window,
        writable: bool,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>, &Bound<'py, Window>) -> PyResult<R>,
    ) -> Option<R> {
        self.call(hook, |py, hook| {
            let lent = Window {
                lent: *window,
                is_writable: writable,
            };
            let lent = Bound::new(py, lent)?;
            let result = call(hook, &lent);
            let mut lent = lent.borrow_mut();
            lent.is_writable = false;
            *window = lent.lent;
            result
        })
    }

    /// The threshold if the class has failed.
    fn usual_ssthresh(window: &tcp::Window) -> u32 {
        (window.cwnd_pkts / 2).max(2)
    }
}

/// What a hook that shall return nothing has returned.
fn nothing(hook: &str, returned: &Bound<'_, PyAny>) -> PyResult<()> {
    if returned.is_none() {
        return Ok(());
    }
    let shown = returned.repr()?;
    Err(PyTypeError::new_err(format!(
        "{hook} returned {shown}, which has no meaning: change the window or the object"
    )))
}

/// What a question was answered with.
fn yes(hook: &str, returned: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(answer) = returned.extract() {
        return Ok(answer);
    }
    let shown = returned.repr()?;
    Err(PyTypeError::new_err(format!(
        "{hook} returned {shown}: return True or False"
    )))
}

/// A pacing rate from Python, in bits per second.
fn rate(returned: &Bound<'_, PyAny>) -> PyResult<Option<Rate>> {
    if returned.is_none() {
        return Ok(None);
    }
    let shown = returned.repr()?;
    let Ok(bps) = returned.extract::<f64>() else {
        return Err(PyTypeError::new_err(format!(
            "pacing_rate returned {shown}: return bits per second, or None"
        )));
    };
    if bps.is_finite() && bps >= 1.0 {
        // Beyond the range of the integer it is the largest rate there is.
        return Ok(Some(Rate::from_bps(bps as u64)));
    }
    Err(PyValueError::new_err(format!(
        "pacing_rate returned {shown}: return at least 1 bit per second, or None for no pacing"
    )))
}

impl tcp::CongestionControl for PythonControl {
    fn on_established(
        &mut self,
        now: SimTime,
        srtt_us: u32,
        mss_bytes: u32,
        window: &mut tcp::Window,
    ) {
        self.now.set(now);
        self.lend(
            self.hooks.on_established.as_ref(),
            window,
            true,
            |hook, window| {
                let returned = hook.call1((now.as_secs_f64(), srtt_us, mss_bytes, window))?;
                nothing("on_established", &returned)
            },
        );
    }

    fn on_rtt_sample(&mut self, now: SimTime, sample: &tcp::RttSample, window: &mut tcp::Window) {
        self.now.set(now);
        self.lend(
            self.hooks.on_rtt_sample.as_ref(),
            window,
            true,
            |hook, window| {
                let returned = hook.call1((now.as_secs_f64(), RttSample::from(sample), window))?;
                nothing("on_rtt_sample", &returned)
            },
        );
    }

    fn on_arrival(&mut self, now: SimTime, arrival: &tcp::Arrival, window: &mut tcp::Window) {
        self.now.set(now);
        self.lend(
            self.hooks.on_arrival.as_ref(),
            window,
            true,
            |hook, window| {
                let returned = hook.call1((now.as_secs_f64(), Arrival::from(arrival), window))?;
                nothing("on_arrival", &returned)
            },
        );
    }

    fn on_ack(&mut self, now: SimTime, ack: &tcp::Ack, window: &mut tcp::Window) {
        self.now.set(now);
        self.lend(self.hooks.on_ack.as_ref(), window, true, |hook, window| {
            let returned = hook.call1((now.as_secs_f64(), Ack::from(ack), window))?;
            nothing("on_ack", &returned)
        });
    }

    fn ssthresh(&mut self, now: SimTime, window: &tcp::Window, in_flight_pkts: u32) -> u32 {
        self.now.set(now);
        let mut copy = *window;
        self.lend(
            self.hooks.ssthresh.as_ref(),
            &mut copy,
            false,
            |hook, window| {
                let returned = hook.call1((now.as_secs_f64(), window, in_flight_pkts))?;
                packets(&returned, "what ssthresh returned", 2, u32::MAX)
            },
        )
        .unwrap_or_else(|| Self::usual_ssthresh(window))
    }

    fn on_loss(&mut self, now: SimTime, window: &mut tcp::Window) {
        self.now.set(now);
        self.lend(self.hooks.on_loss.as_ref(), window, true, |hook, window| {
            let returned = hook.call1((now.as_secs_f64(), window))?;
            nothing("on_loss", &returned)
        });
    }

    fn undo_cwnd(&mut self, window: &tcp::Window, prior_cwnd_pkts: u32) -> u32 {
        let mut copy = *window;
        self.lend(
            self.hooks.undo_cwnd.as_ref(),
            &mut copy,
            false,
            |hook, window| {
                let returned = hook.call1((window, prior_cwnd_pkts))?;
                packets(&returned, "what undo_cwnd returned", 1, values::MOST_PKTS)
            },
        )
        .unwrap_or_else(|| window.cwnd_pkts.max(prior_cwnd_pkts))
    }

    fn take_reduction(&mut self) -> bool {
        self.call(self.hooks.take_reduction.as_ref(), |_, hook| {
            yes("take_reduction", &hook.call0()?)
        })
        .unwrap_or(false)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.call(self.hooks.pacing_rate.as_ref(), |_, hook| {
            rate(&hook.call0()?)
        })
        .flatten()
    }

    fn needs_rate_samples(&self) -> bool {
        self.hooks.needs_rate_samples
    }

    fn owns_window(&self) -> bool {
        self.hooks.owns_window
    }

    fn on_state_change(&mut self, now: SimTime, state: CongestionState, snd_nxt: u64) {
        self.now.set(now);
        self.call(self.hooks.on_state_change.as_ref(), |_, hook| {
            let returned = hook.call1((now.as_secs_f64(), values::state_name(state), snd_nxt))?;
            nothing("on_state_change", &returned)
        });
    }

    fn on_packet_lost(&mut self, now: SimTime, lost: &tcp::LostPacket, window: &tcp::Window) {
        self.now.set(now);
        let mut copy = *window;
        self.lend(
            self.hooks.on_packet_lost.as_ref(),
            &mut copy,
            false,
            |hook, window| {
                let returned = hook.call1((now.as_secs_f64(), LostPacket::from(lost), window))?;
                nothing("on_packet_lost", &returned)
            },
        );
    }

    fn on_timeout(&mut self, now: SimTime, lost_pkts: u64) {
        self.now.set(now);
        self.call(self.hooks.on_timeout.as_ref(), |_, hook| {
            let returned = hook.call1((now.as_secs_f64(), lost_pkts))?;
            nothing("on_timeout", &returned)
        });
    }

    fn on_recovery_exit(&mut self, now: SimTime, window: &mut tcp::Window) {
        self.now.set(now);
        self.lend(
            self.hooks.on_recovery_exit.as_ref(),
            window,
            true,
            |hook, window| {
                let returned = hook.call1((now.as_secs_f64(), window))?;
                nothing("on_recovery_exit", &returned)
            },
        );
    }

    fn on_idle_restart(&mut self, now: SimTime, snd_nxt: u64, window: &tcp::Window) {
        self.now.set(now);
        let mut copy = *window;
        self.lend(
            self.hooks.on_idle_restart.as_ref(),
            &mut copy,
            false,
            |hook, window| {
                let returned = hook.call1((now.as_secs_f64(), snd_nxt, window))?;
                nothing("on_idle_restart", &returned)
            },
        );
    }

    fn on_transmit_start(&mut self, now: SimTime, idle: Duration, snd_nxt: u64) {
        self.now.set(now);
        self.call(self.hooks.on_transmit_start.as_ref(), |_, hook| {
            let returned = hook.call1((now.as_secs_f64(), idle.as_secs_f64(), snd_nxt))?;
            nothing("on_transmit_start", &returned)
        });
    }

    fn on_restart(&mut self, now: SimTime, window: &mut tcp::Window) {
        self.now.set(now);
        self.lend(
            self.hooks.on_restart.as_ref(),
            window,
            true,
            |hook, window| {
                let returned = hook.call1((now.as_secs_f64(), window))?;
                nothing("on_restart", &returned)
            },
        );
    }

    fn holds_back(&self) -> bool {
        self.call(self.hooks.holds_back.as_ref(), |_, hook| {
            yes("holds_back", &hook.call0()?)
        })
        .unwrap_or(false)
    }
}
