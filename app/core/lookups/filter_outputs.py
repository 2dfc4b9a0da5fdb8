"""The outputs of an OPRF for the hashes of a company filter; only those of new companies are computed.

An output takes about 0.1 ms of processor time, so those of a million companies take minutes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from app.domain.company_filter_file import key_of
from app.infra.oprf import OprfKey

_PUBLIC_BYTES = 32


class KeyedOutputs(NamedTuple):
    """The filter keys of hashes, ascending, and at the same positions those of their outputs."""

    hashes: array[int]
    outputs: array[int]

    def encode(self, public_key: bytes) -> bytes:
        """Return what `decode` reads."""
        return public_key + self.hashes.tobytes() + self.outputs.tobytes()


def decode(stored: bytes | None, public_key: bytes) -> KeyedOutputs:
    """Return the stored outputs; none if there are none of this public key."""
    if stored is None or stored[:_PUBLIC_BYTES] != public_key:
        return KeyedOutputs(array("Q"), array("Q"))
    middle = _PUBLIC_BYTES + (len(stored) - _PUBLIC_BYTES) // 2
    return KeyedOutputs(array("Q", stored[_PUBLIC_BYTES:middle]), array("Q", stored[middle:]))


def of_hashes(digests: Iterable[bytes], key: OprfKey, known: KeyedOutputs) -> KeyedOutputs:
    """Return the outputs of these 32-byte hashes; those of known ones are not computed again."""
    pairs = {}
    for digest in digests:
        short = key_of(digest)
        position = bisect_left(known.hashes, short)
        if position < len(known.hashes) and known.hashes[position] == short:
            pairs[short] = known.outputs[position]
        else:
            pairs[short] = key_of(key.output(digest))
    hashes = array("Q", sorted(pairs))
    return KeyedOutputs(hashes, array("Q", [pairs[short] for short in hashes]))
