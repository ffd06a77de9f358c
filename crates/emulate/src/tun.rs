//! TUN devices, each in a network namespace.
//!
//! A TUN device belongs to the namespace in which `/dev/net/tun` was opened (`tun_chr_open` in
//! `drivers/net/tun.c` takes the namespace of the calling thread), so that no interface ever exists in
//! the namespace of the machine. The descriptor works from any thread.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use backlane_units::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space, set_current_timer_slack};

use crate::pacer::Wall;

/// The device from which TUN interfaces are made.
pub const DEVICE: &str = "/dev/net/tun";

const PS_PER_NS: u64 = 1000;
const NS_PER_S: u64 = 1_000_000_000;

/// Opens the TUN device in a network namespace, such as `/run/netns/NAME`. It is not an interface yet:
/// the caller makes it one with the `ioctl` `TUNSETIFF`, with `IFF_TUN | IFF_NO_PI`
/// (Documentation/networking/tuntap.rst of Linux). Reads do not block.
///
/// # Errors
/// The namespace or the device does not exist, or the right `CAP_SYS_ADMIN` over the namespace is
/// missing.
pub fn open(namespace: &Path) -> io::Result<File> {
    let namespace = File::open(namespace)?;
    // A thread of its own, whose namespace ends with it.
    let opened = thread::spawn(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
        let device = OpenOptions::new().read(true).write(true).open(DEVICE)?;
        ioctl_fionbio(&device, true)?;
        Ok(device)
    });
    let panicked = || io::Error::other("the thread that opens the device panicked");
    opened.join().map_err(|_| panicked())?
}

/// The devices of the hosts, with the monotonic clock of the machine.
#[derive(Debug)]
pub struct Tuns {
    devices: Vec<Arc<File>>,
    start: Instant,
}

impl Tuns {
    /// The devices by the numbers of their hosts, with interfaces, which exist as long as the device is
    /// open. Sleeps of the calling thread end as
    /// exactly as the kernel's timers permit from now on (`PR_SET_TIMERSLACK`).
    pub fn new(devices: Vec<Arc<File>>) -> Self {
        // Without it, sleeps end up to 50 us late.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        Self {
            devices,
            start: Instant::now(),
        }
    }
}

impl Wall for Tuns {
    fn now(&mut self) -> Duration {
        let elapsed = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Duration::from_ps(elapsed.saturating_mul(PS_PER_NS))
    }

    fn wait(&mut self, time: Duration, ready: &mut Vec<usize>) -> io::Result<()> {
        ready.clear();
        let ns = time.as_ps() / PS_PER_NS;
        let timeout = Timespec {
            tv_sec: (ns / NS_PER_S) as i64,
            tv_nsec: (ns % NS_PER_S) as i64,
        };
        let mut polled: Vec<PollFd<'_>> = self
            .devices
            .iter()
            .map(|device| PollFd::new(device, PollFlags::IN))
            .collect();
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let readable = polled.iter().enumerate();
        ready.extend(
            readable
                .filter(|(_, polled)| polled.revents().contains(PollFlags::IN))
                .map(|(host, _)| host),
        );
        Ok(())
    }

    fn read(&mut self, host: usize, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&*self.devices[host]).read(buffer) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, host: usize, datagram: &[u8]) -> io::Result<()> {
        (&*self.devices[host]).write(datagram).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_that_does_not_exist_is_an_error() {
        let error = open(Path::new("/run/netns/no such namespace")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_sleep_lasts_as_long_as_asked() {
        let mut tuns = Tuns::new(Vec::new());
        let (before, mut ready) = (tuns.now(), vec![3]);
        tuns.wait(Duration::from_millis(20), &mut ready).unwrap();
        assert!(tuns.now() - before >= Duration::from_millis(20));
        assert!(ready.is_empty());
    }
}
