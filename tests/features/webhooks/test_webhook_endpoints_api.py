from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from jobs_support import DIGEST_KEYS
from sqlalchemy import select, update
from users_support import SignedInUser, bearer, create_user
from webhook_support import begin_due
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.domain.event_types import EventType
from app.engine.accounts.accounts import Account, Role
from app.engine.events import endpoints, events
from app.engine.events.deliveries import Webhook
from app.features.webhooks import delivery as webhooks
from app.features.webhooks.delivery import AttemptResult
from app.infra import clock

URL = "https://hooks.acme.example/events?key=secret"
NEW = {"url": URL, "types": ["credits.limit_warning"]}
PATH = "/api/webhook-endpoints"


@pytest.fixture
def admin(app: APIFlask) -> SignedInUser:
    user = create_user(app)
    with user.database.transaction() as session:
        session.execute(update(Account).values(role=Role.ADMIN.value))
    return user


def post(user: SignedInUser, path: str, body: Any = None, **headers: str) -> TestResponse:
    return user.client.post(path, json=body, headers=user.headers | headers)


def get(user: SignedInUser, path: str) -> Any:
    response = user.client.get(path, headers=user.headers)
    assert response.status_code == 200, response.get_json()
    return response.get_json()


def create(admin: SignedInUser, **changes: Any) -> dict[str, Any]:
    response = post(admin, PATH, NEW | changes)
    assert response.status_code == 201, response.get_json()
    created: dict[str, Any] = response.get_json()
    return created


def record(user: SignedInUser, *keys: str) -> None:
    """Record a warning for each key."""
    with user.database.transaction() as session:
        for key in keys:
            events.record(
                session,
                user.workspace_id,
                EventType.LIMIT_WARNING,
                {"used": 80},
                dedup_key=key,
                now=clock.now(),
            )


def test_an_endpoint_is_created_with_a_secret_of_its_own(admin: SignedInUser) -> None:
    created, other = create(admin), create(admin)

    assert created["secret"] == endpoints.secret(DIGEST_KEYS, created["id"]) != other["secret"]
    assert (created["url"], created["types"], created["enabled"]) == (URL, ["credits.limit_warning"], True)
    assert get(admin, PATH)["webhook_endpoints"] == [other, created]


def test_the_format_is_that_of_the_host_or_the_one_that_is_named(admin: SignedInUser) -> None:
    slack = create(admin, url="https://hooks.slack.com/workflows/1")
    named = create(admin, format="teams")

    changed = post(admin, f"{PATH}/{named['id']}", {"format": "slack"})
    refused = post(admin, PATH, NEW | {"format": "xml"})

    assert [slack["format"], named["format"], create(admin)["format"]] == ["slack", "teams", "standard"]
    assert (changed.get_json()["format"], changed.get_json()["types"]) == ("slack", NEW["types"])
    assert (refused.status_code, refused.get_json()["errors"][0]["pointer"]) == (422, "/format")


def test_a_replay_creates_no_second_endpoint(admin: SignedInUser) -> None:
    key = {"Idempotency-Key": "one click"}
    first = post(admin, PATH, NEW, **key)

    again = post(admin, PATH, NEW, **key)

    assert (again.status_code, again.headers["Idempotent-Replay"]) == (200, "true")
    assert again.get_json() == first.get_json()
    assert len(get(admin, PATH)["webhook_endpoints"]) == 1


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"url": "http://hooks.acme.example/"}, "/url"),
        ({"url": "https://127.0.0.1/"}, "/url"),
        ({"types": []}, "/types"),
        ({"types": ["webhook_endpoint.test"]}, "/types/0"),
        ({"types": ["contact.deleted"]}, "/types/0"),
    ],
)
def test_internal_urls_and_unknown_types_are_refused(
    admin: SignedInUser, change: dict[str, Any], pointer: str
) -> None:
    response = post(admin, PATH, NEW | change)

    assert (response.status_code, response.get_json()["errors"][0]["pointer"]) == (422, pointer)


def test_a_workspace_has_at_most_twenty_endpoints(admin: SignedInUser) -> None:
    for _ in range(20):
        create(admin)

    response = post(admin, PATH, NEW)

    assert response.status_code == 422
    assert "Delete one" in response.get_json()["errors"][0]["detail"]


def test_a_disabled_endpoint_receives_nothing_until_it_is_enabled_again(admin: SignedInUser) -> None:
    path = f"{PATH}/{create(admin)['id']}"
    record(admin, "waiting")

    disabled = post(admin, path, {"enabled": False}).get_json()
    record(admin, "meanwhile")
    enabled = post(admin, path, {"enabled": True}).get_json()
    record(admin, "afterwards")

    assert (disabled["enabled"], disabled["disabled_reason"]) == (False, "admin")
    assert (enabled["enabled"], enabled["disabled_reason"]) == (True, None)
    states = [webhook["state"] for webhook in get(admin, "/api/webhooks")["webhooks"]]
    assert states == ["waiting", "given_up"]


def test_the_types_of_an_endpoint_can_be_changed(admin: SignedInUser) -> None:
    endpoint = create(admin)

    changed = post(admin, f"{PATH}/{endpoint['id']}", {"types": ["job.finished", "crm.push_failed"]})

    assert changed.get_json() == endpoint | {"types": ["crm.push_failed", "job.finished"]}


def test_a_deleted_endpoint_is_gone_with_its_log(admin: SignedInUser) -> None:
    endpoint = create(admin)
    record(admin, "one")

    response = admin.client.delete(f"{PATH}/{endpoint['id']}", headers=admin.headers)

    assert response.status_code == 204
    assert get(admin, PATH) == {"webhook_endpoints": []}
    assert get(admin, "/api/webhooks")["webhooks"] == []
    assert len(get(admin, "/api/events")["events"]) == 1


def test_a_test_event_is_delivered_to_the_endpoint(admin: SignedInUser) -> None:
    endpoint = create(admin)

    response = post(admin, f"{PATH}/{endpoint['id']}/test")

    (webhook,) = get(admin, "/api/webhooks")["webhooks"]
    assert response.status_code == 200
    assert webhook["type"] == "webhook_endpoint.test"
    assert (webhook["endpoint_id"], webhook["event_id"]) == (endpoint["id"], response.get_json()["event_id"])


def test_a_delivery_is_shown_with_its_attempts_and_without_the_secrets_in_its_url(
    admin: SignedInUser,
) -> None:
    create(admin)
    record(admin, "one")
    with admin.database.transaction() as session:
        webhook_id = session.scalars(select(Webhook.id)).one()
        delivery = begin_due(session, webhook_id, now=clock.now())
        assert delivery is not None
        webhooks.finish(session, delivery, AttemptResult(status=500, latency_ms=7), now=clock.now())

    shown = get(admin, f"/api/webhooks/{webhook_id}")

    attempt = shown.pop("log")[0]
    assert shown == get(admin, "/api/webhooks?failed=true")["webhooks"][0]
    assert (shown["host"], shown["attempts"], shown["state"]) == ("hooks.acme.example", 1, "waiting")
    assert (attempt["state"], attempt["status"], attempt["error"]) == ("failed", 500, "http_status")
    assert "secret" not in str(shown)


def test_a_replayed_delivery_is_due_at_once(admin: SignedInUser) -> None:
    path = f"{PATH}/{create(admin)['id']}"
    record(admin, "one")
    webhook_id = get(admin, "/api/webhooks")["webhooks"][0]["id"]
    post(admin, path, {"enabled": False})

    refused = post(admin, f"/api/webhooks/{webhook_id}/replay")
    post(admin, path, {"enabled": True})
    replayed = post(admin, f"/api/webhooks/{webhook_id}/replay")

    assert (refused.status_code, refused.get_json()["code"]) == (409, "endpoint_disabled")
    assert (replayed.status_code, replayed.get_json()["state"]) == (200, "waiting")


def test_a_replay_that_is_sent_twice_under_one_key_is_one(admin: SignedInUser) -> None:
    key = {"Idempotency-Key": "one click"}
    create(admin)
    record(admin, "one")
    webhook_id = get(admin, "/api/webhooks")["webhooks"][0]["id"]

    first = post(admin, f"/api/webhooks/{webhook_id}/replay", **key)
    again = post(admin, f"/api/webhooks/{webhook_id}/replay", **key)

    assert [answer.headers.get("Idempotent-Replay") for answer in (first, again)] == [None, "true"]


def test_events_are_listed_by_type_and_page_for_keys_that_may_look_up(admin: SignedInUser) -> None:
    record(admin, *"abc")
    post(admin, f"{PATH}/{create(admin)['id']}/test")
    headers = bearer(admin.make_key(Scope.LOOKUP))

    first = admin.client.get("/api/events?type=credits.limit_warning&limit=2", headers=headers).get_json()
    cursor = first["next_cursor"]
    rest = admin.client.get(
        f"/api/events?type=credits.limit_warning&cursor={cursor}", headers=headers
    ).get_json()

    assert [event["data"] for event in first["events"] + rest["events"]] == [{"used": 80}] * 3
    assert rest["next_cursor"] is None
    assert len({event["id"] for event in first["events"] + rest["events"]}) == 3


@pytest.mark.parametrize("path", ["/api/events", "/api/webhooks"])
@pytest.mark.parametrize("query", ["cursor=x", "limit=0", "limit=101"])
def test_a_wrong_page_is_refused(admin: SignedInUser, path: str, query: str) -> None:
    response = admin.client.get(f"{path}?{query}", headers=admin.headers)

    assert response.status_code == 422


@pytest.mark.parametrize("path", ["/api/events", "/api/webhooks"])
def test_another_workspace_sees_none_of_it(app: APIFlask, admin: SignedInUser, path: str) -> None:
    stranger = create_user(app, email="eve@babbage.example")
    create(admin)
    record(admin, "one")
    (mine,) = next(iter(get(admin, path).values()))

    everything, after = get(stranger, path), get(stranger, f"{path}?cursor={mine['id']}")

    assert next(iter(everything.values())) == next(iter(after.values())) == []


def test_a_replayed_change_does_not_undo_a_later_one(admin: SignedInUser) -> None:
    path = f"{PATH}/{create(admin)['id']}"
    key = {"Idempotency-Key": "one click"}
    post(admin, path, {"enabled": False}, **key)
    post(admin, path, {"enabled": True})

    replay = post(admin, path, {"enabled": False}, **key)

    assert (replay.status_code, replay.headers["Idempotent-Replay"]) == (200, "true")
    assert replay.get_json()["enabled"] is True
    assert post(admin, path, {"enabled": True}, **key).get_json()["code"] == "idempotency_key_reused"


def test_a_replayed_test_delivers_one_event(admin: SignedInUser) -> None:
    path = f"{PATH}/{create(admin)['id']}/test"
    key = {"Idempotency-Key": "one click"}

    first, replay = (post(admin, path, **key) for _ in range(2))

    assert first.get_json() == replay.get_json()
    assert ("Idempotent-Replay" in first.headers, "Idempotent-Replay" in replay.headers) == (False, True)
