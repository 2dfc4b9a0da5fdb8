"""The workload: the reveals that clients request, some of them repeated on purpose."""

from __future__ import annotations

import dataclasses
import random
import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chaos.system.service import SeedData, Tenant

STORED, PHONE, PROVIDER, REPEATED, REPLAYED = "stored", "phone", "provider", "repeated", "replayed"
KIND_WEIGHTS = {STORED: 62, PHONE: 8, PROVIDER: 16, REPEATED: 7, REPLAYED: 7}
"""REPEATED: an earlier request with a new idempotency key; REPLAYED: with the same key."""
PROFILE_WEIGHTS = {
    "found": 30,
    "not-found": 30,
    "flaky": 10,
    "failing": 10,
    "slow": 6,
    "rate-limited": 6,
    "no-credits": 4,
    "timeout": 4,
}
"""Profiles of the sandbox provider."""
RELIABLE_PROFILES = {"found", "not-found", "slow"}
WAITING_SHARE = 0.1  # of the clients that wait a second or two for the result
MAX_EARLIER = 200
MAX_AGE_DAYS = 3600


@dataclass(frozen=True, slots=True)
class Operation:
    """A request; `must_succeed` if only a fault of the service could make its job fail."""

    tenant: Tenant
    path: str
    body: dict[str, Any]
    key: str
    wait: int = 0
    must_succeed: bool = True


def generate(data: SeedData, seed: int) -> Iterator[Operation]:
    """Yield operations without end; the same seed yields the same operations on the same data."""
    rng = random.Random(seed)  # noqa: S311 - so that a run can be repeated
    unused = {kind: deque(_shuffled_pairs(data, rng)) for kind in (STORED, PHONE)}
    earlier: deque[Operation] = deque(maxlen=MAX_EARLIER)
    max_age = 0
    while True:
        kind = rng.choices(list(KIND_WEIGHTS), list(KIND_WEIGHTS.values()))[0]
        if kind in {REPEATED, REPLAYED} and earlier:
            operation = rng.choice(earlier)
            yield operation if kind == REPLAYED else dataclasses.replace(operation, key=str(uuid.uuid4()))
            continue
        options: dict[str, Any] = {}
        if unused.get(kind):
            tenant, contact = unused[kind].popleft()
            path, subject = ("phone" if kind == PHONE else "email"), {"contact_id": contact}
            must_succeed = True
        else:
            max_age = max_age % MAX_AGE_DAYS + 1
            options["max_age_days"] = max_age  # so that it does not join the last job on the same person
            profile = rng.choices(list(PROFILE_WEIGHTS), list(PROFILE_WEIGHTS.values()))[0]
            tenant, path = rng.choice(data.tenants), rng.choice(("email", "phone"))
            subject = {"linkedin_url": f"https://www.linkedin.com/in/sandbox-{profile}"}
            must_succeed = profile in RELIABLE_PROFILES
        wait = rng.choice((1, 2)) if rng.random() < WAITING_SHARE else 0
        key = str(uuid.UUID(int=rng.getrandbits(128)))
        body = {"subject": subject, **options}
        operation = Operation(tenant, f"/api/ext/reveal/{path}", body, key, wait, must_succeed)
        earlier.append(operation)
        yield operation


def one_reveal_per_contact(data: SeedData) -> Iterator[Operation]:
    """Yield a reveal of each stored contact for each tenant: none of them needs a provider."""
    for contact in data.contacts:
        for tenant in data.tenants:
            body = {"subject": {"contact_id": contact}}
            yield Operation(tenant, "/api/ext/reveal/email", body, str(uuid.uuid4()))


def _shuffled_pairs(data: SeedData, rng: random.Random) -> list[tuple[Tenant, str]]:
    pairs = [(tenant, contact) for tenant in data.tenants for contact in data.contacts]
    rng.shuffle(pairs)
    return pairs
