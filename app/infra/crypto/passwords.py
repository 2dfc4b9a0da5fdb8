"""Password hashing with Argon2id, with limited concurrency, outside the event loop.

Parameters: the minimum of the OWASP Password Storage Cheat Sheet (19 MiB, two passes, one lane), about 30 ms.
After a change of the parameters, the time of a failed login reveals that an account exists until its hash is
renewed at its next login, because a check takes the time of the parameters in the stored hash.
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

from app.domain.errors import Unavailable
from app.infra import native_threads

MIN_LENGTH = 8
MAX_LENGTH = 128
MAX_PARALLEL_HASHES = 1
"""Per process, of which there is one per processor: about 28 hashes per second, in 19 MiB."""
MAX_QUEUED_HASHES = 64
"""The most checks that may wait for a slot; more are refused at once."""
RETRY_SECONDS = 1
P = ParamSpec("P")
R = TypeVar("R")
_hasher = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1, hash_len=32, salt_len=16)
_NO_SALT = base64.b64encode(bytes(16)).rstrip(b"=").decode()
_hash_slots = threading.BoundedSemaphore(MAX_PARALLEL_HASHES)
_queue_slots = threading.BoundedSemaphore(MAX_PARALLEL_HASHES + MAX_QUEUED_HASHES)


def acceptable(password: str) -> bool:
    """Return whether the password has 8 to 128 characters, of any kind (NIST SP 800-63B)."""
    return MIN_LENGTH <= len(password) <= MAX_LENGTH


def hash_password(password: str) -> str:
    """Return the hash to store, with its salt and parameters."""
    return _run_queued(_hasher.hash, _normal(password))


def verify(password_hash: str | None, password: str) -> bool:
    """Return whether the password matches the hash; without one, return False after the same time."""
    return _run_queued(_matches, password_hash or unusable(), _normal(password))


def is_outdated(password_hash: str) -> bool:
    """Return whether the hash has other parameters than the current ones."""
    return _hasher.check_needs_rehash(password_hash)


def unusable() -> str:
    """Return a hash that matches no password, with the current parameters, so that a check takes as long."""
    digest = base64.b64encode(secrets.token_bytes(_hasher.hash_len)).rstrip(b"=").decode()
    cost = f"m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}"
    return f"$argon2id$v=19${cost}${_NO_SALT}${digest}"


def is_unusable(password_hash: str) -> bool:
    """Return whether the hash was made by `unusable`: a real one has a random salt."""
    return f"${_NO_SALT}$" in password_hash


def _matches(password_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(password_hash, password)
    except VerifyMismatchError:
        return False


def _normal(password: str) -> str:
    """Return the NFKC form: systems encode the same text differently (NIST SP 800-63B, 3.1.1.2)."""
    return unicodedata.normalize("NFKC", password)


def _run_queued(work: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
    """Return the result of the work, once a slot is free."""
    if not _queue_slots.acquire(blocking=False):
        raise Unavailable("Too many passwords are being checked. Try again later.", retry_after=RETRY_SECONDS)
    try:
        with _hash_slots:
            return native_threads.call(work, *arguments, **options)
    finally:
        _queue_slots.release()
