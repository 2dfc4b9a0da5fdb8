"""What the operator and the workspace are told of CRM connections: a gauge and events."""

from __future__ import annotations

from typing import Any

import pytest
from jobs_support import NOW, a_workspace
from page_support import Visitor
from users_support import SignedInUser

from app.api.ops import given_up
from app.domain.event_types import EventType
from app.engine.events import events
from app.features.crm import connections, outbox
from app.features.crm.connections import Credentials
from app.infra import clock
from app.infra.database.session import Session

REFUSED = {"connection_id": "crm_1", "vendor": "hubspot", "push_id": None, "error": "invalid_token"}


@pytest.mark.parametrize(("error", "count"), [(outbox.TURNS_FAILED, 1), ("unauthorized", 0), (None, 0)])
def test_suspended_connections_are_counted_as_given_up(
    session: Session, error: str | None, count: int
) -> None:
    connection = connections.create(
        session,
        a_workspace(session),
        vendor="hubspot",
        base_url=None,
        credentials=Credentials(token="t"),
        mapping={},
        account_id="acc_1",
        now=NOW,
    )
    connection.error = error
    session.flush()

    assert given_up.counts(session, now=NOW)["crm_connection"] == count


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
