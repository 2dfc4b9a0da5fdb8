"""The endpoints and the pages of CRM connections, pushes and schedules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.event_types import EventType
from app.domain.messages import Message
from app.features.crm.api import connections as connections_api
from app.features.crm.api import pushes as pushes_api
from app.features.crm.pages import connections as connections_pages
from app.features.crm.pages import oauth as oauth_pages
from app.features.crm.pages import pushes as pushes_pages
from app.features.crm.schedules import api as schedules_api
from app.features.crm.schedules import pages as schedules_pages
from app.features.crm.schedules import sentences as schedule_sentences
from app.features.crm.vendors.registry import CRMS
from app.web.feature import EventText, WebPart
from app.web.pages.navigation import Entry

_TITLES = {crm.name: crm.title for crm in CRMS}


def _failed_push(data: Mapping[str, Any]) -> EventText:
    vendor, reason = _TITLES[data["vendor"]], str(data["error"]).replace("_", " ")
    if data["push_id"] is None:
        text = Message(
            "{crm} refuses the connection. An admin must connect again; the pushes wait.", crm=vendor
        )
    else:
        text = Message("Contacts could not be pushed to {crm}.", crm=vendor)
    return EventText(text, Message("Reason: {reason}", reason=reason))


def _stopped_schedule(data: Mapping[str, Any]) -> EventText:
    text = Message("A schedule of {crm} stopped.", crm=_TITLES[data["vendor"]])
    return EventText(text, schedule_sentences.reason_sentence(data["reason"]))


WEB = WebPart(
    api=(connections_api.blueprint, pushes_api.blueprint, schedules_api.blueprint),
    pages=(
        connections_pages.blueprint,
        oauth_pages.blueprint,
        pushes_pages.blueprint,
        schedules_pages.blueprint,
    ),
    navigation=(Entry("crm_page.index", "CRM", position=20),),
    event_texts={
        EventType.CRM_PUSH_FAILED: _failed_push,
        EventType.CRM_SCHEDULE_STOPPED: _stopped_schedule,
    },
)
