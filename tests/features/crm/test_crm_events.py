"""What a workspace is told of its CRM connections: events as sentences."""

from __future__ import annotations

from typing import Any

import pytest
from page_support import Visitor
from users_support import SignedInUser

from app.domain.event_types import EventType
from app.engine.events import events
from app.infra import clock

REFUSED = {"connection_id": "crm_1", "vendor": "hubspot", "push_id": None, "error": "invalid_token"}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (REFUSED, "HubSpot refuses the connection."),
        (REFUSED | {"vendor": "twenty", "push_id": "psh_1"}, "Contacts could not be pushed to Twenty."),
    ],
)
def test_failures_are_sentences(
    browser: Visitor, user: SignedInUser, data: dict[str, Any], sentence: str
) -> None:
    with user.database.transaction() as session:
        events.record(
            session, user.workspace_id, EventType.CRM_PUSH_FAILED, data, dedup_key="1", now=clock.now()
        )

    page = browser.open("/events")

    assert sentence in page.text
    assert "Reason: invalid token" in page.text
