"""Passwords: Argon2id, a few at a time, and never in the way of other requests.

Parameters: OWASP Password Storage Cheat Sheet's minimum (19 MiB, two passes, one lane), about 30 ms. Whoever
changes them: until an account's hash is renewed at its next sign-in, the time of a wrong password tells that
it exists, since checking takes the time of the parameters it was made with.
"""

from __future__ import annotations

import base64
import secrets
import threading
import unicodedata
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from gevent import get_hub, monkey

from app.domain.errors import Unavailable

MIN_LENGTH = 8
MAX_LENGTH = 128
MAX_PARALLEL_HASHES = 1
"""In each process, of which there is one per processor: some 28 a second each, and 19 MiB at a time."""
MAX_QUEUED_HASHES = 64
"""How many more may wait for one of these; beyond it callers are refused at once instead of hanging."""
RETRY_SECONDS = 1
P = ParamSpec("P")
R = TypeVar("R")
_hasher = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1, hash_len=32, salt_len=16)
_hash_slots = threading.BoundedSemaphore(MAX_PARALLEL_HASHES)
_queue_slots = threading.BoundedSemaphore(MAX_PARALLEL_HASHES + MAX_QUEUED_HASHES)


def acceptable(password: str) -> bool:
    """Tell whether the password may be set: 8 to 128 characters, of any kind (NIST SP 800-63B)."""
    return MIN_LENGTH <= len(password) <= MAX_LENGTH


def hash_password(password: str) -> str:
    """Give the text to keep, with its own salt and the parameters it was made with."""
    return _run_queued(_hasher.hash, _normal(password))


def verify(stored: str | None, password: str) -> bool:
    """Tell whether the password is the one kept; with nothing kept it takes as long and is wrong."""
    return _run_queued(_matches, stored or _dummy(), _normal(password))


def is_outdated(stored: str) -> bool:
    """Tell whether the kept text was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


def _matches(stored: str, password: str) -> bool:
    try:
        return _hasher.verify(stored, password)
    except VerifyMismatchError:
        return False


def _dummy() -> str:
    """Write a hash that no password has, with today's parameters, so that checking it takes the same time."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(size)).rstrip(b"=").decode()
        for size in (_hasher.salt_len, _hasher.hash_len)
    )
    cost = f"m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"


def _normal(password: str) -> str:
    """Make one text of those that keyboards and systems write differently (NIST SP 800-63B, 3.1.1.2)."""
    return unicodedata.normalize("NFKC", password)


def _run_queued(work: Callable[P, R], *words: P.args, **options: P.kwargs) -> R:
    """Do the work when it is its turn.

    Raises:
        Unavailable: too many wait already.

    """
    if not _queue_slots.acquire(blocking=False):
        raise Unavailable("Too many passwords are being checked. Try again.", retry_after=RETRY_SECONDS)
    try:
        with _hash_slots:
            if monkey.is_module_patched("threading"):  # a gevent server: hashing must not stop its loop
                return get_hub().threadpool.apply(work, words, options)
            return work(*words, **options)
    finally:
        _queue_slots.release()
