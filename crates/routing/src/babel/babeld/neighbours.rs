//! HELLOs, IHUs and the costs of links.

use backlane_units::{Duration, SimTime};

use super::super::daemon::{Target, centiseconds};
use super::super::link;
use super::super::message::{INFINITY, Tlv};
use super::{Babeld, Buffer, Neighbour, RTT_DECAY, RTT_LIFE};

impl Babeld {
    pub(super) fn measures_rtt(&self) -> bool {
        self.config.rtt_penalty > 0
    }

    pub(super) fn send_hello(&mut self, port: usize) {
        self.buffer_hello(port, true);
        if self.ports[port].hello_seqno.is_multiple_of(3) {
            self.send_ihus(port, |_| true);
        } else {
            self.send_ihus(port, |neighbour| {
                neighbour.txcost >= 384 || neighbour.reach & 0xf000 != 0xf000
            });
        }
    }

    /// A HELLO; an unscheduled one only where none waits already.
    pub(super) fn buffer_hello(&mut self, port: usize, is_scheduled: bool) {
        if !self.ports[port].up {
            return;
        }
        if self.ports[port].buffer.packer.has_hello() {
            if !is_scheduled {
                return;
            }
            self.flush_updates(port);
            self.flush(Target::Port(port));
        }
        let hello_interval = self.config.hello_interval;
        let next = self.after_roughly(hello_interval);
        let sent_us = self.measures_rtt().then_some(0);
        let interface = &mut self.ports[port];
        interface.hello_seqno = interface.hello_seqno.wrapping_add(1);
        if is_scheduled {
            interface.hello_at = next;
        }
        let hello = Tlv::Hello {
            seqno: interface.hello_seqno,
            interval_cs: if is_scheduled {
                centiseconds(hello_interval)
            } else {
                0
            },
            sent_us,
        };
        self.push(Target::Port(port), hello);
    }

    pub(super) fn send_ihus(&mut self, port: usize, wanted: impl Fn(&Neighbour) -> bool) {
        for end in self.ports[port].port.interfaces.clone() {
            if self.neighbours.get(&end).is_some_and(&wanted) {
                self.send_ihu(end);
            }
        }
    }

    pub(super) fn send_ihu(&mut self, end: usize) {
        let port = self.port_of(end);
        let Some(neighbour) = self.neighbours.get(&end) else {
            return;
        };
        if !self.ports[port].up {
            return;
        }
        let waits = !neighbour.buffer.packer.is_empty();
        let target = if waits {
            Target::Neighbour(end)
        } else {
            Target::Port(port)
        };
        let echo = neighbour.heard_us.filter(|_| self.measures_rtt());
        let ihu = Tlv::Ihu {
            to: self.links.peers[end],
            rxcost: self.rxcost(end),
            interval_cs: centiseconds(self.config.hello_interval.saturating_mul(3)),
            echo,
        };
        if echo.is_some() && target == Target::Port(port) {
            // Timestamps need a HELLO in the same packet.
            self.buffer_hello(port, false);
        }
        self.push(target, ihu);
    }

    /// The cost of receiving from a neighbour.
    pub(super) fn rxcost(&self, end: usize) -> u16 {
        let Some(neighbour) = self.neighbours.get(&end) else {
            return INFINITY;
        };
        let port = &self.ports[self.port_of(end)].port;
        if port.is_wireless {
            let silence = self.now.saturating_since(neighbour.hello_time);
            link::wireless(neighbour.reach, port.rxcost, silence)
        } else {
            link::wired(neighbour.reach, port.rxcost)
        }
    }

    /// The cost of sending to a neighbour.
    pub(super) fn cost(&self, end: usize) -> u16 {
        let Some(neighbour) = self.neighbours.get(&end) else {
            return INFINITY;
        };
        let interface = &self.ports[self.port_of(end)];
        if !interface.up {
            return INFINITY;
        }
        let rxcost = self.rxcost(end);
        let cost = link::babeld(neighbour.txcost, rxcost, interface.port.is_wireless);
        let rtt = neighbour
            .rtt
            .filter(|(_, at)| self.now.saturating_since(*at) < RTT_LIFE);
        let penalty = rtt.map_or(0, |(us, _)| {
            let (least, most) = (self.config.rtt_min, self.config.rtt_max);
            let penalty = self.config.rtt_penalty as u16;
            link::rtt_penalty(Duration::from_micros(us), least, most, penalty)
        });
        cost.saturating_add(penalty)
    }

    pub(super) fn meet(&mut self, end: usize) {
        let now = self.now;
        self.neighbours.entry(end).or_insert_with(|| Neighbour {
            buffer: Buffer::default(),
            reach: 0,
            hello_seqno: None,
            hello_time: SimTime::ZERO,
            hello_interval: Duration::ZERO,
            txcost: INFINITY,
            ihu_time: now,
            ihu_interval: Duration::ZERO,
            heard_us: None,
            rtt: None,
        });
    }

    /// A HELLO arrived. Returns whether the history changed otherwise than by one more.
    pub(super) fn on_hello(&mut self, end: usize, seqno: u16, announced: Duration) -> bool {
        let now = self.now;
        let Some(neighbour) = self.neighbours.get_mut(&end) else {
            return false;
        };
        let mut changed = false;
        let mut missed = 0;
        if let Some(last) = neighbour.hello_seqno
            && neighbour.reach > 0
        {
            missed = i32::from(seqno.wrapping_sub(last) as i16) - 1;
            if missed < -8 {
                // The neighbour has started again.
                neighbour.reach = 0;
                changed = true;
            } else if missed < 0 {
                neighbour.reach = neighbour.reach.unbounded_shl(missed.unsigned_abs());
                changed = true;
            }
        }
        if announced > Duration::ZERO {
            (neighbour.hello_time, neighbour.hello_interval) = (now, announced);
        }
        if missed > 0 {
            neighbour.reach = neighbour.reach.unbounded_shr(missed as u32);
            changed = true;
        }
        neighbour.hello_seqno = Some(seqno);
        neighbour.reach = neighbour.reach >> 1 | 0x8000;
        changed || neighbour.reach & 0xfc00 != 0xfc00
    }

    /// HELLOs that did not arrive. Returns whether there are any.
    pub(super) fn count_missed(&mut self, end: usize) -> bool {
        let now = self.now;
        let Some(neighbour) = self.neighbours.get_mut(&end) else {
            return false;
        };
        let period = neighbour.hello_interval.as_ps();
        if period == 0 {
            return false;
        }
        let late = now.saturating_since(neighbour.hello_time).as_ps();
        let missed = late.saturating_sub(period / 10 * 7) / period;
        if missed == 0 {
            return false;
        }
        let passed = neighbour.hello_interval.saturating_mul(missed);
        neighbour.hello_time = neighbour.hello_time.saturating_add(passed);
        neighbour.reach = neighbour.reach.unbounded_shr(missed.min(16) as u32);
        let seqno = neighbour
            .hello_seqno
            .map(|last| last.wrapping_add(missed as u16));
        neighbour.hello_seqno = seqno;
        true
    }

    /// Looks for lost HELLOs and IHUs. Returns the time to the next look.
    pub(super) fn check_neighbours(&mut self) -> Duration {
        let mut wait = Duration::from_secs(50);
        let ends: Vec<usize> = self.neighbours.keys().copied().collect();
        for end in ends {
            let mut changed = self.count_missed(end);
            let now = self.now;
            let neighbour = &self.neighbours[&end];
            let silence = now.saturating_since(neighbour.hello_time);
            if neighbour.reach == 0 || silence > Duration::from_secs(300) {
                self.forget(end);
                continue;
            }
            changed |= self.expire_txcost(end);
            if changed {
                self.update_metrics(end);
            }
            let neighbour = &self.neighbours[&end];
            for interval in [neighbour.hello_interval, neighbour.ihu_interval] {
                if interval > Duration::ZERO {
                    wait = wait.min(interval);
                }
            }
        }
        Duration::from_ps(wait.as_ps() / 2 * 3).max(Duration::from_millis(10))
    }

    /// Without IHUs for three intervals and with few HELLOs, or for ten, the neighbour does not hear
    /// this router.
    pub(super) fn expire_txcost(&mut self, end: usize) -> bool {
        let now = self.now;
        let Some(neighbour) = self.neighbours.get_mut(&end) else {
            return false;
        };
        let late = now.saturating_since(neighbour.ihu_time);
        let period = neighbour.ihu_interval;
        let knows = period > Duration::ZERO;
        if knows && late < period.saturating_mul(3) {
            return false;
        }
        let lost = late >= Duration::from_secs(180)
            || neighbour.reach & 0xfff0 == 0
            || (knows && late >= period.saturating_mul(10));
        if lost {
            (neighbour.txcost, neighbour.ihu_time) = (INFINITY, now);
        }
        lost
    }

    /// A neighbour is lost, and all its routes.
    pub(super) fn forget(&mut self, end: usize) {
        self.out.lost += 1;
        self.flush_routes(end);
        self.neighbours.remove(&end);
    }

    pub(super) fn on_rtt(&mut self, end: usize, sent_us: u32, received_us: u32) {
        let now = self.now;
        let Some(neighbour) = self.neighbours.get_mut(&end) else {
            return;
        };
        let Some((their_sent_us, our_received_us)) = neighbour.heard_us else {
            return;
        };
        let there = their_sent_us.wrapping_sub(received_us) as i32;
        let here = our_received_us.wrapping_sub(sent_us) as i32;
        if there < 0 || here < 0 {
            return;
        }
        let sample = u64::from((here - there).max(0).unsigned_abs());
        let known = neighbour
            .rtt
            .filter(|(_, at)| now.saturating_since(*at) < RTT_LIFE);
        let rtt = match known {
            Some((old, _)) => {
                let sum = RTT_DECAY * sample + (256 - RTT_DECAY) * old;
                // Rounded towards the sample.
                if old >= sample {
                    sum / 256
                } else {
                    sum.div_ceil(256)
                }
            }
            None => 2 * sample,
        };
        neighbour.rtt = Some((rtt, now));
        self.update_metrics(end);
    }
}
