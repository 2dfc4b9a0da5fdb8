from __future__ import annotations

import pytest
from jobs_support import NOW, a_question, a_workspace, at_once, figures, submit
from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import IntegrityError, NoResultFound

from app.domain.errors import InsufficientCredits
from app.engine.accounts.workspaces import Balance
from app.engine.jobs.jobs import Job
from app.engine.ledger import credits
from app.engine.ledger.credits import LedgerEntry
from app.infra.database.db import Database
from app.infra.database.session import Session


def entries(session: Session, workspace_id: str) -> list[tuple[str, int, int, int]]:
    rows = session.scalars(select(LedgerEntry).where(LedgerEntry.workspace_id == workspace_id))
    return sorted((row.kind, row.available, row.held, row.spent) for row in rows)


def sums(session: Session, workspace_id: str) -> tuple[int, int, int]:
    row = session.execute(
        select(
            func.sum(LedgerEntry.available), func.sum(LedgerEntry.held), func.sum(LedgerEntry.spent)
        ).where(LedgerEntry.workspace_id == workspace_id)
    ).one()
    return int(row[0]), int(row[1]), int(row[2])


def test_a_grant_adds_available_credits_with_its_reason(session: Session) -> None:
    workspace_id = a_workspace(session, grant=5)

    balance = credits.grant(session, workspace_id, 7, reason="invoice 12", now=NOW)

    assert balance == Balance(available=12, held=0)
    assert session.scalars(select(LedgerEntry.reason)).all() == ["test", "invoice 12"]


def test_a_grant_to_an_unknown_workspace_is_an_error(session: Session) -> None:
    with pytest.raises(NoResultFound):
        credits.grant(session, "wks_nobody", 7, reason="mistyped", now=NOW)


def test_a_hold_moves_credits_from_available_to_held(session: Session) -> None:
    workspace_id = a_workspace(session, grant=5)

    credits.hold(session, workspace_id, "job_1", 2, now=NOW)

    assert figures(session, workspace_id) == (3, 2, 0)


def test_more_than_the_balance_is_never_charged(session: Session) -> None:
    workspace_id = a_workspace(session, grant=5)

    with pytest.raises(RuntimeError, match="does not cover an entry of kind settle"):
        credits.close(session, workspace_id, "job_1", held=1, charged=7, now=NOW)

    assert figures(session, workspace_id) == (5, 0, 0)


def test_a_hold_of_nothing_writes_no_entry(session: Session) -> None:
    workspace_id = a_workspace(session, grant=0)

    credits.hold(session, workspace_id, "job_1", 0, now=NOW)

    assert entries(session, workspace_id) == []


def test_a_hold_beyond_the_balance_reports_the_required_and_available_credits(session: Session) -> None:
    workspace_id = a_workspace(session, grant=2)

    with pytest.raises(InsufficientCredits) as refusal:
        credits.hold(session, workspace_id, "job_1", 3, now=NOW)

    assert refusal.value.extra == {"required": 3, "balance": 2}
    assert figures(session, workspace_id) == (2, 0, 0)
    assert entries(session, workspace_id) == [("grant", 2, 0, 0)]


@pytest.mark.parametrize(("requested", "expected"), [(2, 2), (5, 5), (9, 5)])
def test_a_partial_hold_takes_the_available_credits(session: Session, requested: int, expected: int) -> None:
    workspace_id = a_workspace(session, grant=5)

    held, _limit = credits.hold_up_to(session, workspace_id, "job_1", requested, now=NOW)

    assert held == expected
    assert figures(session, workspace_id) == (5 - expected, expected, 0)


def test_a_partial_hold_without_credits_holds_nothing(session: Session) -> None:
    workspace_id = a_workspace(session, grant=0)

    held, _limit = credits.hold_up_to(session, workspace_id, "job_1", 5, now=NOW)

    assert held == 0
    assert entries(session, workspace_id) == []


@pytest.mark.parametrize(
    ("charged", "kind", "after"),
    [(3, "settle", (7, 0, 3)), (1, "settle", (9, 0, 1)), (0, "release", (10, 0, 0))],
)
def test_a_close_spends_the_charge_and_releases_the_rest(
    session: Session, charged: int, kind: str, after: tuple[int, int, int]
) -> None:
    workspace_id = a_workspace(session, grant=10)
    credits.hold(session, workspace_id, "job_1", 3, now=NOW)

    credits.close(session, workspace_id, "job_1", held=3, charged=charged, now=NOW)

    assert figures(session, workspace_id) == after
    assert kind in {entry[0] for entry in entries(session, workspace_id)}


def test_a_close_of_a_job_without_a_hold_writes_no_entry(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)

    credits.close(session, workspace_id, "job_1", held=0, charged=0, now=NOW)

    assert entries(session, workspace_id) == [("grant", 10, 0, 0)]


def test_the_balance_is_the_sum_of_the_ledger(session: Session) -> None:
    workspace_id = a_workspace(session, grant=10)
    credits.hold(session, workspace_id, "job_1", 3, now=NOW)
    credits.hold(session, workspace_id, "job_2", 2, now=NOW)

    credits.close(session, workspace_id, "job_1", held=3, charged=2, now=NOW)

    assert sums(session, workspace_id) == figures(session, workspace_id) == (6, 2, 2)


def test_the_database_rejects_a_second_hold_of_a_job(session: Session) -> None:
    workspace_id = a_workspace(session)
    credits.hold(session, workspace_id, "job_1", 1, now=NOW)

    with pytest.raises(IntegrityError):
        credits.hold(session, workspace_id, "job_1", 1, now=NOW)


@pytest.mark.parametrize("charged", [0, 1])
def test_the_database_rejects_a_second_close_of_a_job(session: Session, charged: int) -> None:
    workspace_id = a_workspace(session)
    credits.hold(session, workspace_id, "job_1", 1, now=NOW)
    credits.hold(session, workspace_id, "job_2", 1, now=NOW)
    credits.close(session, workspace_id, "job_1", held=1, charged=1, now=NOW)

    with pytest.raises(IntegrityError):
        credits.close(session, workspace_id, "job_1", held=1, charged=charged, now=NOW)


def test_forty_threads_with_five_credits_get_exactly_five_jobs(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session, grant=5)

    def ask(number: int) -> str:
        try:
            with database.transaction() as session:
                submit(session, a_question(workspace_id, f"person {number}"))
        except InsufficientCredits:
            return "refused"
        return "accepted"

    outcomes = at_once(40, ask)

    assert (outcomes.count("accepted"), outcomes.count("refused")) == (5, 35)
    with database.reading() as session:
        assert figures(session, workspace_id) == sums(session, workspace_id) == (0, 5, 0)
        assert session.scalar(select(func.count()).select_from(Job)) == 5


def test_on_postgresql_one_statement_updates_the_balance_and_inserts_the_entry() -> None:
    statement = credits._insert_entry("postgresql", is_fixed=False)  # noqa: SLF001 -- not used on SQLite

    sql = " ".join(str(statement.compile(dialect=postgresql.dialect())).split())

    assert sql.startswith("WITH updated AS (UPDATE workspaces SET")
    assert "INSERT INTO ledger" in sql
    assert sql.endswith("RETURNING ledger.id, (SELECT updated.is_limited FROM updated) AS is_limited")
