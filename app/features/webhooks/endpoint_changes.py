"""What admins do with the webhook endpoints of their workspace, through the API and the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.audit_actions import Action
from app.engine.events import deliveries, endpoints, events
from app.engine.events.endpoints import WebhookEndpoint
from app.features.webhooks import delivery_log, message_formats
from app.features.webhooks.delivery_log import WebhookStatus
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.idempotency_header import begin, finish, is_replay
from app.web.sign_in.admins import admin_caller


def create(new: Mapping[str, Any]) -> tuple[WebhookEndpoint, bool]:
    """Create an endpoint (see `NewEndpointSchema`); return it, and whether the request is a replay.

    Raises:
        ValidationFailed: the workspace has too many.

    """
    with admission.transaction() as session:
        workspace_id = admin_caller(session).workspace_id
        now = database_clock.value(session)
        reference = begin(session, now=now)
        if reference:
            return endpoints.get(session, workspace_id, reference), True
        form = new.get("format_") or message_formats.of_url(new["url"])
        endpoint = endpoints.create(
            session, workspace_id, url=new["url"], types=new["types"], format_=form, now=now
        )
        finish(session, endpoint.id)
    log.info("webhook endpoint created", workspace=workspace_id, endpoint=endpoint.id)
    return endpoint, False


def change(endpoint_id: str, changes: Mapping[str, Any]) -> tuple[WebhookEndpoint, bool]:
    """Change an endpoint (see `EndpointChangeSchema`); return it, and whether the request is a replay."""
    with admission.transaction() as session:
        endpoint = endpoints.locked(session, admin_caller(session).workspace_id, endpoint_id)
        now = database_clock.value(session)
        if is_replay(session, endpoint_id, now=now):
            return endpoint, True
        endpoint.types = sorted(set(changes.get("types", endpoint.types)))
        endpoint.format = changes.get("format_", endpoint.format)
        if changes.get("enabled") is True:
            endpoints.enable(endpoint)
        if changes.get("enabled") is False:
            deliveries.disable(session, endpoint, now=now)
        session.flush()
        endpoints.record(session, Action.WEBHOOK_ENDPOINT_CHANGE, endpoint)
    log.info("webhook endpoint changed", endpoint=endpoint_id)
    return endpoint, False


def delete(endpoint_id: str) -> None:
    """Delete an endpoint with the log of its deliveries."""
    with admission.transaction() as session:
        endpoints.delete(session, endpoints.locked(session, admin_caller(session).workspace_id, endpoint_id))
    log.info("webhook endpoint deleted", endpoint=endpoint_id)


def send_test(endpoint_id: str) -> tuple[str, bool]:
    """Queue a test event for an endpoint; return the event's id, and whether the request is a replay."""
    with admission.transaction() as session:
        workspace_id = admin_caller(session).workspace_id
        now = database_clock.now()
        earlier = begin(session, now=now)
        if earlier:
            return earlier, True
        event_id = events.record_test(session, workspace_id, endpoint_id, now=now)
        finish(session, event_id)
    return event_id, False


def replay(webhook_id: str) -> tuple[WebhookStatus, bool]:
    """Deliver again; return the delivery, and whether the request is a replay of an earlier one.

    Raises:
        EndpointDisabled: its endpoint is disabled.

    """
    with admission.transaction() as session:
        workspace_id = admin_caller(session).workspace_id
        now = database_clock.now()
        replayed = is_replay(session, webhook_id, now=now)
        if not replayed:
            delivery_log.replay_of_workspace(session, workspace_id, webhook_id, now=now)
        status = delivery_log.get_of_workspace(session, workspace_id, webhook_id)
    log.info("webhook replayed", webhook=webhook_id)
    return status, replayed
