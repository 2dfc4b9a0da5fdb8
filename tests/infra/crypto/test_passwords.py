from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from argon2 import Parameters, PasswordHasher, extract_parameters
from argon2.exceptions import InvalidHashError
from argon2.low_level import Type

from app.domain.errors import Unavailable
from app.infra.crypto import passwords

pytestmark = pytest.mark.usefixtures("production_settings")

PASSWORD = "correct horse battery staple"
UNDER_GEVENT = """
from gevent import monkey; monkey.patch_all()
import gevent
from app.infra.crypto import passwords

turns = 0
def others():
    global turns
    while True:
        turns += 1
        gevent.sleep(0)

gevent.spawn(others)
stored = passwords.hash_password("correct horse battery staple")
right = passwords.verify(stored, "correct horse battery staple")
print(right, turns > 10)
"""


@pytest.fixture
def at_work(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Record how many verifications run at once each time that one starts."""
    recorded: list[int] = []
    running: list[str] = []
    gate = threading.Event()
    real = PasswordHasher.verify

    def record(hasher: PasswordHasher, password_hash: str, password: str) -> bool:
        running.append(password)
        recorded.append(len(running))
        if len(running) == passwords.MAX_PARALLEL_HASHES:
            gate.set()
        gate.wait(10)
        matches = real(hasher, password_hash, password)
        running.remove(password)
        return matches

    monkeypatch.setattr(PasswordHasher, "verify", record)
    return recorded


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[Parameters]:
    """Record the parameters of each hash that is verified."""
    recorded: list[Parameters] = []
    real = PasswordHasher.verify

    def record(hasher: PasswordHasher, password_hash: str, password: str) -> bool:
        recorded.append(extract_parameters(password_hash))
        return real(hasher, password_hash, password)

    monkeypatch.setattr(PasswordHasher, "verify", record)
    return recorded


def test_a_password_matches_its_own_hash_and_no_other() -> None:
    password_hash = passwords.hash_password(PASSWORD)

    assert passwords.verify(password_hash, PASSWORD)
    assert not passwords.verify(password_hash, PASSWORD + "!")


def test_the_same_password_never_has_the_same_hash() -> None:
    assert passwords.hash_password(PASSWORD) != passwords.hash_password(PASSWORD)


def test_hashes_have_the_published_parameters() -> None:
    parameters = extract_parameters(passwords.hash_password(PASSWORD))

    assert parameters.type is Type.ID
    assert (parameters.memory_cost, parameters.time_cost, parameters.parallelism) == (19456, 2, 1)


def test_without_an_account_the_check_fails_with_the_same_parameters(
    verified: list[Parameters],
) -> None:
    password_hash = passwords.hash_password(PASSWORD)

    right = [passwords.verify(stored_hash, PASSWORD) for stored_hash in (password_hash, None)]

    assert right == [True, False]
    assert verified == [extract_parameters(password_hash)] * 2


def test_the_check_without_an_account_uses_the_current_parameters(
    verified: list[Parameters], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=64, parallelism=2))

    passwords.verify(None, PASSWORD)

    assert verified == [extract_parameters(passwords.hash_password(PASSWORD))]
    assert verified[0].memory_cost == 64


def test_a_hash_with_other_parameters_is_outdated() -> None:
    old = PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSWORD)

    assert passwords.is_outdated(old)
    assert not passwords.is_outdated(passwords.hash_password(PASSWORD))


def test_an_invalid_hash_is_an_error_not_a_mismatch() -> None:
    with pytest.raises(InvalidHashError):
        passwords.verify("not a hash", PASSWORD)


@pytest.mark.parametrize(
    ("chosen", "typed"),
    [
        ("caf\u00e9 au lait", "cafe\u0301 au lait"),
        ("\uff41\uff12 full width", "a2 full width"),
        ("a2 full width", "\uff41\uff12 full width"),
        ("e\ufb03cient", "efficient"),
    ],
    ids=["composed", "chosen in full width", "typed in full width", "ligature"],
)
def test_a_password_matches_in_every_unicode_form(chosen: str, typed: str) -> None:
    assert passwords.verify(passwords.hash_password(chosen), typed)


@pytest.mark.parametrize(("length", "acceptable"), [(7, False), (8, True), (128, True), (129, False)])
def test_a_password_has_8_to_128_characters(length: int, *, acceptable: bool) -> None:
    assert passwords.acceptable(" " * length) is acceptable


def test_the_number_of_parallel_hashes_is_limited(at_work: list[int]) -> None:
    password_hash = passwords.hash_password(PASSWORD)
    threads = [threading.Thread(target=passwords.verify, args=(password_hash, PASSWORD)) for _ in range(12)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(at_work) == 12
    assert max(at_work) == passwords.MAX_PARALLEL_HASHES
    assert 1 <= passwords.MAX_PARALLEL_HASHES <= 4


def test_with_a_full_queue_the_next_hash_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate, begun = threading.Event(), threading.Semaphore(0)

    def hold(_hasher: PasswordHasher, _stored: str, _password: str) -> bool:
        begun.release()
        return gate.wait(10)

    monkeypatch.setattr(PasswordHasher, "verify", hold)
    password_hash = passwords.hash_password(PASSWORD)
    capacity = passwords.MAX_PARALLEL_HASHES + passwords.MAX_QUEUED_HASHES
    threads = [
        threading.Thread(target=passwords.verify, args=(password_hash, PASSWORD)) for _ in range(capacity)
    ]
    for thread in threads:
        thread.start()
    for _ in range(passwords.MAX_PARALLEL_HASHES):
        begun.acquire(timeout=10)
    while passwords._queue_slots.acquire(blocking=False):  # noqa: SLF001 -- until all threads hold a slot
        passwords._queue_slots.release()  # noqa: SLF001 -- see above

    with pytest.raises(Unavailable) as refused:
        passwords.verify(password_hash, PASSWORD)

    gate.set()
    for thread in threads:
        thread.join()
    assert refused.value.retry_after == 1
    assert passwords.verify(password_hash, PASSWORD)


def test_hashing_does_not_block_other_greenlets() -> None:
    ran = subprocess.run([sys.executable, "-c", UNDER_GEVENT], capture_output=True, text=True, check=True)

    assert ran.stdout.split() == ["True", "True"]
