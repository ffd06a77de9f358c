//! A window that is set from outside of the connection, while the simulation pauses.
//!
//! The window of a [`Command`] holds from the next acknowledgment on, in every state of loss
//! recovery; neither losses nor timeouts change it for longer than that. So a command needs no event
//! of its own, and a run with pauses has the events of one without. Before the first command the
//! window is the initial one. Segments are not paced.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use backlane_units::SimTime;

use super::{Ack, Arrival, CongestionControl, Custom, Window};

/// The largest window, in packets: far beyond any buffer, and far enough from the end of the
/// number's range.
pub const MOST_PKTS: u32 = 1 << 30;

/// The window that a connection is to have; copies are one. It has none before the first.
#[derive(Clone, Debug, Default)]
pub struct Command(Arc<AtomicU32>);

impl Command {
    /// Sets the window, between 1 and [`MOST_PKTS`].
    pub fn set(&self, cwnd_pkts: u32) {
        (self.0).store(cwnd_pkts.clamp(1, MOST_PKTS), Ordering::Relaxed);
    }

    /// The window, once it is set.
    pub fn cwnd_pkts(&self) -> Option<u32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|&cwnd_pkts| cwnd_pkts > 0)
    }

    /// The congestion control that obeys, called `name`.
    pub fn control(&self, name: &str) -> Custom {
        let command = self.clone();
        Custom::new(name, move |_random_seed| {
            Box::new(External {
                command: command.clone(),
            })
        })
    }
}

/// The congestion control of a [`Command`].
#[derive(Debug)]
struct External {
    command: Command,
}

impl External {
    fn obey(&self, window: &mut Window) {
        if let Some(cwnd_pkts) = self.command.cwnd_pkts() {
            window.cwnd_pkts = cwnd_pkts;
        }
    }
}

impl CongestionControl for External {
    fn on_established(
        &mut self,
        _now: SimTime,
        _srtt_us: u32,
        _mss_bytes: u32,
        window: &mut Window,
    ) {
        self.obey(window);
    }

    /// The window holds before losses are looked for, so that a repair uses it.
    fn on_arrival(&mut self, _now: SimTime, _arrival: &Arrival, window: &mut Window) {
        self.obey(window);
    }

    fn on_ack(&mut self, _now: SimTime, _ack: &Ack, window: &mut Window) {
        self.obey(window);
    }

    fn ssthresh(&mut self, _now: SimTime, window: &Window, _in_flight_pkts: u32) -> u32 {
        window.cwnd_pkts.max(2)
    }

    fn owns_window(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_ack(control: &mut dyn CongestionControl, window: &mut Window) {
        control.on_ack(SimTime::ZERO, &Ack::default(), window);
    }

    #[test]
    fn the_window_is_the_initial_one_until_the_first_command_and_then_the_commanded_one() {
        let command = Command::default();
        let mut control = command.control("external").build(1);
        let mut window = Window::new(10, u32::MAX);
        on_ack(&mut *control, &mut window);
        assert_eq!(window.cwnd_pkts, 10);
        command.set(7);
        on_ack(&mut *control, &mut window);
        assert_eq!(window.cwnd_pkts, 7);
        command.set(0);
        // A window that a timeout has cut.
        window.cwnd_pkts = 3;
        control.on_arrival(SimTime::ZERO, &Arrival::default(), &mut window);
        assert_eq!(window.cwnd_pkts, 1);
    }

    #[test]
    fn a_loss_leaves_the_window() {
        let command = Command::default();
        command.set(50);
        let mut control = command.control("external").build(1);
        let window = Window::new(50, u32::MAX);
        assert!(control.owns_window());
        assert_eq!(control.ssthresh(SimTime::ZERO, &window, 40), 50);
        assert_eq!(control.undo_cwnd(&window, 50), 50);
    }
}
