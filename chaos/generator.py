"""The deck: what clients ask for; some questions and keys come again on purpose."""

from __future__ import annotations

import random
import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chaos.service import SeedData, Tenant

SANDBOX_PROFILES = ("found", "not-found", "flaky", "failing", "slow", "rate-limited", "no-credits", "timeout")
SANDBOX_WEIGHTS = (30, 30, 10, 10, 6, 6, 4, 4)
STORED, PHONE, PROVIDER, REPEATED, REPLAYED = "stored", "phone", "provider", "repeated", "replayed"
WAITING_SHARE = 0.1  # of the clients that wait a second or two for the answer
KIND_WEIGHTS = {STORED: 62, PHONE: 8, PROVIDER: 16, REPEATED: 7, REPLAYED: 7}


@dataclass(frozen=True, slots=True)
class Operation:
    """One question as a client asks it; `innocent` if nothing but the service could make it fail."""

    tenant: Tenant
    path: str
    body: dict[str, Any]
    key: str
    wait: int = 0
    must_succeed: bool = True


def generate(cast: SeedData, seed: int) -> Iterator[Operation]:
    """Deal questions for ever: stored people, the sandbox's, and some questions and keys again on purpose."""
    dice = random.Random(seed)  # noqa: S311 - a run can be repeated
    fresh = {kind: deque(_shuffled_pairs(cast, dice)) for kind in (STORED, PHONE)}
    earlier: deque[Operation] = deque(maxlen=200)
    days = 0
    while True:
        kind = dice.choices(list(KIND_WEIGHTS), list(KIND_WEIGHTS.values()))[0]
        if kind in {REPEATED, REPLAYED} and earlier:
            asked = dice.choice(earlier)
            yield asked if kind == REPLAYED else _with_new_key(asked)
            continue
        options: dict[str, Any] = {}
        if fresh.get(kind):
            member, contact = fresh[kind].popleft()
            path, subject = ("phone" if kind == PHONE else "email"), {"contact_id": contact}
            innocent = True
        else:
            days = days % 3600 + 1
            options["max_age_days"] = (
                days  # makes it another question than the last one about the same person
            )
            scenario = dice.choices(SANDBOX_PROFILES, SANDBOX_WEIGHTS)[0]
            member, path = dice.choice(cast.tenants), dice.choice(("email", "phone"))
            subject = {"linkedin_url": f"https://www.linkedin.com/in/sandbox-{scenario}"}
            innocent = scenario in {"found", "not-found", "slow"}
        wait = dice.choice((1, 2)) if dice.random() < WAITING_SHARE else 0
        key = str(uuid.UUID(int=dice.getrandbits(128)))
        body = {"subject": subject, **options}
        asked = Operation(member, f"/api/ext/reveal/{path}", body, key, wait, innocent)
        earlier.append(asked)
        yield asked


def one_reveal_per_contact(cast: SeedData) -> Iterator[Operation]:
    """Deal each stored contact to each workspace once: questions that the service can answer by itself."""
    for contact in cast.contacts:
        for member in cast.tenants:
            body = {"subject": {"contact_id": contact}}
            yield Operation(member, "/api/ext/reveal/email", body, str(uuid.uuid4()))


def _shuffled_pairs(cast: SeedData, dice: random.Random) -> list[tuple[Tenant, str]]:
    pairs = [(member, contact) for member in cast.tenants for contact in cast.contacts]
    dice.shuffle(pairs)
    return pairs


def _with_new_key(asked: Operation) -> Operation:
    return Operation(asked.tenant, asked.path, asked.body, str(uuid.uuid4()), asked.wait, asked.must_succeed)
