"""Personal data in webhooks: the URL of a request or of an endpoint may name a person."""

from __future__ import annotations

from sqlalchemy import delete, or_, select

from app.domain.records.person_matcher import PersonMatcher
from app.engine.events.deliveries import OF_CALLER, Webhook
from app.engine.events.endpoints import WebhookEndpoint
from app.engine.privacy.holdings import Holdings
from app.infra.database.session import Session


def erase(session: Session, matcher: PersonMatcher) -> None:
    """Delete the deliveries whose URL contains the person's data."""
    of_callers = session.execute(select(Webhook.id, Webhook.url).where(OF_CALLER))
    ids = [row.id for row in of_callers if matcher.matches(row.url)]
    endpoints = session.execute(select(WebhookEndpoint.id, WebhookEndpoint.url))
    endpoint_ids = [row.id for row in endpoints if matcher.matches(row.url)]
    named = or_(Webhook.id.in_(ids), Webhook.endpoint_id.in_(endpoint_ids))
    session.execute(delete(Webhook).where(named))


HOLDINGS = Holdings(erase=erase)
