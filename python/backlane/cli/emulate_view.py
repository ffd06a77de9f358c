"""What `backlane emulate` shows while the clock runs: links, hosts' TCP sockets, lateness."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from backlane.cli import output
from backlane.emulate import sockets
from backlane.text import rate, seconds

if TYPE_CHECKING:
    from types import TracebackType

    from rich.live import Live
    from rich.table import Table

    from backlane._native import EmulationView
    from backlane.emulate.session import Session
    from backlane.emulate.sockets import Socket

EVERY_S = 1.0
MOST_LINKS = 12
MOST_SOCKETS = 12
_MOST_HOSTS = 16


class View:
    """A table that is drawn again every second on a terminal; otherwise a line every ten.

    Args:
        session: the emulation.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._live: Live | None = None
        self._before: EmulationView | None = None
        self._shown_s = self._line_s = time.monotonic()
        self._warned = 0

    def __enter__(self) -> View:
        if sys.stderr.isatty() and not output.state.quiet:
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, no_color=not output.colored(sys.stderr))
            self._live = Live(console=console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, now: EmulationView) -> None:
        """Show an instant; called more often than it draws."""
        if now.behind_periods > self._warned:
            self._warned = now.behind_periods
            output.error(
                "warning: the model does not keep up with the wall clock: its events were late by "
                "more than 10 ms for more than 1 s"
            )
        at_s = time.monotonic()
        if at_s - self._shown_s < EVERY_S or not now.links:
            return
        before, self._before, self._shown_s = self._before, now, at_s
        if before is None or now.now_s <= before.now_s:
            return
        if self._live is not None:
            hosts = self._session.hosts[:_MOST_HOSTS]
            found = [(host.name, socket) for host in hosts for socket in sockets.of(host)]
            self._live.update(self.drawn(before, now, found), refresh=True)
        elif at_s - self._line_s >= output.LINE_EVERY_S or output.state.verbose:
            self._line_s = at_s
            output.say(self.line(now))

    def line(self, now: EmulationView) -> str:
        """An instant in a line."""
        passed = max(now.now_s - self._session.warm_up_s, 0.0)
        whole = self._session.end_s - self._session.warm_up_s
        late = "" if now.late_p99_s is None else f"; lateness {seconds(now.late_p99_s)} p99"
        return (
            f"{passed:.0f} of {whole:.0f} s: {now.received_pkts} packets from hosts, "
            f"{now.delivered_pkts} to hosts{late}"
        )

    def drawn(
        self, before: EmulationView, now: EmulationView, found: list[tuple[str, Socket]]
    ) -> Table:
        """The table of an interval: the links that carried most, and the sockets."""
        from rich.table import Table

        table = Table(title=output.clean_line(self.line(now)), title_justify="left", box=None)
        for heading in ("link", "rate", "of", "queue", "dropped"):
            table.add_column(heading, justify="left" if heading == "link" else "right")
        for name, row in self.busiest(before, now):
            table.add_row(output.clean_line(name), *row)
        for host, one in found[:MOST_SOCKETS]:
            table.add_row(
                output.clean_line(f"{host}: {one.local} → {one.peer}"),
                one.congestion_control, f"cwnd {one.cwnd_pkts}", f"RTT {seconds(one.srtt_s)}",
                f"{one.retransmits} again",
            )  # fmt: skip
        return table

    def busiest(
        self, before: EmulationView, now: EmulationView
    ) -> list[tuple[str, tuple[str, str, str, str]]]:
        """The links that carried most in an interval, with a row of text each."""
        span_s = now.now_s - before.now_s
        numbered = []
        pairs = zip(self._session.links, before.links, now.links, strict=True)
        for (source, sink), was, is_ in pairs:
            sent, (_, queued, drops, capacity) = is_[0] - was[0], is_
            row = (
                rate(8 * sent / span_s), rate(float(capacity)), f"{queued / 1e3:.1f} kB",
                str(drops),
            )  # fmt: skip
            numbered.append((sent, f"{source} → {sink}", row))
        numbered.sort(key=lambda one: -one[0])
        return [(name, row) for sent, name, row in numbered[:MOST_LINKS] if sent > 0]
