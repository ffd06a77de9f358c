"""The TCP sockets of a host, as `ss` prints them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backlane.emulate.namespaces import Host

_NUMBER = re.compile(r"\b(cwnd|ssthresh|rtt|bytes_acked|retrans):([\d./]+)")
_PATIENCE_S = 1.0


@dataclass(frozen=True)
class Socket:
    """An established connection.

    Attributes:
        local: address and port here.
        peer: address and port there.
        congestion_control: its name.
        cwnd_pkts: the congestion window.
        ssthresh_pkts: the slow-start threshold; None before the first reduction.
        srtt_s: the smoothed RTT.
        acked_bytes: what the peer has acknowledged.
        retransmits: segments sent again.
    """

    local: str
    peer: str
    congestion_control: str
    cwnd_pkts: int
    ssthresh_pkts: int | None
    srtt_s: float
    acked_bytes: int
    retransmits: int


def of(host: Host) -> list[Socket]:
    """The connections of a host; none where `ss` is missing or does not answer."""
    if shutil.which("ss") is None:
        return []
    words = ["ss", "-N", host.namespace, "-tinHO", "state", "established"]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [found for line in done.stdout.splitlines() if (found := parsed(line))]


def parsed(line: str) -> Socket | None:
    """A socket of a line of `ss -tinHO state established`; None if it has no congestion window."""
    words = line.split()
    numbers = dict(_NUMBER.findall(line))
    if len(words) < 5 or "cwnd" not in numbers:
        return None
    _, _, local, peer, *more = words
    threshold = numbers.get("ssthresh")
    return Socket(
        local,
        peer,
        # After the options of the header and of the connection, such as "ts sack ecn cubic".
        next((word for word in more if word not in _OPTIONS and word.isidentifier()), ""),
        int(numbers["cwnd"]),
        None if threshold is None else int(threshold),
        float(numbers.get("rtt", "0").split("/")[0]) / 1e3,
        int(numbers.get("bytes_acked", 0)),
        int(numbers.get("retrans", "0/0").split("/")[-1]),
    )


_OPTIONS = {"ts", "sack", "ecn", "ecnseen", "fastopen", "cc"}
