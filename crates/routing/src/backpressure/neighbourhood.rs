//! The neighbours of a node of BP-MR, and those that a packet may take.

use std::sync::Arc;

use backlane_net::{Interface, NodeId};
use backlane_units::SimTime;

use super::shared::Shared;

/// A neighbour, the link to it, and the lengths of the queues at both ends.
#[derive(Clone, Copy)]
pub(super) struct Neighbour {
    pub(super) node: NodeId,
    pub(super) rate_bps: f64,
    /// Length of the node's queue that leads to it, in full packets.
    pub(super) queue_pkts: u32,
    /// Shortest queue among its interfaces that are up, as last reported or read.
    pub(super) shortest_queue_pkts: u32,
    /// Whether it forwards other nodes' packets.
    transit: bool,
    /// Whether it was valid when [`Neighbourhood::renew`] was last called.
    was_valid: bool,
    /// The neighbour is valid until this time, by its last HELLO.
    valid_until: Option<SimTime>,
}

impl Neighbour {
    #[inline]
    fn is_valid(&self, now: SimTime) -> bool {
        self.valid_until.is_some_and(|until| now <= until)
    }
}

/// Where a neighbour is, as seen by packets to one exit router.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Not valid, or it does not forward these packets.
    Closed,
    /// Closer to the exit router than the node.
    Closer,
    /// Not closer.
    Farther,
}

/// A neighbour that a packet may take.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) interface: usize,
    pub(super) neighbour: &'a Neighbour,
    /// Whether it is closer to the exit router than the node.
    pub(super) closer: bool,
}

/// The neighbours for packets to one exit router.
#[derive(Clone, Copy)]
pub(super) struct Ways<'a> {
    /// The first interface to the exit router itself.
    pub(super) direct: Option<usize>,
    /// The number of valid neighbours that are closer.
    pub(super) closer: usize,
    neighbours: &'a [Neighbour],
    places: &'a [Place],
}

impl<'a> Ways<'a> {
    /// The valid neighbours by interface.
    #[inline]
    pub(super) fn all(self) -> impl Iterator<Item = Way<'a>> + Clone {
        let neighbours = self.neighbours.iter().zip(self.places).enumerate();
        neighbours
            .filter(|&(_, (_, &place))| place != Place::Closed)
            .map(|(interface, (neighbour, &place))| Way {
                interface,
                neighbour,
                closer: place == Place::Closer,
            })
    }
}

/// What [`Ways`] keeps of an exit router beside the places of the neighbours.
#[derive(Clone, Copy)]
struct Exit {
    direct: Option<u16>,
    closer: u16,
}

/// The neighbours of a node by interface.
pub(super) struct Neighbourhood {
    node: NodeId,
    shared: Arc<Shared>,
    all: Vec<Neighbour>,
    /// Whether the links to all neighbours that forward packets have one rate.
    equal_rates: bool,
    /// Until then no valid neighbour falls silent.
    stable_until: SimTime,
    /// By column of the distances, for as many columns as were needed since a neighbour fell
    /// silent or returned.
    exits: Vec<Exit>,
    /// By column and interface, for the same columns.
    places: Vec<Place>,
}

impl Neighbourhood {
    pub(super) fn new(node: NodeId, shared: Arc<Shared>) -> Self {
        Self {
            node,
            shared,
            all: Vec::new(),
            equal_rates: true,
            stable_until: SimTime::MAX,
            exits: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Adds the neighbours. None is valid before its first HELLO.
    pub(super) fn start(&mut self, interfaces: &[Interface]) {
        let neighbour = |interface: &Interface| Neighbour {
            node: interface.peer,
            rate_bps: interface.rate.as_bps() as f64,
            queue_pkts: 0,
            shortest_queue_pkts: 0,
            transit: !self.shared.no_transit[interface.peer.index()],
            was_valid: false,
            valid_until: None,
        };
        self.all = interfaces.iter().map(neighbour).collect();
        let forwarding = self.all.iter().filter(|neighbour| neighbour.transit);
        let mut rates_bps = forwarding.map(|neighbour| neighbour.rate_bps);
        let first_bps = rates_bps.next();
        self.equal_rates = rates_bps.all(|rate_bps| Some(rate_bps) == first_bps);
    }

    /// The neighbour on an interface.
    #[inline]
    pub(super) fn get(&self, interface: usize) -> &Neighbour {
        &self.all[interface]
    }

    /// Whether the links to all neighbours that forward packets have one rate.
    #[inline]
    pub(super) fn have_equal_rates(&self) -> bool {
        self.equal_rates
    }

    /// Stores the length of the node's queue on an interface.
    #[inline]
    pub(super) fn set_queue(&mut self, interface: usize, length_pkts: u32) {
        self.all[interface].queue_pkts = length_pkts;
    }

    /// Reads the shortest queue of each neighbour as it is now.
    #[cold]
    pub(super) fn look_at_queues(&mut self) {
        for neighbour in &mut self.all {
            neighbour.shortest_queue_pkts = self.shared.shortest_queue_pkts(neighbour.node);
        }
    }

    /// Whether the neighbour is valid.
    #[inline]
    pub(super) fn is_valid(&self, now: SimTime, interface: usize) -> bool {
        self.all[interface].is_valid(now)
    }

    /// Whether the neighbour is valid and takes packets that leave the mesh at `exit`.
    #[inline]
    pub(super) fn takes(&self, now: SimTime, interface: usize, exit: NodeId) -> bool {
        let neighbour = &self.all[interface];
        neighbour.is_valid(now) && (neighbour.transit || neighbour.node == exit)
    }

    /// Stores a HELLO. Returns whether the neighbour was not valid until now.
    pub(super) fn on_hello(
        &mut self,
        now: SimTime,
        interface: usize,
        shortest_queue_pkts: u32,
        valid_until: SimTime,
    ) -> bool {
        let neighbour = &mut self.all[interface];
        let returned = !neighbour.is_valid(now);
        neighbour.shortest_queue_pkts = shortest_queue_pkts;
        neighbour.valid_until = Some(valid_until);
        if returned {
            self.renew(now);
        }
        returned
    }

    /// Finds the ways to an exit router at `now`, and its column for [`Self::ways`]. `None`: the
    /// router is not known.
    #[inline]
    pub(super) fn column(&mut self, now: SimTime, exit: NodeId) -> Option<usize> {
        let column = self.shared.distances.column(exit)?;
        if now > self.stable_until {
            self.renew(now);
        }
        if column >= self.exits.len() {
            self.find_ways(now, column);
        }
        Some(column)
    }

    /// The neighbours for packets to the exit router of a column, as [`Self::column`] has found
    /// them.
    #[inline]
    pub(super) fn ways(&self, column: usize) -> Ways<'_> {
        let exit = self.exits[column];
        let count = self.all.len();
        Ways {
            direct: exit.direct.map(usize::from),
            closer: usize::from(exit.closer),
            neighbours: &self.all,
            places: &self.places[column * count..][..count],
        }
    }

    /// The numbers of links to the exit router of a column, by node.
    pub(super) fn hops(&self, column: usize) -> &[u16] {
        self.shared.distances.by_column(column)
    }

    /// Drops all ways if a neighbour has fallen silent or returned.
    #[cold]
    fn renew(&mut self, now: SimTime) {
        let mut changed = false;
        self.stable_until = SimTime::MAX;
        for neighbour in &mut self.all {
            let valid = neighbour.is_valid(now);
            changed |= valid != neighbour.was_valid;
            neighbour.was_valid = valid;
            if let Some(until) = neighbour.valid_until.filter(|_| valid) {
                self.stable_until = self.stable_until.min(until);
            }
        }
        if changed {
            self.exits.clear();
            self.places.clear();
        }
    }

    /// Finds the ways for all columns up to this one.
    #[cold]
    fn find_ways(&mut self, now: SimTime, column: usize) {
        for column in self.exits.len()..=column {
            let node = self.shared.distances.exits()[column];
            let mut exit = Exit {
                direct: None,
                closer: 0,
            };
            for interface in 0..self.all.len() {
                let place = self.place(now, interface, column);
                if place != Place::Closed && self.all[interface].node == node {
                    exit.direct = exit.direct.or(Some(interface as u16));
                }
                exit.closer += u16::from(place == Place::Closer);
                self.places.push(place);
            }
            self.exits.push(exit);
        }
    }

    fn place(&self, now: SimTime, interface: usize, column: usize) -> Place {
        let hops = self.hops(column);
        if !self.takes(now, interface, self.shared.distances.exits()[column]) {
            Place::Closed
        } else if hops[self.all[interface].node.index()] < hops[self.node.index()] {
            Place::Closer
        } else {
            Place::Farther
        }
    }
}
