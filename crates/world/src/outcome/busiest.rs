//! The busiest second of each link direction.

use backlane_net::Link;
use backlane_units::{Duration, SimTime};

use super::carried::{self, Carried};

const SECOND: Duration = Duration::from_secs(1);

/// Shares of the capacity of each link direction, second by second since the end of the warm-up.
/// Reading them is no event, as with samples.
pub(crate) struct Busiest {
    /// When the second under way began.
    begin: SimTime,
    /// What the links had carried then.
    before: Vec<Carried>,
    most: Vec<f64>,
}

impl Busiest {
    /// Counts from an instant on at which the links have carried `before`.
    pub(crate) fn since(begin: SimTime, before: Vec<Carried>) -> Self {
        Self {
            begin,
            before,
            most: Vec::new(),
        }
    }

    /// When the second under way ends.
    pub(crate) fn next(&self) -> SimTime {
        self.begin.saturating_add(SECOND)
    }

    /// Notes what the links had carried when a second ended, or within one when the run does.
    pub(crate) fn note(&mut self, links: &[Link], carried: Vec<Carried>) {
        let end = self.next();
        self.most.resize(carried.len(), 0.0);
        for (((most, before), after), link) in
            (self.most.iter_mut().zip(&self.before).zip(&carried)).zip(links)
        {
            *most = most.max(carried::share(link, after.since(*before), self.begin, end));
        }
        self.before = carried;
        self.begin = end;
    }

    /// Whether a second has passed.
    pub(crate) fn is_known(&self) -> bool {
        !self.most.is_empty()
    }

    /// The share of the busiest second of a link direction, if one has passed.
    pub(crate) fn share(&self, link: usize) -> Option<f64> {
        self.most.get(link).copied()
    }
}
