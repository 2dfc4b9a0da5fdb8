from __future__ import annotations

from apiflask import APIFlask
from settings_support import change_settings
from users_support import CREDITS, SignedInUser, bearer

from app.domain.callers import Scope
from app.domain.kinds import TraceOutcome
from app.domain.permissions import Permission
from app.domain.providers.throttles import FAILURES_IN_A_ROW
from app.engine.providers import provider_throttles
from app.infra import clock


def test_the_session_contains_everything_a_client_needs(user: SignedInUser) -> None:
    response = user.client.get("/api/ext/session", headers=user.headers)

    body = response.get_json()
    assert response.status_code == 200
    assert body["account"] == {
        "id": user.account_id,
        "email": "ada@acme.example",
        "name": "Ada Lovelace",
        "role": "member",
        "api_access": True,
        "language": None,
    }
    assert body["workspace"] == {"id": user.workspace_id, "name": "Acme", "dial_link": "tel:{number}"}
    assert body["auth"]["kind"] == "session"
    assert body["auth"]["scopes"] == ["lookup", "reveal", "enrich", "save"]
    assert body["auth"]["expires_at"].endswith("Z")
    assert body["credits"] == {"balance": CREDITS, "reserved": 0, "next_grant": None}
    assert body["prices"] == {"reveal.email": 1, "reveal.phone": 1, "people_search": 1, "verification": 1}
    assert len(body["hash_lookup"].pop("filter_key")) == 44
    assert body["hash_lookup"] == {"algorithm": "sha256", "prefix_length": 2, "filter_oprf_key": None}
    assert body["server"]["api_version"] == response.headers["API-Version"]
    assert body["server"]["version"]


def test_every_provider_is_listed_once_in_the_order_of_the_settings(
    app: APIFlask, user: SignedInUser
) -> None:
    change_settings(
        app,
        providers_email=("pattern", "hunter"),
        providers_phone=("sandbox", "hunter"),
        providers_person=("people",),
        providers_company=("sandbox",),
    )

    body = user.client.get("/api/ext/session", headers=user.headers).get_json()

    assert [provider["name"] for provider in body["providers"]] == ["pattern", "hunter", "sandbox", "people"]
    assert {provider["healthy"] for provider in body["providers"]} == {True}


def test_a_failing_provider_is_not_healthy(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, providers_email=("hunter", "pdl", "apollo"))
    now = clock.now()
    with user.database.transaction() as session:
        provider_throttles.report(session, "pdl", TraceOutcome.MISS, retry_after=None, now=now)
        for _ in range(FAILURES_IN_A_ROW):
            provider_throttles.report(session, "hunter", TraceOutcome.ERROR, retry_after=None, now=now)

    body = user.client.get("/api/ext/session", headers=user.headers).get_json()

    assert body["providers"][:3] == [
        {"name": "hunter", "healthy": False},
        {"name": "pdl", "healthy": True},
        {"name": "apollo", "healthy": True},
    ]


def test_an_api_key_sees_its_own_scopes_and_expiry(user: SignedInUser) -> None:
    key = user.make_key(Scope.LOOKUP)

    body = user.client.get("/api/ext/session", headers=bearer(key)).get_json()

    assert body["auth"] == {
        "kind": "api_key",
        "scopes": ["lookup"],
        "permissions": sorted(Permission),
        "expires_at": None,
    }


def test_logout_ends_the_session_at_once_with_an_empty_response(user: SignedInUser) -> None:
    response = user.client.post("/api/ext/logout", headers=user.headers)

    after = user.client.get("/api/ext/session", headers=user.headers)
    assert (response.status_code, response.data) == (204, b"")
    assert (after.status_code, after.get_json()["code"]) == (401, "token_revoked")


def test_logout_leaves_the_other_sessions_of_the_account(user: SignedInUser) -> None:
    other = user.sign_in().get_json()["access_token"]

    user.client.post("/api/ext/logout", headers=user.headers)

    assert user.client.get("/api/ext/session", headers=bearer(other)).status_code == 200


def test_an_api_key_cannot_log_out(user: SignedInUser) -> None:
    key = user.make_key()

    response = user.client.post("/api/ext/logout", headers=bearer(key))

    assert (response.status_code, response.get_json()["code"]) == (403, "insufficient_scope")
    assert user.client.get("/api/ext/session", headers=bearer(key)).status_code == 200
