"""Binary fuse filters: sets of 64-bit keys in little more than 8 or 16 bits a key, with false positives.

The algorithm is from T. M. Graf and D. Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters"
(ACM Journal of Experimental Algorithmics 27, 2022, https://doi.org/10.1145/3510449), with three positions per
key. No package has it for every supported Python: pyfusefilter has no wheels for Python 3.12 or newer, nor
for ARM.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_CODES = {8: "B", 16: "H"}
"""The codes of `struct` by the size of a fingerprint in bits."""
_U64 = 2**64 - 1
_SEED_STEP = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio: the seeds differ in many bits


@dataclass(frozen=True, slots=True)
class FuseFilter:
    """A filter; every key that it was built from is in it, and one in 2^bits of all others too.

    `fingerprints` has (segment_count + 2) * segment_length values of `bits` bits, little-endian.
    """

    bits: int
    entries: int
    seed: int
    segment_length: int
    segment_count: int
    fingerprints: bytes

    def __contains__(self, key: int) -> bool:
        """Return whether the filter contains the key."""
        digest = _mix(key, self.seed)
        found = _fingerprint(digest, self.bits)
        width = self.bits // 8
        for position in _positions(digest, self.segment_length, self.segment_count):
            found ^= int.from_bytes(self.fingerprints[position * width : (position + 1) * width], "little")
        return found == 0


def build(keys: Iterable[int], bits: int) -> FuseFilter:
    """Return the filter of these keys, which are 64-bit numbers; the same keys make the same filter.

    It takes about six seconds of processor time for a million keys.
    """
    distinct = sorted(set(keys))
    length, count = _dimensions(len(distinct))
    seed = 0
    while True:
        seed = seed + _SEED_STEP & _U64
        peeled = _peel([_mix(key, seed) for key in distinct], length, count)
        if peeled is not None:
            fingerprints = _assign(*peeled, bits, length, count)
            return FuseFilter(bits, len(distinct), seed, length, count, fingerprints)


def _dimensions(entries: int) -> tuple[int, int]:
    """Return the length and the number of the segments in which a key's first position may be (paper, 4)."""
    if entries < 2:  # noqa: PLR2004 -- the logarithm of 1 is 0
        return 4, 1
    length = min(1 << math.floor(math.log(entries) / math.log(3.33) + 2.25), 1 << 18)
    factor = max(1.125, 0.875 + 0.25 * math.log(1_000_000) / math.log(entries))
    return length, max(-(-round(entries * factor) // length) - 2, 1)


def _mix(key: int, seed: int) -> int:
    """Return a 64-bit hash of the key: the finalizer of MurmurHash3."""
    digest = (key + seed) & _U64
    digest = (digest ^ digest >> 33) * 0xFF51AFD7ED558CCD & _U64
    digest = (digest ^ digest >> 33) * 0xC4CEB9FE1A85EC53 & _U64
    return digest ^ digest >> 33


def _positions(digest: int, segment_length: int, segment_count: int) -> tuple[int, int, int]:
    """Return one position in each of three adjacent segments."""
    first = digest * (segment_count * segment_length) >> 64
    mask = segment_length - 1
    return (
        first,
        first + segment_length ^ digest >> 18 & mask,
        first + 2 * segment_length ^ digest & mask,
    )


def _fingerprint(digest: int, bits: int) -> int:
    return (digest ^ digest >> 32) & ((1 << bits) - 1)


def _peel(
    digests: Sequence[int], segment_length: int, segment_count: int
) -> tuple[array[int], array[int]] | None:
    """Return the digests and their own positions, in the order in which they can be removed one by one.

    A digest can be removed once one of its positions is not shared with another. None means that some cannot.
    """
    size = (segment_count + 2) * segment_length
    counts, sums = (
        bytearray(size),
        array("Q", bytes(8 * size)),
    )  # per position: how many digests, and their XOR
    for digest in digests:
        for position in _positions(digest, segment_length, segment_count):
            counts[position] += 1
            sums[position] ^= digest
    removed, owners = array("Q"), array("L")
    single = [position for position in range(size) if counts[position] == 1]
    while single:
        owner = single.pop()
        if counts[owner] != 1:
            continue
        digest = sums[owner]
        removed.append(digest)
        owners.append(owner)
        for position in _positions(digest, segment_length, segment_count):
            counts[position] -= 1
            sums[position] ^= digest
            if counts[position] == 1:
                single.append(position)
    return (removed, owners) if len(removed) == len(digests) else None


def _assign(
    removed: array[int], owners: array[int], bits: int, segment_length: int, segment_count: int
) -> bytes:
    """Return fingerprints whose XOR at the positions of each digest is its fingerprint."""
    size = (segment_count + 2) * segment_length
    values = array("H", bytes(2 * size))
    # In reverse, because no digest that was removed later has the position by which this one was removed.
    for index in reversed(range(len(removed))):
        digest = removed[index]
        value = _fingerprint(digest, bits)
        for position in _positions(digest, segment_length, segment_count):
            value ^= values[position]  # the value of the owner is still 0
        values[owners[index]] = value
    return struct.pack(f"<{size}{_CODES[bits]}", *values)
