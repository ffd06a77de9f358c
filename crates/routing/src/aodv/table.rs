//! The routing table of AODV: when a route is replaced, its lifetime and its precursors (RFC 3561
//! §6.2).
//!
//! Sequence numbers keep routes free of loops. A route is replaced only by one with a greater
//! number, or by a shorter one with the same; and the number that this node keeps for a destination
//! grows each time a route to it ends here, for any reason, so that no node whose route passes this
//! one can offer the old route back. In the RFC the number grows when a link breaks. In ns-2 and
//! here it also grows when a route expires: a neighbour may keep a route through this node slightly
//! longer than this node does.

use backlane_net::NodeId;
use backlane_units::{Duration, SimTime};

/// Whether a sequence number is greater than another: as signed difference, so that they may
/// roll over (RFC 3561 §6.1).
pub(super) fn newer(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

/// A path to a destination, as reported by a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub sequence: u32,
    pub interface: usize,
    pub hops: u8,
    /// The metric by which routes are compared: hops, or the sum of the links' ETX.
    pub cost: u32,
    pub until: SimTime,
}

/// A route to a destination, active or ended.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// The destination's sequence number; a neighbour that sent only packets has none.
    pub sequence: Option<u32>,
    /// Whether it may be used.
    pub active: bool,
    pub interface: usize,
    pub hops: u8,
    pub cost: u32,
    /// When it stops being active, or when the ended entry is deleted.
    pub until: SimTime,
    /// The precursors: neighbours that send by this route, in order.
    pub precursors: Vec<NodeId>,
}

impl Route {
    /// Ends the route at a given time. `reported` is the sequence number of a received error.
    fn end(&mut self, at: SimTime, rules: Rules, reported: Option<u32>) {
        self.active = false;
        self.until = at.saturating_add(rules.delete_period);
        if !rules.renews_sequence {
            return;
        }
        let own = self.sequence.map(|sequence| sequence.wrapping_add(1));
        self.sequence = match (own, reported) {
            (Some(own), Some(reported)) if newer(own, reported) => Some(own),
            (own, reported) => reported.or(own),
        };
    }

    /// Adds a precursor.
    pub fn add_precursor(&mut self, node: NodeId) {
        if let Err(at) = self.precursors.binary_search(&node) {
            self.precursors.insert(at, node);
        }
    }
}

/// What happens to a route that ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// How long its sequence number is kept.
    pub delete_period: Duration,
    /// Whether this number grows.
    pub renews_sequence: bool,
}

/// Routes by destination.
#[derive(Debug)]
pub(super) struct Table {
    routes: Vec<Option<Route>>,
    rules: Rules,
}

impl Table {
    pub fn new(rules: Rules) -> Self {
        Self {
            routes: Vec::new(),
            rules,
        }
    }

    /// The entry for a node, active or not.
    #[inline]
    pub fn get(&mut self, now: SimTime, destination: NodeId) -> Option<&mut Route> {
        let place = self.routes.get_mut(destination.index())?;
        let route = place.as_mut()?;
        if route.until <= now {
            if route.active {
                route.end(route.until, self.rules, None);
            }
            if route.until <= now {
                *place = None;
            }
        }
        place.as_mut()
    }

    /// The route to a node that may be used now.
    #[inline]
    pub fn active(&mut self, now: SimTime, destination: NodeId) -> Option<&mut Route> {
        self.get(now, destination).filter(|route| route.active)
    }

    /// The interface of the active route, without updating the table.
    pub fn peek(&self, now: SimTime, destination: NodeId) -> Option<usize> {
        let route = self.routes.get(destination.index())?.as_ref()?;
        (route.active && route.until > now).then_some(route.interface)
    }

    /// Installs a route if it is newer than the present one, or as new and better (RFC 3561 §6.2,
    /// §6.7). Returns whether it did.
    pub fn offer(&mut self, now: SimTime, destination: NodeId, offer: &Offer) -> bool {
        let known = self.get(now, destination);
        let accepted = match &known {
            None => true,
            Some(route) => match route.sequence {
                None => true,
                Some(known) if known == offer.sequence => !route.active || offer.cost < route.cost,
                Some(known) => newer(offer.sequence, known),
            },
        };
        if accepted {
            let precursors =
                known.map_or_else(Vec::new, |route| std::mem::take(&mut route.precursors));
            self.put(
                destination,
                Route {
                    sequence: Some(offer.sequence),
                    active: true,
                    interface: offer.interface,
                    hops: offer.hops,
                    cost: offer.cost,
                    until: offer.until,
                    precursors,
                },
            );
        }
        accepted
    }

    /// A packet came from a neighbour: installs the route of one hop to it, regardless of its
    /// sequence number (RFC 3561 §6.2). A route that is as good stays.
    pub fn meet(
        &mut self,
        now: SimTime,
        neighbour: NodeId,
        interface: usize,
        cost: u32,
        until: SimTime,
    ) {
        match self.get(now, neighbour) {
            Some(route) if route.active && route.cost <= cost => {
                if route.hops == 1 {
                    route.until = route.until.max(until);
                }
            }
            Some(route) => {
                route.until = if route.active {
                    route.until.max(until)
                } else {
                    until
                };
                route.active = true;
                route.interface = interface;
                route.hops = 1;
                route.cost = cost;
            }
            None => self.put(
                neighbour,
                Route {
                    sequence: None,
                    active: true,
                    interface,
                    hops: 1,
                    cost,
                    until,
                    precursors: Vec::new(),
                },
            ),
        }
    }

    /// An active route is in use: extends its lifetime to at least `until`.
    #[inline]
    pub fn refresh(&mut self, now: SimTime, destination: NodeId, until: SimTime) {
        if let Some(route) = self.active(now, destination) {
            route.until = route.until.max(until);
        }
    }

    /// Ends an active route now; `reported` is the destination's sequence number in a RERR. Returns
    /// the new sequence number, zero if there is none.
    pub fn end(&mut self, now: SimTime, destination: NodeId, reported: Option<u32>) -> u32 {
        let rules = self.rules;
        match self.active(now, destination) {
            Some(route) => {
                route.end(now, rules, reported);
                route.sequence.unwrap_or(0)
            }
            None => 0,
        }
    }

    /// Destinations with an active route through an interface, in order.
    pub fn through(&self, now: SimTime, interface: usize) -> Vec<NodeId> {
        self.active_nodes(now)
            .filter(|(_, route)| route.interface == interface)
            .map(|(node, _)| node)
            .collect()
    }

    fn active_nodes(&self, now: SimTime) -> impl Iterator<Item = (NodeId, &Route)> {
        let routes = self.routes.iter().enumerate();
        routes.filter_map(move |(node, route)| {
            let route = route.as_ref()?;
            (route.active && route.until > now).then_some((NodeId(node as u32), route))
        })
    }

    fn put(&mut self, destination: NodeId, route: Route) {
        let index = destination.index();
        if self.routes.len() <= index {
            self.routes.resize(index + 1, None);
        }
        self.routes[index] = Some(route);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId(3);

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Duration::from_millis(ms)
    }

    fn table() -> Table {
        Table::new(Rules {
            delete_period: Duration::from_secs(15),
            renews_sequence: true,
        })
    }

    fn offer(sequence: u32, interface: usize, hops: u8) -> Offer {
        Offer {
            sequence,
            interface,
            hops,
            cost: u32::from(hops),
            until: at(3000),
        }
    }

    #[test]
    fn a_newer_route_replaces_a_better_one_and_an_older_one_never_does() {
        let mut table = table();
        assert!(table.offer(at(0), NODE, &offer(5, 0, 2)));
        assert!(table.offer(at(0), NODE, &offer(6, 1, 9)));
        assert!(!table.offer(at(0), NODE, &offer(5, 2, 1)));
        assert_eq!(table.peek(at(0), NODE), Some(1));
    }

    #[test]
    fn an_equally_new_route_replaces_only_a_longer_or_an_ended_one() {
        let mut table = table();
        assert!(table.offer(at(0), NODE, &offer(5, 0, 3)));
        assert!(!table.offer(at(0), NODE, &offer(5, 1, 3)));
        assert!(table.offer(at(0), NODE, &offer(5, 1, 2)));
        table.end(at(1), NODE, None);
        assert!(
            !table.offer(at(2), NODE, &offer(5, 2, 1)),
            "its number grew"
        );
        assert!(table.offer(at(2), NODE, &offer(6, 2, 7)));
    }

    #[test]
    fn sequence_numbers_are_compared_across_the_wrap_around() {
        assert!(newer(0, u32::MAX));
        assert!(newer(3, u32::MAX - 3));
        assert!(!newer(u32::MAX, 0));
        assert!(!newer(4, 4));
        let mut table = table();
        assert!(table.offer(at(0), NODE, &offer(u32::MAX, 0, 2)));
        assert!(table.offer(at(0), NODE, &offer(0, 1, 5)));
        assert!(!table.offer(at(0), NODE, &offer(u32::MAX, 0, 1)));
    }

    #[test]
    fn a_route_expires_and_is_deleted_after_the_delete_period() {
        let mut table = table();
        table.offer(at(0), NODE, &offer(5, 0, 2));
        assert!(table.active(at(2999), NODE).is_some());
        assert!(table.active(at(3000), NODE).is_none());
        let left = table.get(at(3000), NODE).map(|route| route.sequence);
        assert_eq!(left, Some(Some(6)));
        assert!(table.get(at(17_999), NODE).is_some());
        assert!(table.get(at(18_000), NODE).is_none());
    }

    #[test]
    fn use_extends_an_active_route_and_does_not_revive_an_ended_one() {
        let mut table = table();
        table.offer(at(0), NODE, &offer(5, 0, 2));
        table.refresh(at(2000), NODE, at(5000));
        // RFC 3561 §6.2: the lifetime becomes the maximum of its present value and the one for a
        // route in use.
        table.refresh(at(2500), NODE, at(4000));
        assert!(table.active(at(4999), NODE).is_some());
        table.refresh(at(5000), NODE, at(9000));
        assert!(table.active(at(5000), NODE).is_none());
    }

    #[test]
    fn the_sequence_number_of_an_error_is_stored_unless_it_is_smaller() {
        let mut table = table();
        table.offer(at(0), NODE, &offer(5, 0, 2));
        assert_eq!(table.end(at(1), NODE, Some(9)), 9);
        table.offer(at(1), NODE, &offer(9, 0, 2));
        assert_eq!(table.end(at(2), NODE, Some(4)), 10);
        assert_eq!(table.end(at(3), NODE, Some(40)), 0, "it has ended already");
    }

    #[test]
    fn a_neighbour_is_one_hop_away_and_keeps_its_number() {
        let mut table = table();
        table.meet(at(0), NODE, 1, 1, at(3000));
        let route = table.active(at(0), NODE).unwrap();
        assert_eq!((route.sequence, route.hops), (None, 1));
        assert!(
            table.offer(at(0), NODE, &offer(7, 2, 4)),
            "a known number beats none"
        );
        table.meet(at(1000), NODE, 1, 1, at(4000));
        let route = table.active(at(3500), NODE).unwrap();
        assert_eq!(
            (route.sequence, route.hops, route.interface),
            (Some(7), 1, 1)
        );
    }

    #[test]
    fn precursors_stay_when_a_route_is_replaced() {
        let mut table = table();
        table.offer(at(0), NODE, &offer(5, 0, 2));
        for node in [8, 4, 8] {
            table
                .active(at(0), NODE)
                .unwrap()
                .add_precursor(NodeId(node));
        }
        table.offer(at(0), NODE, &offer(6, 1, 2));
        let route = table.active(at(0), NODE).unwrap();
        assert_eq!(route.precursors, [NodeId(4), NodeId(8)]);
    }
}
