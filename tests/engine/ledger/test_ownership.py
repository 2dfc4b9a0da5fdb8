from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jobs_support import a_question, submit
from local_servers import POSTGRES
from query_plans_support import explained
from stored_support import ADA_URL, a_contact, a_phone, an_email, own

from app.domain.records.subjects import Subject
from app.engine.jobs.quotes import RevealPrice
from app.engine.ledger import ownership
from app.engine.lookups import contact_data
from app.engine.lookups.field_requests import ContactField, FieldRequest, MinStatus
from app.infra.database.db import Database
from app.infra.database.session import Session

WORK = FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=MinStatus.ANY)
OWNED = {"reveals": "contact_id", "revealed_values": "value_index"}
"""The tables of what workspaces own, and the column by which their rows must be selected, not only joined."""


@pytest.mark.skipif(POSTGRES is None, reason="reads PostgreSQL's plans")
def test_what_a_workspace_owns_is_selected_by_person_even_without_statistics(
    database: Database, session: Session, workspace_id: str
) -> None:
    ada = a_contact(session, linkedin_url=ADA_URL)
    an_email(session, ada, "ada@acme.com")
    a_phone(session, ada, "+12025550143")
    own(session, workspace_id, ada, "email")
    price = RevealPrice(subject=Subject(linkedin_url=ADA_URL), field_request=WORK, credits=1)

    with explained(database) as plans:
        data = contact_data.load(session, workspace_id, [ada])
        owned = ownership.owned(session, workspace_id, [ada.id])
        submit(session, a_question(workspace_id, price=price))

    assert data.owned.fields == owned.fields == {(ada.id, "email")}
    conditions = [pair for plan in plans for pair in conditions_of(plan)]
    assert {table for table, _ in conditions} == set(OWNED)
    assert [pair for pair in conditions if OWNED[pair[0]] not in pair[1]] == []


def conditions_of(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the tables in `OWNED` that a plan reads, each with the conditions on its rows."""
    if plan.get("Relation Name") in OWNED:
        parts = (plan.get(key, "") for key in ("Index Cond", "Recheck Cond", "Filter"))
        yield plan["Relation Name"], " ".join(parts)
    for child in plan.get("Plans", ()):
        yield from conditions_of(child)
