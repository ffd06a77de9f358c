"""Shortest paths, and a hot potato: packets avoid long queues."""

from backlane import NetworkMap, Packet, Router, RouterContext


def hops_to(network: NetworkMap, node: str) -> dict[str, int]:
    """The number of links from every router to `node`."""
    hops = {node: 0}
    reached = [node]
    for near in reached:
        for link in network.links(near):
            if link.neighbour not in hops:
                hops[link.neighbour] = hops[near] + 1
                reached.append(link.neighbour)
    return hops


class ShortestPath(Router):
    """Fewest links; of equal paths, over the neighbour that is first in the scenario."""

    def start(self, context: RouterContext) -> None:
        self.routes: dict[str, str] = {}
        self.order = {node: place for place, node in enumerate(context.map.nodes)}

    def next_hop(self, context: RouterContext, packet: Packet) -> str | None:
        if packet.exit not in self.routes:
            hops = hops_to(context.map, packet.exit)
            near = [name for name in context.neighbours if name in hops]
            self.routes[packet.exit] = min(near, key=lambda name: (hops[name], self.order[name]))
        return self.routes[packet.exit]


class HotPotato(Router):
    """The neighbour over which the packet is expected to arrive first (Baran 1964).

    Each further link counts as `hop_s`. Packets leave the shortest path while its queue is long.
    """

    hop_s = 0.01

    def start(self, context: RouterContext) -> None:
        self.hops: dict[str, dict[str, int]] = {}

    def next_hop(self, context: RouterContext, packet: Packet) -> str | None:
        if packet.exit not in self.hops:
            self.hops[packet.exit] = hops_to(context.map, packet.exit)
        hops = self.hops[packet.exit]

        def expected_s(name: str) -> float:
            link = context.neighbours[name]
            queue_s = (link.backlog_pkts + 1) * packet.size_bytes * 8 / link.rate_bps
            return queue_s + link.delay_s + hops[name] * self.hop_s

        up = [name for name, link in context.neighbours.items() if link.has_carrier]
        onward = [name for name in up if name in hops and name != packet.previous]
        return min(onward or up, key=expected_s, default=None)
