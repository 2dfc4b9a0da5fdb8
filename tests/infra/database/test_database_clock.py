from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from jobs_support import NOW, a_workspace
from sqlalchemy import literal, select, update

from app.engine.accounts.workspaces import Workspace
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.db import UtcDateTime
from app.infra.database.session import Session

ROOT = Path(__file__).parents[3]
HOUR = timedelta(hours=1)
SOON = timedelta(seconds=5)
OWN_CLOCK = {
    "app/infra/clock.py": "defines it",
    "app/infra/database/database_clock.py": "measures how far it is off",
    "cli/checks/redis.py": "measures how far it is off",
    "app/api/ops/readiness.py": "the time since when Redis has its data, for a metric",
    "app/infra/languages/formats.py": "whether a day is written with its year",
    "app/web/bodies/downloads.py": "puts the day into the name of a file",
    "app/features/usage/reports.py": "the default days of a report",
    "app/features/call_registers/commands.py": "refuses the date of a register in the future",
    "app/features/verifications/work.py": "the date of an address that is only verified",
    "app/features/people_searches/search_requests.py": "the date of a company that is only searched",
    "app/features/crm/turn/authorization.py": "renews early; a late one is renewed when refused",
    "app/engine/lists/importer.py": "the default date of an operator's file",
    "app/engine/contacts/suppressions/suppression_journal.py": "the time of a line that has none",
    "app/engine/contacts/suppressions/suppressions.py": "the time of a line of the journal",
    "app/features/privacy_requests/pages.py": "the time on a document",
    "app/features/address_books/work.py": "the default date of a file, which no entry has in the end",
    "app/features/backup/copies/sqlite.py": "the time in the name of a backup",
    "app/features/backup/copies/streaming.py": "compares with times that the same process wrote into names",
    "cli/lists/list_commands.py": "checks a date that an operator typed",
    "workers/runtime/activity.py": "compares with times that the same process noted",
    "workers/resolve/call_gateway.py": "puts the times of a vendor's answer into the database's time",
    "workers/outgoing_http.py": "compares with a date that a vendor sent",
    "workers/providers/apollo.py": "the time of a vendor's answer",
    "workers/providers/dropcontact.py": "the time of a vendor's answer",
    "workers/providers/fullenrich.py": "the time of a vendor's answer",
    "workers/providers/hunter.py": "the time of a vendor's answer",
    "workers/providers/pattern.py": "the time of a guess",
    "workers/providers/pdl.py": "compares with a date that a vendor sent",
    "workers/providers/parsing.py": "the time of a vendor's answer",
    "workers/providers/rocketreach.py": "the time of a vendor's answer",
    "workers/providers/sandbox.py": "the time of an answer",
    "workers/resolve/provider_call.py": "the time of a refusal, in the trace only",
}
"""The modules that may read this process's clock, with the reason; all others use the database's clock."""
_READS = re.compile(r"(?<!database_)clock\.now\(\)|datetime\.now\(|time\.time\(\)|utcnow\(")


@pytest.fixture
def wrong_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: datetime.now(UTC) + HOUR)


def test_now_is_the_time_of_the_database(session: Session, wrong_clock: None) -> None:
    assert abs(database_clock.value(session) - datetime.now(UTC)) < SOON


@pytest.mark.parametrize("shift", [HOUR, timedelta(days=-180), timedelta(milliseconds=50), timedelta(0)])
def test_timedeltas_are_added_and_subtracted(session: Session, shift: timedelta) -> None:
    now = database_clock.now()

    now_, later, earlier = session.execute(select(now, now + shift, now - shift)).one()

    assert (later - now_, now_ - earlier) == (shift, shift)


def test_added_timedeltas_accumulate(session: Session) -> None:
    now = database_clock.now()

    now_, later = session.execute(select(now, now + HOUR + HOUR - HOUR)).one()

    assert later - now_ == HOUR


def test_a_cached_statement_uses_the_current_timedelta(session: Session) -> None:
    now = database_clock.now()
    session.execute(select(now, now + HOUR))

    now_, later = session.execute(select(now, now + SOON)).one()

    assert later - now_ == SOON


@pytest.mark.parametrize("microsecond", [0, 1, 999_999])
def test_the_databases_time_compares_with_stored_times(session: Session, microsecond: int) -> None:
    workspace_id = a_workspace(session)
    now = database_clock.value(session).replace(microsecond=microsecond)

    def stored_is_earlier(shift: timedelta) -> bool:
        session.get_one(Workspace, workspace_id).created_at = now + shift
        session.flush()
        is_earlier = Workspace.created_at < database_clock.now()
        return bool(session.scalar(select(is_earlier).where(Workspace.id == workspace_id)))

    assert [stored_is_earlier(shift) for shift in (-HOUR, -SOON, SOON, HOUR)] == [True, True, False, False]


def test_a_time_written_by_the_database_is_read_like_any_other(session: Session) -> None:
    workspace_id = a_workspace(session)
    now = database_clock.now()

    session.execute(update(Workspace).values(created_at=now + HOUR))

    created_at = session.scalars(select(Workspace.created_at).where(Workspace.id == workspace_id)).one()
    assert created_at.tzinfo is UTC
    assert abs(created_at - HOUR - datetime.now(UTC)) < SOON


def test_the_time_is_constant_within_a_statement(session: Session) -> None:
    now = database_clock.now()

    first, second = session.execute(select(now, database_clock.now())).one()

    assert first == second


def test_the_value_of_a_datetime_is_itself(session: Session) -> None:
    assert database_clock.value(session, NOW) == NOW
    assert session.execute(select(database_clock.column(NOW))).scalar_one() == NOW
    assert session.execute(select(literal(NOW, UtcDateTime()))).scalar_one() == NOW


@pytest.mark.parametrize("seconds", [-3600, -0.5, 0, 0.5, 3600])
def test_the_offset_of_the_process_clock_is_measured(
    session: Session, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(clock, "now", lambda: datetime.now(UTC) + timedelta(seconds=seconds))

    assert database_clock.offset(session) == pytest.approx(seconds, abs=0.2)


def test_the_process_clock_is_used_only_for_times_that_no_other_process_compares() -> None:
    sources = [path for folder in ("app", "workers", "cli") for path in (ROOT / folder).rglob("*.py")]

    users = {str(path.relative_to(ROOT)) for path in sources if _READS.search(path.read_text())}

    assert users == set(OWN_CLOCK)
