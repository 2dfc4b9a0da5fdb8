"""Who may use the endpoints and the pages of webhooks."""

from __future__ import annotations

from access_support import ADMIN, MEMBER, Maker, requires
from sqlalchemy import delete, select
from users_support import SignedInUser

from app.domain.callers import Scope
from app.engine.events import endpoints, events
from app.engine.events.deliveries import Webhook
from app.engine.events.endpoints import WebhookEndpoint
from app.infra import clock

ACCESS_RULES = {
    "GET /api/webhook-endpoints": requires("admin", 200),
    "POST /api/webhook-endpoints": requires(
        "admin", 201, body={"url": "https://hooks.acme.example/", "types": ["job.finished"]}
    ),
    "POST /api/webhook-endpoints/<endpoint_id>": requires(
        "admin", 200, body={"enabled": True}, owned_by="the workspace's"
    ),
    "DELETE /api/webhook-endpoints/<endpoint_id>": requires("admin", 204, owned_by="the workspace's"),
    "POST /api/webhook-endpoints/<endpoint_id>/test": requires("admin", 200, owned_by="the workspace's"),
    "GET /api/webhooks": requires(Scope.LOOKUP, 200),
    "GET /api/webhooks/<webhook_id>": requires(Scope.LOOKUP, 200, owned_by="the workspace's"),
    "POST /api/webhooks/<webhook_id>/replay": requires("admin", 200, owned_by="the workspace's"),
}
WITHOUT_A_BODY = {
    "POST /api/webhook-endpoints/<endpoint_id>/test",
    "POST /api/webhooks/<webhook_id>/replay",
}
BY_ID = (
    "DELETE /api/webhook-endpoints/<endpoint_id>",
    "GET /api/webhooks/<webhook_id>",
    "POST /api/webhooks/<webhook_id>/replay",
)
PAGES = {
    "GET /webhooks": MEMBER,
    "GET /webhooks/<webhook_id>": MEMBER,
    "POST /webhooks": ADMIN,
    "POST /webhooks/<webhook_id>/replay": ADMIN,
    "POST /webhooks/endpoints/<endpoint_id>/delete": ADMIN,
    "POST /webhooks/endpoints/<endpoint_id>/disable": ADMIN,
    "POST /webhooks/endpoints/<endpoint_id>/enable": ADMIN,
    "POST /webhooks/endpoints/<endpoint_id>/test": ADMIN,
}


_NEW = {"url": "https://hooks.acme.example/events", "types": ["job.finished"]}
RECORDED = (
    (("POST /api/webhook-endpoints", _NEW), ("POST /webhooks", _NEW), "webhook_endpoint.create"),
    (
        ("POST /api/webhook-endpoints/{endpoint_id}", {"enabled": False}),
        ("POST /webhooks/endpoints/{endpoint_id}/disable", {}),
        "webhook_endpoint.change",
    ),
    (
        ("DELETE /api/webhook-endpoints/{endpoint_id}", None),
        ("POST /webhooks/endpoints/{endpoint_id}/delete", {}),
        "webhook_endpoint.delete",
    ),
)
"""An endpoint and a page that do alike, and what both record in the audit log."""


def an_endpoint(owner: SignedInUser, _contact_id: str) -> str:
    """Create the only webhook endpoint of the owner's workspace; return its id."""
    with owner.database.transaction() as session:
        mine = WebhookEndpoint.workspace_id == owner.workspace_id
        session.execute(delete(WebhookEndpoint).where(mine))
        url, types = "https://hooks.acme.example/", ["job.finished"]
        return endpoints.create(session, owner.workspace_id, url=url, types=types, now=clock.now()).id


def a_webhook(owner: SignedInUser, contact_id: str) -> str:
    """Return the id of a delivery to an endpoint of the owner's workspace."""
    endpoint_id, now = an_endpoint(owner, contact_id), clock.now()
    with owner.database.transaction() as session:
        event_id = events.record_test(session, owner.workspace_id, endpoint_id, now=now)
        return session.scalars(select(Webhook.id).where(Webhook.event_id == event_id)).one()


MAKERS: dict[str, Maker] = {"endpoint_id": an_endpoint, "webhook_id": a_webhook}
