"""The endpoints and the pages of CRM connections, pushes and schedules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.event_types import EventType
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
        text = f"{vendor} refuses the connection. An admin must connect again; the pushes wait."
    else:
        text = f"Contacts could not be pushed to {vendor}."
    return EventText(text, f"Reason: {reason}")


def _stopped_schedule(data: Mapping[str, Any]) -> EventText:
    text = f"A schedule of {_TITLES[data['vendor']]} stopped."
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
