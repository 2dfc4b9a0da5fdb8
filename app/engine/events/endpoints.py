"""Webhook endpoints: URLs of a workspace that receive its events and the ends of its jobs.

An endpoint that has not accepted anything for days is disabled, which ends its retries.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, String, func, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, NotFound, ValidationFailed
from app.domain.ids import new_id
from app.domain.messages import Message
from app.engine.accounts.workspaces import foreign_key
from app.engine.audit_log import entries as audit_log
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session

DISABLE_AFTER = timedelta(days=2)
"""How long all deliveries must have failed before one that is given up disables its endpoint.

The retries of one delivery take about three days, so an endpoint is never disabled by its first failure.
"""


MAX_ENDPOINTS = 20
"""The number of endpoints that a workspace can have; each event is delivered to all of them."""


class DisabledReason(StrEnum):
    """Why an endpoint is disabled."""

    ADMIN = "admin"
    FAILING = "failing"
    GONE = "gone"


class WebhookEndpoint(Base):
    """A URL that receives the events of these types, in this format of the feature that delivers them.

    `failing_since` is null after a success.

    Its deliveries are signed with its own secret, which is derived from its id and SECRET_KEY.
    """

    __tablename__ = "webhook_endpoints"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    url: Mapped[str]
    types: Mapped[list[Any]]
    format: Mapped[str] = mapped_column(String(10), server_default="standard")
    failing_since: Mapped[datetime | None]
    disabled_at: Mapped[datetime | None]
    disabled_reason: Mapped[str | None]
    created_at: Mapped[datetime]


def create(
    session: Session,
    workspace_id: str,
    *,
    url: str,
    types: Sequence[str],
    format_: str = "standard",
    now: Moment,
) -> WebhookEndpoint:
    """Insert an enabled endpoint; the URL must be validated.

    Raises:
        ValidationFailed: the workspace has too many.

    """
    mine = select(func.count()).where(WebhookEndpoint.workspace_id == workspace_id)
    if session.scalars(mine).one() >= MAX_ENDPOINTS:
        detail = Message(
            "The workspace has {max} endpoints. Delete one that is no longer used.", max=MAX_ENDPOINTS
        )
        raise ValidationFailed(errors=(FieldError("/url", detail),))
    endpoint = WebhookEndpoint(
        id=new_id("whe"),
        workspace_id=workspace_id,
        url=url,
        types=sorted(set(types)),
        format=format_,
        created_at=now,
    )
    session.add(endpoint)
    session.flush()
    session.refresh(endpoint)
    record(session, Action.WEBHOOK_ENDPOINT_CREATE, endpoint)
    return endpoint


def of_workspace(session: Session, workspace_id: str) -> Sequence[WebhookEndpoint]:
    """Return the endpoints of the workspace, newest first."""
    query = select(WebhookEndpoint).where(WebhookEndpoint.workspace_id == workspace_id)
    return session.scalars(query.order_by(WebhookEndpoint.created_at.desc(), WebhookEndpoint.id.desc())).all()


def get(session: Session, workspace_id: str, endpoint_id: str) -> WebhookEndpoint:
    """Return the workspace's endpoint with this id."""
    return _found(session.get(WebhookEndpoint, endpoint_id), workspace_id)


def locked(session: Session, workspace_id: str, endpoint_id: str) -> WebhookEndpoint:
    """Return the workspace's endpoint as it is now, and lock its row until the transaction ends."""
    row = session.get(WebhookEndpoint, endpoint_id, with_for_update=True, populate_existing=True)
    return _found(row, workspace_id)


def enabled(session: Session, workspace_ids: Collection[str]) -> Sequence[WebhookEndpoint]:
    """Return the enabled endpoints of these workspaces; none is deleted until the transaction ends."""
    query = select(WebhookEndpoint).where(
        WebhookEndpoint.workspace_id.in_(workspace_ids), WebhookEndpoint.disabled_at.is_(None)
    )
    locking = query.order_by(WebhookEndpoint.id).with_for_update(read=True, key_share=True)
    return session.scalars(locking).all()


def enable(endpoint: WebhookEndpoint) -> None:
    """Enable an endpoint that the caller has locked; its failures before no longer count."""
    endpoint.disabled_at = endpoint.disabled_reason = endpoint.failing_since = None


def delete(session: Session, endpoint: WebhookEndpoint) -> None:
    """Delete an endpoint that the caller has locked, with the log of its deliveries."""
    session.delete(endpoint)
    record(session, Action.WEBHOOK_ENDPOINT_DELETE, endpoint)


def record(session: Session, action: Action, endpoint: WebhookEndpoint) -> None:
    """Record an action on the endpoint in the audit log."""
    audit_log.record(session, action, object_id=endpoint.id, workspace_id=endpoint.workspace_id)


def any_enabled(workspace_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that the workspace has an enabled endpoint."""
    columns = WebhookEndpoint.__table__.c
    is_receiver = (columns.workspace_id == workspace_id, columns.disabled_at.is_(None))
    return select(columns.id).where(*is_receiver).exists()


def secret(keys: DigestKeys, endpoint_id: str) -> str:
    """Return the endpoint's secret in the format of Standard Webhooks, derived from SECRET_KEY."""
    return f"whsec_{base64.b64encode(keys.digest('webhook endpoint', endpoint_id)).decode()}"


def workspace_secret(keys: DigestKeys, workspace_id: str) -> str:
    """Return the secret of a workspace, which signs deliveries to URLs that requests named."""
    return f"whsec_{base64.b64encode(keys.digest('webhook', workspace_id)).decode()}"


def record_result(session: Session, endpoint_id: str, *, delivered: bool, now: Moment) -> None:
    """Record a success, or since when all deliveries fail. The caller locks the webhook only after it.

    A failure always locks the endpoint, which it may disable together with its other webhooks.
    """
    result = update(WebhookEndpoint).where(WebhookEndpoint.id == endpoint_id)
    if delivered:
        result = result.where(WebhookEndpoint.failing_since.is_not(None)).values(failing_since=None)
    else:
        result = result.values(failing_since=func.coalesce(WebhookEndpoint.failing_since, now))
    session.execute(result.execution_options(synchronize_session=False))


def disable_after_failure(
    session: Session, endpoint_id: str, *, is_gone: bool, now: Moment
) -> WebhookEndpoint | None:
    """Disable an enabled endpoint that is gone or has failed too long; return it if this disabled it."""
    has_failed_long = WebhookEndpoint.failing_since <= now - DISABLE_AFTER
    reason = DisabledReason.GONE if is_gone else DisabledReason.FAILING
    disabled_id = session.scalar(
        update(WebhookEndpoint)
        .where(WebhookEndpoint.id == endpoint_id, WebhookEndpoint.disabled_at.is_(None))
        .where(*() if is_gone else (has_failed_long,))
        .values(disabled_at=now, disabled_reason=reason.value)
        .returning(WebhookEndpoint.id)
        .execution_options(synchronize_session=False)
    )
    return None if disabled_id is None else session.get(WebhookEndpoint, disabled_id, populate_existing=True)


def _found(endpoint: WebhookEndpoint | None, workspace_id: str) -> WebhookEndpoint:
    if endpoint is None or endpoint.workspace_id != workspace_id:
        raise NotFound("There is no such endpoint. List the endpoints with GET /api/webhook-endpoints.")
    return endpoint
