from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from members import Member, bearer, join

from app.core.accounts import sessions
from app.infra import clock


@pytest.fixture
def member(app: APIFlask) -> Member:
    return join(app)


def index(member: Member, token: str = "") -> list[dict[str, Any]]:
    answer = member.client.get("/api/sessions", headers=bearer(token or member.session_token))
    found: list[dict[str, Any]] = answer.get_json()["sessions"]
    return found


def works(member: Member, token: str) -> bool:
    return member.client.get("/api/ext/session", headers=bearer(token)).status_code == 200


def test_an_account_sees_where_it_is_signed_in_and_which_session_asks(member: Member) -> None:
    popup = member.sign_in(client={"name": "chrome-extension", "version": "1.0.0"}).get_json()

    here, there = index(member, popup["access_token"])

    assert (here["client_name"], here["client_version"], here["current"]) == (
        "chrome-extension",
        "1.0.0",
        True,
    )
    assert here["expires_at"] == popup["expires_at"]
    assert (there["client_name"], there["current"]) == (None, False)
    assert here["id"] != there["id"]
    assert popup["access_token"] not in str(here)


def test_neither_a_colleagues_nor_a_strangers_session_is_listed(app: APIFlask, member: Member) -> None:
    member.colleague()
    join(app, email="eve@babbage.example")

    assert len(index(member)) == 1


def test_at_most_a_hundred_sessions_are_listed(member: Member) -> None:
    with member.database.transaction() as session:
        for _ in range(sessions.MAX_LISTED):
            sessions.start(session, member.account_id, network=b"", now=clock.now())

    assert len(index(member)) == 100


def test_an_ended_session_stops_at_once_and_leaves_the_list(member: Member) -> None:
    other = member.sign_in().get_json()["access_token"]
    (ends,) = [each["id"] for each in index(member) if not each["current"]]

    answer = member.client.delete(f"/api/sessions/{ends}", headers=member.headers)

    assert (answer.status_code, answer.data, answer.content_type) == (204, b"", None)
    assert not works(member, other)
    assert [each["current"] for each in index(member)] == [True]


def test_ending_a_session_again_is_harmless(member: Member) -> None:
    other = member.sign_in().get_json()["access_token"]
    (ends,) = [each["id"] for each in index(member, other) if each["current"]]

    answers = [
        member.client.delete(f"/api/sessions/{ends}", headers=member.headers).status_code for _ in range(2)
    ]

    assert answers == [204, 204]


def test_a_session_may_end_itself(member: Member) -> None:
    (here,) = index(member)

    answer = member.client.delete(f"/api/sessions/{here['id']}", headers=member.headers)

    assert answer.status_code == 204
    assert not works(member, member.session_token)


def test_signing_out_everywhere_else_spares_the_session_that_asks_the_keys_and_other_accounts(
    app: APIFlask, member: Member
) -> None:
    others = [member.sign_in().get_json()["access_token"] for _ in range(2)]
    key, colleague = member.make_key(), member.colleague()

    answer = member.client.delete("/api/sessions", headers=member.headers)

    assert (answer.status_code, answer.data) == (204, b"")
    assert [works(member, token) for token in others] == [False, False]
    assert [works(member, token) for token in (member.session_token, key, colleague.session_token)] == (
        [True] * 3
    )


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("DELETE", ""), ("DELETE", "/ses_0crnqk4e1k9jv0d2m4f6h8a8")]
)
def test_an_api_key_sees_and_ends_no_session(member: Member, method: str, path: str) -> None:
    answer = member.client.open(f"/api/sessions{path}", method=method, headers=bearer(member.make_key()))

    assert (answer.status_code, answer.get_json()["code"]) == (403, "insufficient_scope")
    assert works(member, member.session_token)
