//! The receiving side: it counts innovative packets, decodes generations, and requests missing
//! packets.
//!
//! Every coded packet is answered with the ranks, so that the next answer makes up for a lost one.
//! Originals are delivered in order, each as soon as it is decoded. A generation is incomplete when
//! its source has sent all of it (its last original was covered, or a later generation was seen)
//! and none of its packets has arrived for a while; then its missing packets are requested
//! repeatedly.

use std::collections::VecDeque;

use backlane_units::{Duration, SimTime};

use crate::config::{Config, backed_off};
use crate::generation::{Decoder, draw_coefficients};
use crate::message::{Answer, AnswerKind, Header};

/// The counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverReadings {
    /// Generations delivered in full.
    pub generations: u64,
    /// Coded packets received.
    pub packets: u64,
    /// Of these, packets that did not raise a rank.
    pub non_innovative: u64,
    /// Innovative repairs: each replaces a packet that was lost or late.
    pub masked_losses: u64,
    /// Requests sent.
    pub requests: u64,
    /// Originals delivered.
    pub originals: u64,
    /// Sum over these of the time from the rank that acknowledged them to their delivery.
    pub decode_delay: Duration,
}

#[derive(Debug, Default)]
struct Generation {
    decoder: Decoder,
    /// `None`: no packet of it or of the next one has arrived.
    size: Option<u8>,
    /// The source has sent all of it.
    has_ended: bool,
    /// Originals delivered.
    delivered: u8,
    /// When each rank was reached.
    ranked_at: Vec<SimTime>,
    request_at: Option<SimTime>,
    /// Requests since the last innovative packet of any generation.
    tries: u32,
    /// The number of the packet received last.
    number: u32,
}

impl Generation {
    fn clear(&mut self) {
        self.decoder.reset(0, 0);
        self.ranked_at.clear();
        self.size = None;
        self.request_at = None;
        self.has_ended = false;
        (self.delivered, self.tries, self.number) = (0, 0, 0);
    }

    fn is_complete(&self) -> bool {
        self.size == Some(self.decoder.rank())
    }

    fn learn_size(&mut self, size: u8) {
        self.size = Some(self.size.map_or(size, |known| known.min(size)));
    }
}

/// The receiving side of a flow's coding layer.
///
/// After [`on_packet`](Self::on_packet) take the decoded originals
/// ([`poll_decoded`](Self::poll_decoded)); at [`next_timeout`](Self::next_timeout) take the
/// requests ([`poll_request`](Self::poll_request)).
#[derive(Debug)]
pub struct Receiver {
    config: Config,
    key: u64,
    width: usize,
    generations: VecDeque<Generation>,
    /// The number of the first of these.
    first: u32,
    spare: Vec<Generation>,
    round_trip: Duration,
    coefficients: Vec<u8>,
    readings: ReceiverReadings,
}

impl Receiver {
    /// The receiver for an [`Edge`](crate::Edge) of the same configuration, key and width.
    pub fn new(config: &Config, key: u64, width: usize) -> Self {
        Self {
            config: *config,
            key,
            width,
            generations: VecDeque::new(),
            first: 0,
            spare: Vec::new(),
            round_trip: Duration::ZERO,
            coefficients: Vec::new(),
            readings: ReceiverReadings::default(),
        }
    }

    /// Handles a coded packet. Returns the answer.
    pub fn on_packet(&mut self, now: SimTime, header: &Header, symbol: &[u8]) -> Answer {
        self.readings.packets += 1;
        self.round_trip = header.round_trip();
        let mut is_innovative = false;
        if let Some(place) = header.generation.checked_sub(self.first) {
            is_innovative = self.take(now, place as usize, header, symbol);
        }
        self.readings.non_innovative += u64::from(!is_innovative);
        self.readings.masked_losses += u64::from(is_innovative && header.is_repair);
        let kind = if is_innovative {
            AnswerKind::Innovative
        } else {
            AnswerKind::NotInnovative
        };
        self.answer(kind, header.generation, header.number)
    }

    fn take(&mut self, now: SimTime, place: usize, header: &Header, symbol: &[u8]) -> bool {
        let wait = self.request_wait();
        while self.generations.len() <= place {
            let mut generation = self.spare.pop().unwrap_or_default();
            generation.clear();
            self.generations.push_back(generation);
        }
        if let Some(before) = place.checked_sub(1) {
            self.generations[before].learn_size(header.previous_size);
        }
        for before in self.generations.range_mut(..place) {
            before.has_ended = true;
            if before.request_at.is_none() && !before.is_complete() {
                before.request_at = Some(now.saturating_add(wait));
            }
        }
        let generation = &mut self.generations[place];
        if generation.decoder.rank() == 0 {
            generation.decoder.reset(header.size, self.width);
        }
        generation.learn_size(header.size);
        generation.has_ended |= header.covered == header.size;
        generation.number = header.number;
        self.coefficients.resize(usize::from(header.covered), 0);
        draw_coefficients(
            self.key,
            header.generation,
            header.number,
            &mut self.coefficients,
        );
        let is_innovative = generation.decoder.add(&self.coefficients, symbol);
        if is_innovative {
            generation.ranked_at.push(now);
        }
        if generation.is_complete() {
            generation.request_at = None;
        } else if generation.has_ended && (is_innovative || generation.request_at.is_none()) {
            generation.request_at = Some(now.saturating_add(wait));
        }
        if is_innovative {
            // The path works: no request waits for longer than for an answer.
            let soon = now.saturating_add(self.round_trip + wait);
            for generation in &mut self.generations {
                generation.tries = 0;
                generation.request_at = generation.request_at.map(|at| at.min(soon));
            }
        }
        is_innovative
    }

    fn answer(&self, kind: AnswerKind, number: u32, packet: u32) -> Answer {
        let complete = self.generations.iter().take_while(|g| g.is_complete());
        let base = complete.count();
        let rank = |place: usize| self.generations.get(place).map_or(0, |g| g.decoder.rank());
        let place = number.checked_sub(self.first);
        Answer {
            kind,
            base: self.first + base as u32,
            base_rank: rank(base),
            generation: number,
            rank: place.map_or(u8::MAX, |place| rank(place as usize)),
            number: packet,
        }
    }

    /// The symbol of the next original, in order, if it is decoded.
    pub fn poll_decoded(&mut self, now: SimTime) -> Option<&[u8]> {
        while let Some(front) = self.generations.front()
            && front.size == Some(front.delivered)
        {
            self.first += 1;
            self.readings.generations += 1;
            self.spare.extend(self.generations.pop_front());
        }
        let front = self.generations.front_mut()?;
        let symbol = front.decoder.decoded(front.delivered)?;
        // The order of acknowledgments: the k-th rank acknowledged the k-th original.
        if let Some(&at) = front.ranked_at.get(usize::from(front.delivered)) {
            self.readings.decode_delay += now.saturating_since(at);
        }
        front.delivered += 1;
        self.readings.originals += 1;
        Some(symbol)
    }

    /// When [`poll_request`](Self::poll_request) has one; [`SimTime::MAX`] if no timer runs.
    pub fn next_timeout(&self) -> SimTime {
        let times = self.generations.iter().filter_map(|g| g.request_at);
        times.min().unwrap_or(SimTime::MAX)
    }

    /// The next request that is due. It is repeated after a round trip and a wait, which doubles
    /// until an innovative packet arrives.
    pub fn poll_request(&mut self, now: SimTime) -> Option<Answer> {
        let wait = self.request_wait();
        let is_due = |g: &Generation| g.request_at.is_some_and(|at| at <= now);
        let place = self.generations.iter().position(is_due)?;
        let generation = &mut self.generations[place];
        if generation.is_complete() {
            // The next generation gave its size.
            generation.request_at = None;
            return self.poll_request(now);
        }
        let wait = self.round_trip + backed_off(wait, generation.tries);
        generation.tries += 1;
        generation.request_at = Some(now.saturating_add(wait));
        let number = generation.number;
        self.readings.requests += 1;
        Some(self.answer(AnswerKind::Request, self.first + place as u32, number))
    }

    /// The silence that triggers a request: half a round trip, but at least the timer.
    fn request_wait(&self) -> Duration {
        (self.round_trip / 2).max(self.config.request_timer)
    }

    /// The counters.
    pub fn readings(&self) -> &ReceiverReadings {
        &self.readings
    }
}
