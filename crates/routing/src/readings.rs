//! The names of what routers measure ([`backlane_net::Router::readings`]).

/// Packets dropped from full queues before they left their first router.
pub const OVERFLOW_AT_SOURCE: &str = "overflow_at_source";
/// Packets dropped from full queues elsewhere.
pub const OVERFLOW_IN_TRANSIT: &str = "overflow_in_transit";
/// Route discoveries begun.
pub const ROUTE_DISCOVERIES: &str = "route_discoveries";
/// Broken routes repaired locally.
pub const ROUTE_REPAIRS: &str = "route_repairs";
/// Neighbours considered lost.
pub const LINK_FAILURES: &str = "link_failures";
/// Routers to which there is a route (OSPF, batman-adv).
pub const ROUTES: &str = "routes";
/// Those of them that fast reroute protects.
pub const PROTECTED_ROUTES: &str = "protected_routes";
/// Packets that have now been in the router's queues for more than 10 s.
pub const TRAPPED_PKTS: &str = "trapped_pkts";
/// The time that packets spent there beyond 10 s, summed over packets, in packet-picoseconds.
pub const TRAPPED_AREA: &str = "trapped_area";

/// A measured value by name; zero if the router has none of this name.
pub fn reading(readings: &[backlane_net::Reading], name: &str) -> u128 {
    let mut readings = readings.iter();
    readings
        .find(|(other, _)| *other == name)
        .map_or(0, |&(_, value)| value)
}
