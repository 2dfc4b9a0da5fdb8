"""Admission of requests, and what they hold while they wait."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from users_support import SignedInUser, bearer

from app.domain.tokens import TokenKind, new_token
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.server.bulkhead import MAX_ACTIVE, FairSlots
from app.web import admission
from app.web.sign_in.auth import authenticate

LOOKUP = "/api/ext/lookup"
SUBJECT = {"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}}


@pytest.fixture
def slots(user: SignedInUser, monkeypatch: pytest.MonkeyPatch) -> FairSlots:
    """The slots of a process that has authenticated the user's token before."""
    monkeypatch.setattr(admission, "MAX_SECONDS", 0.01)
    user.client.get("/api/ext/session", headers=user.headers)
    active: FairSlots = user.client.application.extensions["services"].bulkhead.active
    return active


def test_a_request_is_refused_if_its_account_has_its_share_for_too_long(
    user: SignedInUser, slots: FairSlots
) -> None:
    for _ in range(MAX_ACTIVE // 2):
        slots.acquire(user.account_id, 0)

    refused = user.client.post(LOOKUP, json=SUBJECT, headers=user.headers)

    assert (refused.status_code, refused.get_json()["code"]) == (503, "unavailable")


def test_an_account_that_has_its_share_does_not_delay_another(user: SignedInUser, slots: FairSlots) -> None:
    for _ in range(MAX_ACTIVE // 2):
        slots.acquire("acc_another", 0)

    assert user.client.post(LOOKUP, json=SUBJECT, headers=user.headers).status_code == 200


@pytest.mark.parametrize("is_well_formed", [True, False])
def test_tokens_that_are_not_known_take_turns_by_network(
    user: SignedInUser, slots: FairSlots, *, is_well_formed: bool
) -> None:
    """Anyone can make such texts, so their number must give no one more turns."""
    app: Flask = user.client.application
    texts = [new_token(TokenKind.SESSION) if is_well_formed else f"junk-{n}" for n in range(2)]
    sent = [{"headers": bearer(text)} for text in texts] + [{"headers": {"Cookie": f"session={texts[0]}"}}]

    holders = []
    for request in sent:
        with app.test_request_context(environ_base={"REMOTE_ADDR": "192.0.2.7"}, **request):
            app.preprocess_request()
            holders.append(held(slots))

    assert holders == [{"192.0.2.0/24": 1}] * 3
    assert user.client.get("/api/ext/session", headers=user.headers).status_code == 200


def test_the_tokens_of_an_account_share_its_turns(user: SignedInUser, slots: FairSlots) -> None:
    key = user.make_key()
    user.client.get("/api/ext/session", headers=bearer(key))
    for _ in range(MAX_ACTIVE // 2):
        slots.acquire(user.account_id, 0)

    refused = user.client.get("/api/ext/session", headers=bearer(key))

    assert (refused.status_code, refused.get_json()["code"]) == (503, "unavailable")


def test_a_new_token_takes_the_turns_of_its_account_from_its_first_wait(
    user: SignedInUser, slots: FairSlots
) -> None:
    app: Flask = user.client.application
    key = user.make_key()

    with app.test_request_context(headers=bearer(key)):
        app.preprocess_request()
        before = held(slots)
        authenticate(key)
        with admission.suspended() as holder:
            pass
        after = held(slots)

    assert (before, holder, after) == ({"unknown": 1}, user.account_id, {user.account_id: 1})


def test_a_request_without_a_token_needs_no_slot(user: SignedInUser, slots: FairSlots) -> None:
    for number in range(MAX_ACTIVE):
        slots.acquire(f"acc_{number}", 0)

    assert user.client.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", [LOOKUP, "/api/ext/unknown"])
def test_a_request_leaves_its_slot_at_its_end(user: SignedInUser, slots: FairSlots, path: str) -> None:
    user.client.post(path, json=SUBJECT, headers=user.headers)

    assert held(slots) == {}


def test_a_body_is_received_before_the_request_takes_a_slot(user: SignedInUser, slots: FairSlots) -> None:
    body = Observed(b'{"subject": {}}', lambda: held(slots))

    user.client.post(
        LOOKUP,
        input_stream=body,
        content_length=len(body.getvalue()),
        content_type="application/json",
        headers=user.headers,
    )

    assert body.observations
    assert not any(body.observations)


def test_a_request_that_waits_leaves_its_slot_to_others(user: SignedInUser, slots: FairSlots) -> None:
    app: Flask = user.client.application
    account = user.account_id

    with app.test_request_context(headers=user.headers):
        app.preprocess_request()
        before = held(slots)
        with admission.suspended():
            during = held(slots)
        after = held(slots)

    assert (before, during, after) == ({account: 1}, {}, {account: 1})
    assert held(slots) == {}


def test_a_request_that_gets_no_slot_after_its_wait_runs_without(
    user: SignedInUser, slots: FairSlots
) -> None:
    app: Flask = user.client.application

    with app.test_request_context(headers=user.headers):
        app.preprocess_request()
        with admission.suspended():
            for number in range(MAX_ACTIVE):
                slots.acquire(f"acc_{number}", 0)
        with admission.suspended():
            pass

    assert len(held(slots)) == MAX_ACTIVE


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/ext/reveal/email", SUBJECT),
        ("/api/ext/linkedin-save", {"profile": SUBJECT["subject"] | {"full_name": "Ada Lovelace"}}),
        ("/api/ext/logout", None),
    ],
)
def test_a_request_that_may_wait_for_a_lock_leaves_its_slot_to_others(
    user: SignedInUser, slots: FairSlots, monkeypatch: pytest.MonkeyPatch, path: str, body: Any
) -> None:
    database: Database = user.client.application.extensions["services"].database
    during: list[Counter[str]] = []
    transaction = Database.transaction

    @contextmanager
    def observed(*arguments: Any, **options: Any) -> Iterator[Session]:
        during.append(held(slots))
        with transaction(database, *arguments, **options) as session:
            yield session

    monkeypatch.setattr(database, "transaction", observed)

    response = user.client.post(path, json=body, headers=user.headers | {"Prefer": "respond-async"})

    assert response.status_code in {200, 201, 202, 204}, response.get_json()
    assert during
    assert not any(during)


def held(slots: FairSlots) -> Counter[str]:
    return Counter(slots._held)  # noqa: SLF001 -- no other way to see it


class Observed(io.BytesIO):
    """A body that observes something whenever it is read."""

    def __init__(self, content: bytes, observe: Callable[[], Any]) -> None:
        super().__init__(content)
        self.observations: list[Any] = []
        self._observe = observe

    def read(self, size: int | None = -1, /) -> bytes:
        self.observations.append(self._observe())
        return super().read(size)

    def readinto(self, buffer: Any, /) -> int:
        self.observations.append(self._observe())
        return super().readinto(buffer)
