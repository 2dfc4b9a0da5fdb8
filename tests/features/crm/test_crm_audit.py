"""Idempotency keys that refer to connections and pushes, as the ledger audit sees them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from jobs_support import NOW, a_workspace

from app.engine.audit import rule_checks
from app.engine.jobs.idempotency import IdempotencyKey
from app.features.crm import connections
from app.features.crm.connections import Credentials
from app.infra.database.session import Session

CONNECTION = "a connection of the workspace"
FOREIGN = "a connection of another workspace"


def a_connection(session: Session, workspace_id: str) -> str:
    return connections.create(
        session,
        workspace_id,
        vendor="hubspot",
        base_url=None,
        credentials=Credentials(token="t"),
        mapping={},
        account_id="acc_1",
        now=NOW,
    ).id


@pytest.mark.parametrize(
    ("reference", "violations"),
    [
        (CONNECTION, []),
        ("crm_deleted", []),
        ("psh_deleted", []),
        ("xxx_unknown", ["what is gone"]),
        (FOREIGN, ["that of {other}"]),
    ],
)
def test_a_key_stands_for_a_connection_or_a_push_of_its_workspace(
    session: Session, reference: str, violations: list[str]
) -> None:
    workspace_id, other = a_workspace(session), a_workspace(session)
    made = {CONNECTION: a_connection(session, workspace_id), FOREIGN: a_connection(session, other)}
    session.add(
        IdempotencyKey(
            workspace_id=workspace_id,
            key="k",
            request_hash=b"h",
            reference=made.get(reference, reference),
            created_at=NOW,
        )
    )
    session.flush()

    checked = rule_checks.check(session, stuck_after=timedelta(hours=1), now=NOW)

    found = [fault.found for entry in checked for fault in entry.faults]
    assert found == [text.format(other=other) for text in violations]
