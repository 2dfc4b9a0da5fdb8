"""The oblivious pseudorandom function that keys the company filter: VOPRF(ristretto255, SHA-512) of RFC 9497.

A client learns the output of its input from the server, which does not learn the input. The proof shows that
the output belongs to the public key, so that no caller can be given outputs of a key of their own.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from voprf import ristretto

from app.domain.errors import FilterKeyUnknown
from app.settings import Settings

KEY_INFO = b"company filter"
ELEMENT_BYTES = 32
ID_BYTES = 8
_STORAGE_INFO = b"stored card keys"
_NONCE_BYTES = 12
_PROOF_BYTES = 64


class InvalidElement(ValueError):  # noqa: N818 -- the name states the fault
    """The bytes at position `index` are not an element of the group, or are its identity (RFC 9497, 3.3)."""

    def __init__(self, index: int) -> None:
        super().__init__(f"element {index} is invalid")
        self.index = index


class Evaluation(NamedTuple):
    """Evaluated elements of 32 bytes in the order of the blinded ones, and one proof of 64 bytes for all."""

    elements: tuple[bytes, ...]
    proof: bytes


@dataclass(frozen=True, slots=True)
class OprfKey:
    """A private key, with its public key of 32 bytes."""

    public: bytes
    _evaluator: ristretto.Evaluator = field(repr=False, compare=False)
    _storage: AESGCM = field(repr=False, compare=False)

    @classmethod
    def derive(cls, seed: bytes, info: bytes = KEY_INFO) -> OprfKey:
        """Return the key of a secret seed of 32 bytes (DeriveKeyPair, RFC 9497, 3.2.1)."""
        evaluator = ristretto.Evaluator.from_seed(seed, info)
        storage_key = HKDF(SHA256(), 32, None, _STORAGE_INFO).derive(seed)
        return cls(evaluator.public_key.serialize(), evaluator, AESGCM(storage_key))

    @property
    def id(self) -> bytes:
        """The first bytes of the public key, by which stored rows name it."""
        return self.public[:ID_BYTES]

    def output(self, message: bytes) -> bytes:
        """Return the 64 bytes that a client gets for this input (Evaluate, RFC 9497, 3.3.2)."""
        return self._evaluator.evaluate_known_input(message)

    def evaluate(self, blinded: Sequence[bytes]) -> Evaluation:
        """Return the evaluated elements (BlindEvaluate, RFC 9497, 3.3.2).

        Raises:
            InvalidElement: one of the elements is invalid.

        """
        elements = [_element(index, raw) for index, raw in enumerate(blinded)]
        raw = self._evaluator.evaluate_batch(elements).serialize()
        evaluated = (raw[at : at + ELEMENT_BYTES] for at in range(_PROOF_BYTES, len(raw), ELEMENT_BYTES))
        return Evaluation(tuple(evaluated), raw[:_PROOF_BYTES])

    def wrap(self, secret: bytes, context: bytes) -> bytes:
        """Return a secret encrypted for storage; who has the database, but not the seed, cannot read it."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._storage.encrypt(nonce, secret, context)

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Return the secret."""
        return self._storage.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], context)


def from_settings(settings: Settings) -> OprfKey | None:
    """Return the key of COMPANY_FILTER_OPRF_KEY; None if it is not set."""
    seed = settings.company_filter_oprf_key
    return None if seed is None else OprfKey.derive(seed)


def of_public_key(settings: Settings, digits: str) -> OprfKey:
    """Return the key of the settings that a client names by its public key in hexadecimal."""
    key = from_settings(settings)
    if key is None or key.public.hex() != digits:
        raise FilterKeyUnknown
    return key


def _element(index: int, raw: bytes) -> ristretto.BlindedInput:
    if len(raw) != ELEMENT_BYTES:  # the package ignores further bytes
        raise InvalidElement(index)
    try:
        return ristretto.BlindedInput.deserialize(raw)
    except ValueError:
        raise InvalidElement(index) from None
