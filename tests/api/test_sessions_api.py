from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from jobs_support import LIFETIME
from users_support import SignedInUser, bearer, create_user

from app.core.accounts import sessions
from app.infra import clock


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    return create_user(app)


def index(user: SignedInUser, token: str = "") -> list[dict[str, Any]]:
    answer = user.client.get("/api/sessions", headers=bearer(token or user.session_token))
    found: list[dict[str, Any]] = answer.get_json()["sessions"]
    return found


def works(user: SignedInUser, token: str) -> bool:
    return user.client.get("/api/ext/session", headers=bearer(token)).status_code == 200


def test_an_account_sees_its_sessions_and_which_one_is_current(user: SignedInUser) -> None:
    popup = user.sign_in(client={"name": "chrome-extension", "version": "1.0.0"}).get_json()

    here, there = index(user, popup["access_token"])

    assert (here["client_name"], here["client_version"], here["current"]) == (
        "chrome-extension",
        "1.0.0",
        True,
    )
    assert here["expires_at"] == popup["expires_at"]
    assert (there["client_name"], there["current"]) == (None, False)
    assert here["id"] != there["id"]
    assert popup["access_token"] not in str(here)


def test_sessions_of_other_accounts_are_not_listed(app: APIFlask, user: SignedInUser) -> None:
    user.colleague()
    create_user(app, email="eve@babbage.example")

    assert len(index(user)) == 1


def test_at_most_a_hundred_sessions_are_listed(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        for _ in range(sessions.MAX_LISTED):
            sessions.start(session, user.account_id, network=b"", lifetime=LIFETIME, now=clock.now())

    assert len(index(user)) == 100


def test_an_ended_session_stops_working_at_once_and_is_no_longer_listed(user: SignedInUser) -> None:
    other = user.sign_in().get_json()["access_token"]
    (ends,) = [each["id"] for each in index(user) if not each["current"]]

    answer = user.client.delete(f"/api/sessions/{ends}", headers=user.headers)

    assert (answer.status_code, answer.data, answer.content_type) == (204, b"", None)
    assert not works(user, other)
    assert [each["current"] for each in index(user)] == [True]


def test_ending_a_session_again_is_harmless(user: SignedInUser) -> None:
    other = user.sign_in().get_json()["access_token"]
    (ends,) = [each["id"] for each in index(user, other) if each["current"]]

    answers = [
        user.client.delete(f"/api/sessions/{ends}", headers=user.headers).status_code for _ in range(2)
    ]

    assert answers == [204, 204]


def test_a_session_can_end_itself(user: SignedInUser) -> None:
    (here,) = index(user)

    answer = user.client.delete(f"/api/sessions/{here['id']}", headers=user.headers)

    assert answer.status_code == 204
    assert not works(user, user.session_token)


def test_ending_other_sessions_spares_the_current_one_the_keys_and_other_accounts(
    app: APIFlask, user: SignedInUser
) -> None:
    others = [user.sign_in().get_json()["access_token"] for _ in range(2)]
    key, colleague = user.make_key(), user.colleague()

    answer = user.client.delete("/api/sessions", headers=user.headers)

    assert (answer.status_code, answer.data) == (204, b"")
    assert [works(user, token) for token in others] == [False, False]
    assert [works(user, token) for token in (user.session_token, key, colleague.session_token)] == (
        [True] * 3
    )


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("DELETE", ""), ("DELETE", "/ses_0crnqk4e1k9jv0d2m4f6h8a8")]
)
def test_an_api_key_can_neither_list_nor_end_sessions(user: SignedInUser, method: str, path: str) -> None:
    answer = user.client.open(f"/api/sessions{path}", method=method, headers=bearer(user.make_key()))

    assert (answer.status_code, answer.get_json()["code"]) == (403, "insufficient_scope")
    assert works(user, user.session_token)
