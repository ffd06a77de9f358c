//! Models of saturated stations that all sense each other: Bianchi's chain, the chain of the
//! standard's back-off, and the standard's back-off itself, played slot by slot.

#![allow(dead_code)]

use backlane_engine::Stream;

/// What a station draws its back-off from.
#[derive(Clone, Copy)]
pub struct Windows {
    /// CWmin + 1.
    pub first: f64,
    pub doublings: i32,
    /// [`None`]: no limit.
    pub attempts: Option<i32>,
}

/// In microseconds.
#[derive(Clone, Copy)]
pub struct Times {
    pub slot: f64,
    /// A success, up to the end of the following DIFS.
    pub success: f64,
    /// A collision, up to the end of the space after it.
    pub collision: f64,
}

/// What a model says.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The share of attempts that fail.
    pub collides: f64,
    /// Successes in a microsecond.
    pub successes: f64,
}

impl Windows {
    fn at(self, stage: i32) -> f64 {
        self.first * 2f64.powi(stage.min(self.doublings))
    }
}

/// Bianchi 2000, equations (6), (7), (9) and (13): a station transmits in a slot with probability
/// τ independently of the others, a busy slot counts like an idle one, and every slot after a busy one
/// is open to all. With a limit of attempts, τ is attempts over slots of a packet:
/// Σ pⁱ / Σ pⁱ (Wᵢ + 1)/2 (Wu et al. 2002).
pub fn bianchi(stations: i32, windows: Windows, times: Times) -> (f64, Outcome) {
    let tau_of = |p: f64| match windows.attempts {
        None => {
            let (w, m) = (windows.first, windows.doublings);
            2.0 * (1.0 - 2.0 * p)
                / ((1.0 - 2.0 * p) * (w + 1.0) + p * w * (1.0 - (2.0 * p).powi(m)))
        }
        Some(attempts) => {
            let (mut tries, mut slots, mut reached) = (0.0, 0.0, 1.0);
            for stage in 0..attempts {
                tries += reached;
                slots += reached * (windows.at(stage) + 1.0) / 2.0;
                reached *= p;
            }
            tries / slots
        }
    };
    let collides = fixed_point(|p| 1.0 - (1.0 - tau_of(p)).powi(stations - 1));
    let tau = tau_of(collides);
    let idle = (1.0 - tau).powi(stations);
    let success = f64::from(stations) * tau * (1.0 - tau).powi(stations - 1);
    let time =
        idle * times.slot + success * times.success + (1.0 - idle - success) * times.collision;
    let outcome = Outcome {
        collides,
        successes: success / time,
    };
    (tau, outcome)
}

/// The same with the standard's back-off (after Tinnirello, Bianchi and Xiao 2010): a station that
/// waits counts down once for each idle slot and not for the busy one, so that the first slot
/// after a busy one belongs to those who have just transmitted and drawn zero. Busy slot and the
/// idle one that must follow are one step of the chain.
pub fn standard(stations: i32, windows: Windows, times: Times) -> Outcome {
    struct Packet {
        tries: f64,
        at_once: f64,
        steps: f64,
        collisions: f64,
    }
    let packet = |p: f64| {
        let mut packet = Packet {
            tries: 0.0,
            at_once: 0.0,
            steps: 0.0,
            collisions: 0.0,
        };
        let mut reached = 1.0;
        for stage in 0..windows.attempts.unwrap_or(50) {
            let zero = 1.0 / windows.at(stage);
            // After a success no other station can begin at once; after a collision the other may.
            let at_once_collides = if stage == 0 { 0.0 } else { zero };
            let collides = zero * at_once_collides + (1.0 - zero) * p;
            packet.tries += reached * (1.0 - zero);
            packet.at_once += reached * zero;
            packet.steps += reached * (1.0 - zero) * windows.at(stage) / 2.0;
            packet.collisions += reached * collides;
            reached *= collides;
        }
        packet
    };
    let tau_of = |p: f64| {
        let packet = packet(p);
        packet.tries / packet.steps
    };
    let p = fixed_point(|p| 1.0 - (1.0 - tau_of(p)).powi(stations - 1));
    let (tau, packet) = (tau_of(p), packet(p));
    let idle = (1.0 - tau).powi(stations);
    let success = f64::from(stations) * tau * (1.0 - tau).powi(stations - 1);
    let at_once = f64::from(stations) * tau * packet.at_once / packet.tries;
    let time =
        times.slot + (success + at_once) * times.success + (1.0 - idle - success) * times.collision;
    Outcome {
        collides: packet.collisions / (packet.tries + packet.at_once),
        successes: (success + at_once) / time,
    }
}

/// The standard's back-off simulated slot by slot, for this many transmissions.
pub fn played(
    stations: usize,
    windows: Windows,
    times: Times,
    transmissions: u32,
    draws: &mut Stream,
) -> Outcome {
    let mut draw = |stage: i32| draws.uniform_below(windows.at(stage) as u64);
    let mut left: Vec<(u64, i32)> = (0..stations).map(|_| (draw(0), 0)).collect();
    let (mut attempts, mut failures, mut time, mut successes) = (0u64, 0u64, 0.0, 0u64);
    for _ in 0..transmissions {
        let idle = left.iter().map(|&(slots, _)| slots).min().unwrap_or(0);
        let senders = left.iter().filter(|&&(slots, _)| slots == idle).count();
        let collided = senders > 1;
        time += idle as f64 * times.slot;
        time += if collided {
            times.collision
        } else {
            times.success
        };
        attempts += senders as u64;
        successes += u64::from(!collided);
        failures += if collided { senders as u64 } else { 0 };
        for (slots, stage) in &mut left {
            if *slots > idle {
                *slots -= idle;
                continue;
            }
            let last = Some(*stage + 1) == windows.attempts;
            *stage = if collided && !last { *stage + 1 } else { 0 };
            *slots = draw(*stage);
        }
    }
    Outcome {
        collides: failures as f64 / attempts as f64,
        successes: successes as f64 / time,
    }
}

/// The p at which a falling function is p itself.
fn fixed_point(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 0.999_999);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if f(middle) > middle {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
