//! What expires: once a second BIRD looks for it.

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

use super::super::message::{INFINITY, Tlv};
use super::{Bird, HOLD_FACTOR, REQUEST_EXPIRY, REQUEST_RETRIES, Validity};

impl Bird {
    /// What has expired: routes first, then neighbours.
    pub(super) fn sweep(&mut self) {
        let now = self.now;
        let hold = self.config.update_interval.saturating_mul(HOLD_FACTOR);
        let prefixes: Vec<NodeId> = self.entries.keys().copied().collect();
        for prefix in prefixes {
            self.sweep_routes(prefix, hold);
            let Some(entry) = self.entries.get_mut(&prefix) else {
                continue;
            };
            if entry.validity == Validity::Stale && entry.updated.saturating_add(hold) <= now {
                entry.validity = Validity::Dummy;
                self.touched.insert(prefix);
            }
            entry.sources.retain(|_, source| source.expires > now);
            self.sweep_requests(prefix);
        }
        self.entries.retain(|_, entry| {
            entry.validity != Validity::Dummy
                || !(entry.routes.is_empty()
                    && entry.sources.is_empty()
                    && entry.requests.is_empty())
        });
        let ends: Vec<usize> = self.neighbours.keys().copied().collect();
        for end in ends {
            self.sweep_neighbour(end);
        }
    }

    pub(super) fn sweep_routes(&mut self, prefix: NodeId, hold: Duration) {
        let now = self.now;
        let again = self.after(hold);
        let Some(entry) = self.entries.get_mut(&prefix) else {
            return;
        };
        let mut changed = false;
        let mut refreshed = None;
        let selected = entry.selected;
        entry.routes.retain(|&end, route| {
            if route.refresh <= now {
                route.refresh = SimTime::MAX;
                if selected == Some(end) {
                    refreshed = Some(end);
                }
            }
            if route.expires > now {
                return true;
            }
            changed |= selected == Some(end);
            if route.metric == INFINITY {
                return false;
            }
            (route.metric, route.advertised, route.expires) = (INFINITY, INFINITY, again);
            true
        });
        if let Some(end) = refreshed {
            self.send_to(end, Tlv::RouteRequest(Some(prefix)));
        }
        if changed {
            self.select(prefix, None);
        }
    }

    pub(super) fn sweep_requests(&mut self, prefix: NodeId) {
        let now = self.now;
        let mut again = Vec::new();
        let Some(entry) = self.entries.get_mut(&prefix) else {
            return;
        };
        entry.requests.retain_mut(|request| {
            if request.expires > now {
                return true;
            }
            if request.forwarded || request.count >= REQUEST_RETRIES {
                return false;
            }
            request.count += 1;
            let wait = REQUEST_EXPIRY.saturating_mul(1 << request.count);
            request.expires = request.expires.saturating_add(wait);
            again.push(*request);
            true
        });
        for request in again {
            self.send_request(prefix, request, None);
        }
    }

    pub(super) fn sweep_neighbour(&mut self, end: usize) {
        let now = self.now;
        let Some(neighbour) = self.neighbours.get_mut(&end) else {
            return;
        };
        if neighbour.ihu_expiry <= now {
            (neighbour.txcost, neighbour.ihu_expiry) = (INFINITY, SimTime::MAX);
            self.update_cost(end);
        }
        let Some(neighbour) = self.neighbours.get_mut(&end) else {
            return;
        };
        if neighbour.initial_expiry <= now {
            return self.forget(end);
        }
        if neighbour.hello_expiry > now {
            return;
        }
        loop {
            neighbour.map <<= 1;
            neighbour.count = (neighbour.count + 1).min(16);
            let step = neighbour.last_interval.max(Duration::from_millis(10));
            neighbour.hello_expiry = neighbour.hello_expiry.saturating_add(step);
            if neighbour.map == 0 || neighbour.hello_expiry > now {
                break;
            }
        }
        if neighbour.map == 0 {
            self.forget(end);
        } else {
            self.update_cost(end);
        }
    }
}
