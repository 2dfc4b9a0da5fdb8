"""The page of webhook endpoints and deliveries."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from jobs_support import DIGEST_KEYS
from page_support import Visitor, visitor
from sqlalchemy import select
from users_support import SignedInUser
from webhook_support import begin_due

from app.domain.event_types import EventType
from app.engine.accounts.accounts import Account, Role
from app.engine.events import endpoints, events
from app.engine.events.deliveries import Webhook
from app.engine.events.endpoints import WebhookEndpoint
from app.features.webhooks import delivery as webhooks
from app.features.webhooks.delivery import AttemptResult
from app.infra import clock

URL = "https://hooks.acme.example/events?key=concealed"


@pytest.fixture
def admin(browser: Visitor, user: SignedInUser) -> Visitor:
    """The browser of the user, who is an admin."""
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
    return browser


def create(browser: Visitor, **fields: Any) -> str:
    """Send the form for an endpoint; return the text of the page."""
    text: str = browser.send("/webhooks", **({"url": URL, "types": ["crm.push_failed"]} | fields)).text
    return text


def only_endpoint(user: SignedInUser) -> WebhookEndpoint:
    with user.database.reading() as session:
        return session.scalars(select(WebhookEndpoint)).one()


def fail_a_delivery(user: SignedInUser) -> str:
    """Record an event, and a failed attempt to deliver it; return the id of the delivery."""
    with user.database.transaction() as session:
        events.record(
            session, user.workspace_id, EventType.CRM_PUSH_FAILED, {}, dedup_key="one", now=clock.now()
        )
        webhook_id = session.scalars(select(Webhook.id)).one()
        delivery = begin_due(session, webhook_id, now=clock.now())
        assert delivery is not None
        webhooks.finish(session, delivery, AttemptResult(status=503, latency_ms=84), now=clock.now())
    return webhook_id


def test_an_admin_creates_an_endpoint_and_sees_its_secret(admin: Visitor, user: SignedInUser) -> None:
    text = create(admin)

    endpoint = only_endpoint(user)
    assert "The endpoint receives events from now on." in text
    assert endpoints.secret(DIGEST_KEYS, endpoint.id).replace("+", "&#43;") in text.replace("+", "&#43;")
    assert (endpoint.url, endpoint.types) == (URL, ["crm.push_failed"])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"url": "http://hooks.acme.example/"}, "Must begin with https://."),
        ({"url": "https://10.0.0.1/"}, "not on the public internet"),
        ({"types": []}, 'id="types-error"'),
    ],
)
def test_an_invalid_endpoint_is_not_created(
    admin: Visitor, user: SignedInUser, fields: dict[str, Any], message: str
) -> None:
    text = create(admin, **fields)

    assert message in text
    with user.database.reading() as session:
        assert endpoints.of_workspace(session, user.workspace_id) == []


def test_a_test_leads_to_the_delivery(admin: Visitor, user: SignedInUser) -> None:
    create(admin)

    page = admin.send(f"/webhooks/endpoints/{only_endpoint(user).id}/test")

    assert page.request.path.startswith("/webhooks/whk_")
    assert "The first attempt is made in a moment." in page.text
    assert "data-live" in page.text


def test_an_endpoint_is_disabled_enabled_and_deleted(admin: Visitor, user: SignedInUser) -> None:
    create(admin)
    path = f"/webhooks/endpoints/{only_endpoint(user).id}"

    texts = [admin.send(f"{path}/{action}").text for action in ("disable", "enable", "delete")]

    assert "It receives nothing until you enable it." in texts[0]
    assert ">Disabled<" in texts[0]
    assert ">Enabled<" in texts[1]
    assert "The endpoint is deleted." in texts[2]
    assert "hooks.acme.example" not in texts[2]


def test_a_member_sees_the_log_and_neither_secrets_nor_buttons(
    app: APIFlask, admin: Visitor, user: SignedInUser
) -> None:
    create(admin)
    webhook_id = fail_a_delivery(user)
    member = visitor(app, user.colleague())

    log, delivery = member.open("/webhooks").text, member.open(f"/webhooks/{webhook_id}").text

    assert "hooks.acme.example" in log
    assert "Failed, will be retried" in log
    assert not any(secret in text for secret in ("whsec_", "concealed") for text in (log, delivery))
    assert "Deliver again" not in delivery
    assert ">503<" in delivery
    assert "84 ms" in delivery


def test_an_admin_delivers_again(admin: Visitor, user: SignedInUser) -> None:
    create(admin)
    webhook_id = fail_a_delivery(user)

    page = admin.send(f"/webhooks/{webhook_id}/replay")

    assert "data-live" in page.text
    with user.database.reading() as session:
        assert session.get_one(Webhook, webhook_id).attempts == 0


def test_a_delivery_to_a_disabled_endpoint_is_not_repeated(admin: Visitor, user: SignedInUser) -> None:
    create(admin)
    webhook_id = fail_a_delivery(user)
    admin.send(f"/webhooks/endpoints/{only_endpoint(user).id}/disable")

    page = admin.send(f"/webhooks/{webhook_id}/replay")

    assert page.status_code == 200
    assert "Enable it, then replay the delivery." in page.text
    assert f"/webhooks/{webhook_id}/replay" in page.text


def test_the_log_can_show_only_failed_deliveries(admin: Visitor, user: SignedInUser) -> None:
    create(admin)
    before = admin.open("/webhooks?failed=1").text
    webhook_id = fail_a_delivery(user)

    after = admin.open("/webhooks?failed=1").text

    assert "No delivery has failed." in before
    assert f"/webhooks/{webhook_id}" in after


def test_another_workspaces_delivery_looks_like_a_missing_one(admin: Visitor) -> None:
    assert admin.open("/webhooks/whk_0crnqk4e1k9jv0d2m4f6h8ab").status_code == 404
