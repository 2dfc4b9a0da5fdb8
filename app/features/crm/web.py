"""The endpoints and the pages of CRM connections and pushes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import func, select

from app.api import crm_connections, crm_pushes
from app.crm.registry import CRMS
from app.domain.event_types import EventType
from app.engine.crm import outbox
from app.engine.crm.connections import CrmConnection
from app.infra.database.session import Session
from app.pages import crm, crm_oauth
from app.pages import crm_pushes as pushes_pages
from app.web.feature import EventText, WebPart
from app.web.pages.navigation import Entry

_TITLES = {crm.name: crm.title for crm in CRMS}


def _failed_push(data: Mapping[str, Any]) -> EventText:
    vendor, reason = _TITLES[data["vendor"]], str(data["error"]).replace("_", " ")
    if data["push_id"] is None:
        text = f"{vendor} refuses the connection. An admin must connect again; the pushes wait."
    else:
        text = f"Contacts could not be pushed to {vendor}."
    return EventText(text, f"Reason: {reason}")


def _given_up(session: Session) -> dict[str, int]:
    """Count the connections at which workers failed, until their workspaces connect again."""
    suspended = select(func.count()).where(CrmConnection.error == outbox.TURNS_FAILED)
    return {"crm_connection": session.scalars(suspended).one()}


WEB = WebPart(
    api=(crm_connections.blueprint, crm_pushes.blueprint),
    pages=(crm.blueprint, crm_oauth.blueprint, pushes_pages.blueprint),
    navigation=(Entry("crm_page.index", "CRM", position=60),),
    event_texts={EventType.CRM_PUSH_FAILED: _failed_push},
    given_up=_given_up,
)
