"""When the next credits come: in a session, on pages, and in the problem that there are too few."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from apiflask import APIFlask
from page_support import visitor
from users_support import SignedInUser

from app.domain.permissions import Permission
from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account
from app.engine.accounts.workspaces import Workspace
from app.engine.ledger import credit_schedules, next_grants
from app.engine.ledger.credit_schedules import Terms
from app.infra import clock
from app.infra.languages import formats

pytestmark = pytest.mark.any_database


def schedule(user: SignedInUser, *, per_seat: bool = False, starts_at: datetime | None = None) -> datetime:
    with user.database.transaction() as session:
        terms = Terms(credits=500, per_seat=per_seat, day=1, carried=0)
        credit_schedules.put(session, user.workspace_id, terms, starts_at=starts_at)
        grant = next_grants.of_workspace(session, user.workspace_id)
    assert grant is not None
    return grant.at


def hide_costs(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).permissions = {Permission.SEE_COSTS.value: False}


def without_credits(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        session.get_one(Workspace, user.workspace_id).available = 0


def credits_of_session(user: SignedInUser) -> object:
    return user.client.get("/api/ext/session", headers=user.headers).get_json()["credits"]["next_grant"]


def test_a_session_says_what_is_granted_next(user: SignedInUser) -> None:
    before = credits_of_session(user)
    at = schedule(user)

    assert before is None
    assert credits_of_session(user) == {"at": clock.rfc3339(at), "credits": 500}


def test_a_grant_for_each_seat_is_the_sum_of_the_seats_that_are_enabled(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        now = clock.now()
        for number in range(3):
            values = {"email": f"seat{number}@acme.example", "name": "Seat", "password_hash": "x"}
            account = accounts.create(session, user.workspace_id, **values, now=now)
        accounts.disable(session, account.id, now=now)
    at = schedule(user, per_seat=True)

    assert credits_of_session(user) == {"at": clock.rfc3339(at), "credits": 500 * 3}


def test_a_paused_schedule_promises_nothing(user: SignedInUser) -> None:
    schedule(user)
    with user.database.transaction() as session:
        credit_schedules.pause(session, user.workspace_id)
        credit_schedules.pause(session, user.workspace_id)

    assert credits_of_session(user) is None


def test_whoever_may_not_see_costs_sees_no_grant(app: APIFlask, user: SignedInUser) -> None:
    schedule(user)
    hide_costs(user)

    assert credits_of_session(user) is None
    assert "Next credits" not in visitor(app, user).open("/account").text


@pytest.mark.parametrize(
    ("language", "words"), [("en", "500 credits on"), ("de", "500 Credits am"), ("fr", "500 crédits le")]
)
@pytest.mark.parametrize("path", ["/account", "/usage"])
def test_pages_say_it_in_words(
    app: APIFlask, user: SignedInUser, path: str, language: str, words: str
) -> None:
    at = schedule(user)
    browser = visitor(app, user)
    browser.client.set_cookie("language", language)

    page = browser.open(path)

    assert f"{words} {formats.day_in_words(at, language)}" in page.text


def test_the_problem_of_too_few_credits_says_when_the_next_come(user: SignedInUser) -> None:
    at = schedule(user)
    without_credits(user)

    response = user.client.post(
        "/api/ext/reveal/email",
        headers=user.headers | {"Accept-Language": "de"},
        json={"subject": {"email": "ada@acme.com"}},
    )

    assert response.status_code == 402
    body = response.get_json()
    assert body["next_grant"] == {"at": clock.rfc3339(at), "credits": 500}
    assert f"am {formats.day_in_words(at, 'de')}: 500 Credits." in body["detail"]


def test_the_problem_has_no_grant_for_whoever_may_not_see_costs(user: SignedInUser) -> None:
    schedule(user)
    without_credits(user)
    hide_costs(user)

    body = user.client.post(
        "/api/ext/reveal/email", headers=user.headers, json={"subject": {"email": "ada@acme.com"}}
    ).get_json()

    assert "next_grant" not in body
    assert "500" not in body["detail"]


@pytest.mark.parametrize(
    ("language", "near", "far"),
    [
        ("en", "1 December", "1 December 2031"),
        ("de", "1. Dezember", "1. Dezember 2031"),
        ("fr", "1er décembre", "1er décembre 2031"),
        ("es", "1 de diciembre", "1 de diciembre de 2031"),
    ],
)
def test_a_day_is_written_as_the_language_has_it(
    monkeypatch: pytest.MonkeyPatch, language: str, near: str, far: str
) -> None:
    monkeypatch.setattr(formats.clock, "now", lambda: datetime(2026, 11, 29, tzinfo=UTC))
    december = datetime(2026, 12, 1, tzinfo=UTC)

    assert formats.day_in_words(december, language) == near
    assert formats.day_in_words(december.replace(year=2031), language) == far
    assert formats.day_in_words(december + timedelta(days=10), "fr") == "11 décembre"
