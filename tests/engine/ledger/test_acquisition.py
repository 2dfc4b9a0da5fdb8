from __future__ import annotations

from typing import Any

import pytest
from jobs_support import NOW, a_workspace, at_once
from sqlalchemy import select
from sqlalchemy.dialects import postgresql

from app.domain.ids import new_id
from app.engine.contacts.contacts import Contact
from app.engine.ledger import acquisition, ownership, reveals
from app.engine.ledger.acquisition import Acquisition
from app.engine.ledger.ownership import Ownership
from app.engine.ledger.reveals import Reveal
from app.infra.database.db import Database
from app.infra.database.session import Session


def a_contact(session: Session) -> str:
    contact = Contact(id=new_id("con"), provenance={}, created_at=NOW, updated_at=NOW)
    session.add(contact)
    session.flush()
    return contact.id


def record(session: Session, workspace_id: str, contact_id: str, field: str = "email") -> bool:
    return acquisition.acquire_field(
        session,
        Acquisition(workspace_id=workspace_id, contact_id=contact_id, field=field, job_id="job_1", price=2),
        now=NOW,
    )


def test_the_first_reveal_is_stored_with_its_price(session: Session) -> None:
    workspace_id, contact_id = a_workspace(session), a_contact(session)

    is_new = record(session, workspace_id, contact_id)

    row = session.scalars(select(Reveal)).one()
    assert is_new
    assert (row.job_id, row.credits, row.created_at) == ("job_1", 2, NOW)


@pytest.mark.parametrize("acquire_values", [True, False])
def test_a_reveal_is_stored_with_its_purpose(session: Session, *, acquire_values: bool) -> None:
    acquirer: dict[str, Any] = {"workspace_id": a_workspace(session), "contact_id": a_contact(session)}
    acquirer |= {"field": "email", "job_id": "job_1", "price": 1, "purpose": "recruiting"}

    if acquire_values:
        acquisition.acquire_all(session, [Acquisition(values=["index"], **acquirer)], now=NOW)
    else:
        acquisition.acquire_field(session, Acquisition(**acquirer), now=NOW)

    assert session.scalars(select(Reveal.purpose)).all() == ["recruiting"]


@pytest.mark.parametrize("second", ["recruiting", None])
def test_a_reveal_after_a_refund_has_the_purpose_of_the_last_one(
    session: Session, second: str | None
) -> None:
    key = {"workspace_id": a_workspace(session), "contact_id": a_contact(session), "field": "email"}
    acquisition.acquire_field(
        session, Acquisition(**key, job_id="job_1", price=1, purpose="due_diligence"), now=NOW
    )
    reveals.mark_refunded(session, **key, since=NOW, now=NOW)

    acquisition.acquire_field(session, Acquisition(**key, job_id="job_2", price=1, purpose=second), now=NOW)

    session.expire_all()
    assert session.scalars(select(Reveal.purpose)).all() == [second]


def test_the_second_reveal_returns_that_the_field_is_owned(session: Session) -> None:
    workspace_id, contact_id = a_workspace(session), a_contact(session)
    record(session, workspace_id, contact_id)

    assert not record(session, workspace_id, contact_id)


def test_an_email_and_a_phone_are_owned_separately(session: Session) -> None:
    workspace_id, contact_id = a_workspace(session), a_contact(session)
    record(session, workspace_id, contact_id, "email")

    assert record(session, workspace_id, contact_id, "phone")
    assert ownership.owned(session, workspace_id, [contact_id]).fields == {
        (contact_id, "email"),
        (contact_id, "phone"),
    }


def test_ownership_is_per_workspace(session: Session) -> None:
    mine, theirs, contact_id = a_workspace(session), a_workspace(session), a_contact(session)
    record(session, theirs, contact_id)

    assert ownership.owned(session, mine, [contact_id]) == Ownership()
    assert record(session, mine, contact_id)


def test_only_ownership_of_the_given_contacts_is_returned(session: Session) -> None:
    workspace_id, ada, bob = a_workspace(session), a_contact(session), a_contact(session)
    record(session, workspace_id, ada)
    record(session, workspace_id, bob)

    assert ownership.owned(session, workspace_id, [ada]).fields == {(ada, "email")}


def test_without_contacts_nothing_is_owned(session: Session) -> None:
    assert ownership.owned(session, a_workspace(session), []) == Ownership()


@pytest.mark.parametrize("field", ["email", "phone"])
def test_of_twelve_concurrent_reveals_one_is_new(database: Database, field: str) -> None:
    with database.transaction() as session:
        workspace_id, contact_id = a_workspace(session), a_contact(session)

    def reveal(_number: int) -> bool:
        with database.transaction() as session:
            return record(session, workspace_id, contact_id, field)

    assert at_once(12, reveal).count(True) == 1


def test_postgresql_acquires_the_field_in_the_same_statement_if_a_value_is_new() -> None:
    statement = acquisition._acquire("postgresql")  # noqa: SLF001 -- SQLite needs two statements

    sql = " ".join(str(statement.compile(dialect=postgresql.dialect())).split())

    assert sql.startswith("WITH added AS (INSERT INTO revealed_values")
    assert "acquired AS (INSERT INTO reveals" in sql
    assert "IN (SELECT added.job_id FROM added) ORDER BY" in sql
