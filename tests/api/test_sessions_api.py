from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from jobs_support import LIFETIME
from users_support import SignedInUser, bearer, create_user

from app.engine.accounts import sessions
from app.infra import clock


def index(user: SignedInUser, token: str = "") -> list[dict[str, Any]]:
    response = user.client.get("/api/sessions", headers=bearer(token or user.session_token))
    sessions: list[dict[str, Any]] = response.get_json()["sessions"]
    return sessions


def works(user: SignedInUser, token: str) -> bool:
    return user.client.get("/api/ext/session", headers=bearer(token)).status_code == 200


def test_an_account_sees_its_sessions_and_which_one_is_current(user: SignedInUser) -> None:
    popup = user.sign_in(client={"name": "chrome-extension", "version": "1.0.0"}).get_json()

    current, popup_session = index(user, popup["access_token"])

    assert (current["client_name"], current["client_version"], current["current"]) == (
        "chrome-extension",
        "1.0.0",
        True,
    )
    assert current["expires_at"] == popup["expires_at"]
    assert (popup_session["client_name"], popup_session["current"]) == (None, False)
    assert current["id"] != popup_session["id"]
    assert popup["access_token"] not in str(current)


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
    (ends,) = [session["id"] for session in index(user) if not session["current"]]

    response = user.client.delete(f"/api/sessions/{ends}", headers=user.headers)

    assert (response.status_code, response.data, response.content_type) == (204, b"", None)
    assert not works(user, other)
    assert [session["current"] for session in index(user)] == [True]


def test_ending_a_session_again_is_harmless(user: SignedInUser) -> None:
    other = user.sign_in().get_json()["access_token"]
    (ends,) = [session["id"] for session in index(user, other) if session["current"]]

    responses = [
        user.client.delete(f"/api/sessions/{ends}", headers=user.headers).status_code for _ in range(2)
    ]

    assert responses == [204, 204]


def test_a_session_can_end_itself(user: SignedInUser) -> None:
    (current,) = index(user)

    response = user.client.delete(f"/api/sessions/{current['id']}", headers=user.headers)

    assert response.status_code == 204
    assert not works(user, user.session_token)


def test_ending_other_sessions_spares_the_current_one_the_keys_and_other_accounts(
    app: APIFlask, user: SignedInUser
) -> None:
    other_tokens = [user.sign_in().get_json()["access_token"] for _ in range(2)]
    key, colleague = user.make_key(), user.colleague()

    response = user.client.delete("/api/sessions", headers=user.headers)

    assert (response.status_code, response.data) == (204, b"")
    assert [works(user, token) for token in other_tokens] == [False, False]
    assert [works(user, token) for token in (user.session_token, key, colleague.session_token)] == (
        [True] * 3
    )


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("DELETE", ""), ("DELETE", "/ses_0crnqk4e1k9jv0d2m4f6h8a8")]
)
def test_an_api_key_can_neither_list_nor_end_sessions(user: SignedInUser, method: str, path: str) -> None:
    response = user.client.open(f"/api/sessions{path}", method=method, headers=bearer(user.make_key()))

    assert (response.status_code, response.get_json()["code"]) == (403, "insufficient_scope")
    assert works(user, user.session_token)
