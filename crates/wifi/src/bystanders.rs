//! What happens to the members of a [`Domain`] when frames start and end on its air.

use backlane_net::MediumContext;
use backlane_radio::FrameFading;
use backlane_units::SimTime;

use crate::air::Ended;
use crate::counters::RadioCounters;
use crate::deadlines::Priority;
use crate::domain::{Domain, Membership, Passed};
use crate::frame::{Frame, NONE};
use crate::mac_params::MacParams;
use crate::medium::{Hearer, Wifi};
use crate::phy::Mode;
use crate::radio::{Direction, Radio};
use crate::receiver::RxOutcome;

/// Among fewer radios too few are bystanders.
const LEAST_MEMBERS: usize = 4;

/// The domains among the radios, and each radio's place in them. All members are bystanders.
pub(crate) fn domains(
    params: &MacParams,
    radios: &mut [Radio],
    audible: &[Vec<Hearer>],
    links: &[Direction],
) -> (Vec<Domain>, Vec<Option<Membership>>) {
    let mut domains = Vec::new();
    let mut places = vec![None; radios.len()];
    for radio in 0..radios.len() {
        // Each domain is found by its first member.
        if audible[radio]
            .first()
            .is_none_or(|first| (first.radio as usize) < radio)
        {
            continue;
        }
        let Some(domain) = domain_of(params, radio, audible, links) else {
            continue;
        };
        for (place, &member) in domain.members.iter().enumerate() {
            places[member as usize] = Some(Membership {
                domain: domains.len() as u32,
                place: place as u32,
            });
            radios[member as usize].join(&domain.carrier);
        }
        domains.push(domain);
    }
    (domains, places)
}

/// The domain whose first member is this radio, if it and those that it hears are one.
fn domain_of(
    params: &MacParams,
    first: usize,
    audible: &[Vec<Hearer>],
    links: &[Direction],
) -> Option<Domain> {
    if params.fading != FrameFading::None || audible[first].len() + 1 < LEAST_MEMBERS {
        return None;
    }
    let heard = audible[first].iter().map(|hearer| hearer.radio);
    let members: Vec<u32> = std::iter::once(first as u32).chain(heard).collect();
    let mut least_mw = f64::INFINITY;
    for &member in &members {
        let hearers = &audible[member as usize];
        let others = members.iter().filter(|&&other| other != member);
        if !others.eq(hearers.iter().map(|hearer| &hearer.radio)) {
            return None;
        }
        for hearer in hearers {
            let link = links.get(hearer.link as usize);
            let loss = link.and_then(|link| link.loss.as_ref());
            if loss.is_some_and(|(loss, _)| *loss > 0.0) {
                return None;
            }
            least_mw = least_mw.min(hearer.mean_mw);
        }
    }
    let certain = Mode::ALL.map(|mode| params.is_certain(mode, least_mw));
    let is_useful = least_mw >= params.carrier_sense_mw && certain[params.data_mode.index()];
    is_useful.then(|| Domain::new(members, certain))
}

impl Wifi {
    /// The same network, in which each radio is notified of each frame. For tests: the outcome of
    /// a run is the same.
    #[doc(hidden)]
    #[must_use]
    pub fn without_domains(mut self) -> Self {
        self.give_up_domains();
        self
    }

    /// The number of domains, for tests.
    #[doc(hidden)]
    pub fn domains(&self) -> usize {
        self.memberships
            .iter()
            .flatten()
            .map(|found| found.domain + 1)
            .max()
            .unwrap_or(0) as usize
    }

    /// Gives a radio a state of its own, if it is a bystander.
    #[inline]
    pub(crate) fn part(&mut self, radio: usize) {
        if self.radios[radio].share.is_some() {
            self.part_bystander(radio);
        }
    }

    fn part_bystander(&mut self, radio: usize) {
        let Some((domain, place)) = self.place_of(radio) else {
            return;
        };
        self.leave(domain, place, radio);
        let own = &mut self.domains[domain].own;
        let at = own.partition_point(|&other| (other as usize) < place);
        own.insert(at, place as u32);
    }

    /// Gives all members of a domain a state of their own.
    fn part_all(&mut self, domain: usize) {
        for place in 0..self.domains[domain].members.len() {
            let radio = self.domains[domain].members[place] as usize;
            self.leave(domain, place, radio);
        }
        let domain = &mut self.domains[domain];
        domain.own.clear();
        domain.own.extend(0..domain.members.len() as u32);
    }

    /// From now on each member of a radio's domain is notified of each frame.
    pub(crate) fn give_up_domain_of(&mut self, radio: usize) {
        let Some((domain, _)) = self.place_of(radio) else {
            return;
        };
        self.part_all(domain);
        for &member in &self.domains[domain].members {
            self.memberships[member as usize] = None;
        }
    }

    /// From now on each radio is notified of each frame.
    pub(crate) fn give_up_domains(&mut self) {
        for radio in 0..self.radios.len() {
            self.give_up_domain_of(radio);
        }
    }

    /// The domain of a radio, and its place there.
    #[inline]
    pub(crate) fn place_of(&self, radio: usize) -> Option<(usize, usize)> {
        let Membership { domain, place } = self.memberships[radio]?;
        Some((domain as usize, place as usize))
    }

    /// A bystander gets the state of the others, and then processes the burst.
    fn leave(&mut self, domain: usize, place: usize, radio: usize) {
        let me = &mut self.radios[radio];
        let Some(share) = me.share.take() else {
            return;
        };
        let domain = &mut self.domains[domain];
        domain.slots.clear(place);
        domain.next.take_if(|next| *next as usize == radio);
        me.leave(share, &domain.carrier);
        if domain.burst.is_empty() {
            me.resume_slot(radio, &self.params, &mut self.deadlines);
        }
        for passed in &domain.burst {
            let hearers = &self.audible[passed.frame.from as usize];
            let hearer = &hearers[hearer_index(passed.place as usize, place)];
            let (frame, params) = (&passed.frame, &self.params);
            if passed.ends {
                me.on_shared_end(radio, frame, hearer.mean_mw, params, &mut self.deadlines);
            } else {
                me.on_shared_start(frame, hearer.mean_mw, hearer.given, params);
            }
        }
    }

    /// A member of a domain starts to send.
    pub(crate) fn start_in_domain(&mut self, domain: usize, sender: usize, me: usize) {
        let to = self.frames[me].to;
        if to != NONE {
            self.part(to as usize);
        }
        let is_first = self.domains[domain].burst.is_empty();
        if is_first {
            self.start_burst(domain, self.frames[me].begins);
        }
        let mut own = std::mem::take(&mut self.domains[domain].own);
        own.retain(|&place| {
            place as usize == sender || !self.start_at(domain, sender, me, place as usize)
        });
        let domain = &mut self.domains[domain];
        domain.own = own;
        domain.on_air += 1;
        domain.burst.push(Passed {
            frame: self.frames[me],
            place: sender as u32,
            ends: false,
        });
    }

    /// The countdown of bystanders stops.
    fn start_burst(&mut self, domain: usize, now: SimTime) {
        let sensed = now.saturating_add(self.params.sensing_delay);
        if let Some(next) = self.domains[domain].next.take() {
            self.deadlines.clear(next as usize);
        }
        // A transmission due within the sensing delay starts nevertheless.
        while let Some((slot, place)) = self.domains[domain].slots.first() {
            let begins = self.domains[domain].carrier.begins(slot, &self.params);
            if begins > now && begins >= sensed {
                break;
            }
            self.part(self.domains[domain].members[place] as usize);
        }
        let domain = &mut self.domains[domain];
        if domain.own.len() == domain.members.len() {
            domain.carrier.abandon();
        }
        domain.carrier.on_start(now, &self.params);
    }

    /// A frame of `me` starts at a member with a state of its own. Returns whether that becomes a
    /// bystander.
    fn start_at(&mut self, domain: usize, sender: usize, me: usize, place: usize) -> bool {
        let hearer = &self.audible[me][hearer_index(sender, place)];
        let (to, frame) = (hearer.radio as usize, &self.frames[me]);
        let radio = &mut self.radios[to];
        let (params, deadlines) = (&self.params, &mut self.deadlines);
        radio.on_cca_busy(to, frame.begins, params, deadlines);
        let domain = &mut self.domains[domain];
        if domain.burst.is_empty()
            && frame.to != hearer.radio
            && radio.is_like(to, frame.begins, &domain.carrier, deadlines)
        {
            let slot = radio.join(&domain.carrier);
            if radio.mpdu.is_some() {
                domain.slots.set(place, slot);
            }
            return true;
        }
        radio.receive(frame, hearer.mean_mw, hearer.given, params);
        false
    }

    /// The frame of a member of a domain is about to end. Returns whether bystanders matter, since
    /// they overhear its message; if they do not all decode it, they get a state of their own.
    pub(crate) fn prepare_end(&mut self, domain: usize, ended: &Ended) -> bool {
        let is_overheard = ended.overheard.is_some();
        if is_overheard && !self.domains[domain].is_shared(&ended.frame) {
            self.part_all(domain);
        }
        is_overheard
    }

    /// The frame of a member of a domain has ended.
    pub(crate) fn end_in_domain(&mut self, domain: usize, sender: usize, frame: &Frame) {
        let found = &mut self.domains[domain];
        let is_shared = found.is_shared(frame);
        found.on_air -= 1;
        found.burst.push(Passed {
            frame: *frame,
            place: sender as u32,
            ends: true,
        });
        if found.on_air > 0 {
            return;
        }
        if is_shared {
            found.carrier.on_end(frame, &self.params);
            self.set_next(domain);
        } else {
            self.part_all(domain);
        }
        self.domains[domain].burst.clear();
    }

    /// A frame ends at the members with a state of their own.
    pub(crate) fn end_at_own(
        &mut self,
        context: &mut MediumContext<'_>,
        domain: usize,
        sender: usize,
        ended: &Ended,
    ) {
        let own = std::mem::take(&mut self.domains[domain].own);
        let me = ended.frame.from as usize;
        let audible = std::mem::take(&mut self.audible[me]);
        for place in own.iter().map(|&place| place as usize) {
            if place != sender {
                let hearer = &audible[hearer_index(sender, place)];
                self.end_at(context, hearer, hearer.mean_mw, ended);
            }
        }
        self.audible[me] = audible;
        self.domains[domain].own = own;
    }

    /// Sets the deadline of the bystander that transmits first.
    fn set_next(&mut self, domain: usize) {
        let domain = &mut self.domains[domain];
        if let Some((slot, place)) = domain.slots.first() {
            let next = domain.members[place];
            let begins = domain.carrier.begins(slot, &self.params);
            domain.next = Some(next);
            self.deadlines.set(next as usize, begins, Priority::Other);
        }
    }

    /// Adds to the counters of a radio what it has not counted itself as a bystander.
    pub(crate) fn add_shared(&self, radio: usize, counters: &mut RadioCounters) {
        let (Some(share), Some((domain, place))) = (self.radios[radio].share, self.place_of(radio))
        else {
            return;
        };
        let domain = &self.domains[domain];
        counters.busy_ps += share.busy_ps(&domain.carrier);
        let mut receiver = self.radios[radio].receiver.clone();
        receiver.owe_draws(share.frames(&domain.carrier));
        let mut sensed = 0;
        for passed in &domain.burst {
            let hearers = &self.audible[passed.frame.from as usize];
            let hearer = &hearers[hearer_index(passed.place as usize, place)];
            let (frame, power_mw, params) = (&passed.frame, hearer.mean_mw, &self.params);
            if passed.ends {
                sensed -= 1;
                let heard = receiver.on_end(frame, power_mw, params);
                counters.undecoded += u64::from(heard != RxOutcome::Ok);
            } else {
                sensed += 1;
                receiver.on_start(frame, power_mw, hearer.given, sensed, false, params);
            }
        }
    }
}

/// The index of the member at `place` among those that hear the one at `sender`.
#[inline]
fn hearer_index(sender: usize, place: usize) -> usize {
    place - usize::from(place > sender)
}
