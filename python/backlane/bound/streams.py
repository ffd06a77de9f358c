"""The random streams of a run, for what a run draws before its first packet.

Starts, sizes and places are drawn from streams that are named by entity and purpose
(`crates/engine/src/stream.rs`): xoshiro256++ (Blackman and Vigna 2019), whose state is SipHash-2-4
(Aumasson and Bernstein 2012) of the names under the seed. The same draws are made here, so that the
bound is that of the run with the seed.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

_MASK = (1 << 64) - 1


def _rotated(value: int, by: int) -> int:
    return ((value << by) | (value >> (64 - by))) & _MASK


def siphash24(key: tuple[int, int], message: bytes) -> int:
    """SipHash-2-4 of a message."""
    v0, v1 = key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D
    v2, v3 = key[0] ^ 0x6C7967656E657261, key[1] ^ 0x7465646279746573

    def rounds(count: int) -> None:
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0 = (v0 + v1) & _MASK
            v1 = _rotated(v1, 13) ^ v0
            v0 = _rotated(v0, 32)
            v2 = (v2 + v3) & _MASK
            v3 = _rotated(v3, 16) ^ v2
            v0 = (v0 + v3) & _MASK
            v3 = _rotated(v3, 21) ^ v0
            v2 = (v2 + v1) & _MASK
            v1 = _rotated(v1, 17) ^ v2
            v2 = _rotated(v2, 32)

    whole = len(message) - len(message) % 8
    last = message[whole:].ljust(7, b"\0") + bytes([len(message) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", message[:whole] + last):
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 0xFF
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3


class Stream:
    """One random stream."""

    def __init__(self, state: list[int]) -> None:
        self._state = state

    def next_u64(self) -> int:
        """The next 64 random bits."""
        s = self._state
        value = (_rotated((s[0] + s[3]) & _MASK, 23) + s[0]) & _MASK
        shifted = (s[1] << 17) & _MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = _rotated(s[3], 45)
        return value

    def uniform(self) -> float:
        """Uniform in [0, 1)."""
        return (self.next_u64() >> 11) * 2.0**-53

    def uniform_below(self, n: int) -> int:
        """Uniform among 0, 1, …, n - 1 (Lemire 2019)."""
        product = self.next_u64() * n
        if product & _MASK < n:
            threshold = (-n & _MASK) % n
            while product & _MASK < threshold:
                product = self.next_u64() * n
        return product >> 64

    def exponential(self, mean: float) -> float:
        """Exponential with a mean."""
        return -mean * math.log1p(-self.uniform())


@dataclass(frozen=True)
class Streams:
    """The streams of the run with a seed."""

    seed: int

    def stream(self, entity: str, purpose: str) -> Stream:
        """The stream of an entity for a purpose."""
        name = entity.encode()
        message = struct.pack("<Q", len(name)) + name + purpose.encode()
        return Stream([siphash24((self.seed, lane), message) for lane in range(4)])


class SplitMix:
    """The draws of the ends of a flow group (`crates/scenario/src/topology/draws.rs`)."""

    def __init__(self, group: int, seed: int) -> None:
        self._state = ~seed & _MASK
        self._state = self._next() ^ group
        self._state = self._next()

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def some(self, of: list[str], count: int) -> list[str]:
        """Some of these, none twice, in the order in which they are drawn."""
        of = list(of)
        count = min(count, len(of))
        for place in range(count):
            other = place + ((self._next() * (len(of) - place)) >> 64)
            of[place], of[other] = of[other], of[place]
        return of[:count]
