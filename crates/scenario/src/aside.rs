//! Work that cannot be interrupted, because a library does it.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::problems::Problems;

/// Time between two calls of the watch.
const STEP: Duration = Duration::from_millis(20);

/// The result of `work`. With a watch that may interrupt, the work runs on its own thread. On an
/// interrupt this returns `None` at once, and the thread's result is discarded.
pub(crate) fn aside<T: Send + 'static>(
    problems: &mut Problems,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if !problems.is_watched() {
        return Some(work());
    }
    let (sender, receiver) = channel();
    let thread = thread::spawn(move || drop(sender.send(work())));
    loop {
        match receiver.recv_timeout(STEP) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) if problems.go_on() => {}
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => return None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::problems::Interrupt;

    #[test]
    fn what_never_ends_is_left_and_what_ends_is_waited_for() {
        let mut problems =
            Problems::watched(Catalogue::default(), Some(Box::new(|| Err(Interrupt))));
        let endless = aside(&mut problems, || {
            loop {
                thread::park();
            }
        });
        assert_eq!(endless, None::<()>);
        let mut problems = Problems::watched(Catalogue::default(), Some(Box::new(|| Ok(()))));
        let slow = aside(&mut problems, || {
            thread::sleep(STEP * 3);
            7
        });
        assert_eq!(slow, Some(7));
    }
}
