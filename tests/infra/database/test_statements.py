from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from jobs_support import NOW, a_workspace
from local_servers import POSTGRES
from sqlalchemy import bindparam, insert, select, text
from sqlalchemy.exc import IntegrityError
from stored_support import a_contact, an_email

from app.domain.errors import Unavailable
from app.engine.accounts.workspaces import Workspace
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.jobs.jobs import Job
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of


class Row(NamedTuple):
    id: str
    name: str


BY_ID = Statement(
    Row, lambda _dialect: select(Workspace.id, Workspace.name).where(Workspace.id == bindparam("of_id"))
)
ADD = Statement(
    tuple,
    lambda _dialect: insert(Workspace).values(
        id=bindparam("new_id"), name="Acme", available=0, held=0, spent=0, is_limited=False, created_at=NOW
    ),
)
NAMED = Statement(
    tuple,
    lambda dialect: (
        select(Contact.full_name)
        .where(any_of(dialect, Contact.full_name, "names"))
        .order_by(Contact.full_name)
    ),
)

WITH_ID = Statement(
    tuple, lambda dialect: select(Contact.full_name).where(any_of(dialect, Contact.id, "ids"))
)
IS_PLANNED_ONCE = text(
    "SELECT generic_plans > custom_plans FROM pg_prepared_statements"
    " WHERE statement LIKE 'SELECT contacts.full_name%'"
)


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.transaction() as session:
        yield session


@pytest.mark.parametrize("table", [Contact, Email, Job, Workspace])
@pytest.mark.usefixtures("_rows")
def test_rows_are_those_of_sqlalchemy(session: Session, table: Any) -> None:
    query = select(table.__table__)

    rows = Statement(tuple, lambda _dialect: query).all(session, {})

    assert rows
    assert rows == list(map(tuple, session.execute(query)))


def test_a_row_has_the_fields_of_its_class(session: Session) -> None:
    a_workspace(session)

    [row] = Statement(Row, lambda _dialect: select(Workspace.id, Workspace.name)).all(session, {})

    assert isinstance(row, Row)
    assert row == session.execute(select(Workspace.id, Workspace.name)).one()


def test_a_class_whose_fields_are_not_the_columns_is_refused(session: Session) -> None:
    swapped = Statement(Row, lambda _dialect: select(Workspace.name, Workspace.id))

    with pytest.raises(TypeError, match="The fields of Row are"):
        swapped.all(session, {})


@pytest.fixture
def _rows(session: Session) -> None:
    """Insert a contact with an address, and a job."""
    workspace = a_workspace(session)
    an_email(session, a_contact(session), "ada@acme.com", confidence=0.9)
    session.add(
        Job(
            id="job_1",
            workspace_id=workspace,
            kind="reveal.email",
            request_digest=b"\x00\xff",
            request={"subject": {"full_name": "Ada"}},
            status="queued",
            trace=[{"provider": "sandbox"}],
            held=2**40,
            charged=0,
            already_owned=False,
            progress_done=0,
            progress_total=1,
            attempts=0,
            crashes=0,
            publishes=0,
            run_after=NOW,
            deadline_at=NOW,
            created_at=NOW,
        )
    )


def test_there_may_be_no_row(session: Session) -> None:
    assert BY_ID.first(session, {"of_id": "wks_none"}) is None


def test_a_statement_sees_what_the_session_has_not_written_yet(session: Session) -> None:
    session.add(Workspace(id="wks_1", name="Acme", available=0, held=0, spent=0, created_at=NOW))

    assert BY_ID.first(session, {"of_id": "wks_1"}).name == "Acme"


def test_a_statement_belongs_to_the_transaction_of_the_session(database: Database) -> None:
    def add_and_fail() -> None:
        with database.transaction() as session:
            ADD.all(session, {"new_id": "wks_1"})
            raise LookupError

    with pytest.raises(LookupError):
        add_and_fail()

    with database.reading() as session:
        assert BY_ID.first(session, {"of_id": "wks_1"}) is None


@pytest.mark.parametrize(
    ("names", "found"),
    [([], []), (["Ada King"], ["Ada King"]), (["Ada O'Neil", "%s"], ["Ada O'Neil"])],
)
def test_a_list_is_one_parameter(session: Session, names: list[str], found: list[str]) -> None:
    for name in ("Ada King", "Ada O'Neil"):
        a_contact(session, None, name)

    rows = NAMED.all(session, {"names": names})

    assert [name for (name,) in rows] == found


@pytest.mark.skipif(not POSTGRES, reason="SQLite plans a statement once; see TEST_DATABASE_URL")
def test_a_list_of_one_is_not_planned_anew_at_each_execution(session: Session) -> None:
    people = [a_contact(session, None, f"Ada {number}") for number in range(1000)]
    session.flush()
    session.execute(text("ANALYZE contacts"))

    for person in people[:20]:
        WITH_ID.all(session, {"ids": [person.id]})

    assert session.scalars(IS_PLANNED_ONCE).all() == [True]


def test_a_reading_session_refuses_to_write(database: Database) -> None:
    with database.reading() as session, pytest.raises(RuntimeError, match="cannot write"):
        ADD.all(session, {"new_id": "wks_1"})


def test_an_error_is_that_of_sqlalchemy_without_the_parameters(database: Database) -> None:
    with database.transaction() as session:
        ADD.all(session, {"new_id": "wks_secret"})

    with pytest.raises(IntegrityError) as caught, database.transaction() as session:
        ADD.all(session, {"new_id": "wks_secret"})

    assert caught.value.params is None
    assert caught.value.hide_parameters


@pytest.mark.skipif(not POSTGRES, reason="SQLite has no connection that could die; see TEST_DATABASE_URL")
def test_a_lost_connection_is_unavailable_and_is_replaced(database: Database) -> None:
    def use_lost_connection() -> None:
        with database.transaction() as session:
            own = session.scalar(text("SELECT pg_backend_pid()"))
            with database.transaction() as other:
                other.execute(text("SELECT pg_terminate_backend(:own, 5000)"), {"own": own})
            BY_ID.all(session, {"of_id": "wks_1"})

    with pytest.raises(Unavailable):
        use_lost_connection()

    with database.transaction() as session:
        assert BY_ID.all(session, {"of_id": "wks_1"}) == []
