"""ICMP echo requests, as `ping` sends them, from a raw socket: `echo.py ADDRESS COUNT`.

Prints the round trip in seconds and the TTL of each answer, and exits 1 if one is missing.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import time

INTERVAL_S = 0.2
PATIENCE_S = 2.0


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def main(host: str, count: int) -> int:
    """Send requests one after the other."""
    name = os.getpid() & 0xFFFF
    missing = 0
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        for number in range(count):
            body = struct.pack("!HH", name, number) + bytes(56)
            sum_ = checksum(b"\x08\x00\x00\x00" + body)
            began_s = time.monotonic()
            raw.sendto(struct.pack("!BBH", 8, 0, sum_) + body, (host, 0))
            found = None
            while found is None and (left_s := began_s + PATIENCE_S - time.monotonic()) > 0:
                raw.settimeout(left_s)
                try:
                    packet = raw.recv(2048)
                except TimeoutError:
                    break
                # An answer (type 0) to this request, after a header of 20 bytes.
                if packet[20] == 0 and packet[24:28] == body[:4]:
                    found = packet[8]
                    print(f"{time.monotonic() - began_s:.6f} {found}", flush=True)
            missing += found is None
            time.sleep(INTERVAL_S)
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
