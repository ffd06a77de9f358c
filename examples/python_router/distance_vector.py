"""Distance vectors (RIP, RFC 2453): messages, timers, and a way around failures."""

import json

from backlane import Packet, Router, RouterContext


class DistanceVector(Router):
    """Every node sends its distances to its neighbours, and forwards to the nearest one."""

    period_s = 1.0
    infinity = 16  # RFC 2453 §3.6
    lifetime_periods = 6  # RFC 2453 §3.8: 180 s for updates every 30 s

    def start(self, context: RouterContext) -> None:
        # The vector of each neighbour, and when it was received.
        self.vectors: dict[str, tuple[float, dict[str, int]]] = {}
        self.routes: dict[str, tuple[int, str]] = {}
        context.set_timer(self.random.uniform(0, self.period_s))

    def on_message(self, context: RouterContext, neighbour: str, message: bytes) -> None:
        self.vectors[neighbour] = (context.now_s, json.loads(message))
        self.update(context)

    def on_timer(self, context: RouterContext, name: str) -> None:
        self.update(context)
        for neighbour in context.neighbours:
            # Split horizon: no neighbour learns the routes that lead over it.
            vector = {to: hops for to, (hops, via) in self.routes.items() if via != neighbour}
            context.send(neighbour, json.dumps({context.node: 0, **vector}).encode())
        context.set_timer(self.period_s)

    def update(self, context: RouterContext) -> None:
        oldest_s = context.now_s - self.lifetime_periods * self.period_s
        self.routes = {}
        for neighbour, (at_s, vector) in sorted(self.vectors.items()):
            for to, hops in vector.items() if at_s > oldest_s else ():
                known, _ = self.routes.get(to, (self.infinity, ""))
                if to != context.node and hops + 1 < known:
                    self.routes[to] = (hops + 1, neighbour)

    def next_hop(self, context: RouterContext, packet: Packet) -> str | None:
        _, neighbour = self.routes.get(packet.exit, (0, None))
        return neighbour
