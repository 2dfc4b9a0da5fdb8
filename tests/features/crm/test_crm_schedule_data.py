"""What schedules hold about people, for how long, and when they are due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from crm_schedule_support import Scheduler, answer
from crm_support import CrmHarness
from fake_providers import MISS
from jobs_support import NOW
from sqlalchemy import select

from app.domain.errors import InvalidValue
from app.domain.records.person_matcher import PersonMatcher
from app.engine.contacts.contacts import Contact
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.schedules import listing, memberships, personal_data, times
from app.features.crm.schedules.tables import CrmScheduleRecord
from app.infra.database.session import Session

PROFILE = "https://www.linkedin.com/in/ada-lovelace"


@pytest.fixture
def scheduler(harness: CrmHarness, vendor: str, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    scheduler = Scheduler.of(harness, vendor)
    scheduler.set_providers(monkeypatch, one=answer)
    return scheduler


def numbers(session: Session) -> list[str]:
    return list(session.scalars(select(CrmScheduleRecord.crm_id).order_by(CrmScheduleRecord.crm_id)))


def test_the_receipt_of_a_person_is_shown_to_them_and_erased(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1, hs_linkedin_url=PROFILE)
    scheduler.has(2)
    scheduler.set_providers(monkeypatch, one=MISS)
    scheduler.schedule()
    scheduler.run()
    matcher = PersonMatcher(linkedin_urls=frozenset({PROFILE}))

    with scheduler.harness.database.transaction() as session:
        found = personal_data.find(session, matcher)
        [shown] = found.export(session)["crm_schedule_records"]
        changed = found.erase(session)
        left = numbers(session)

    assert (found.rows, found.notes, list(changed), left) == (1, 0, [], ["2"])
    assert (shown["crm"], shown["record"], shown["asked"], shown["outcome"]) == (
        "hubspot",
        "1",
        "email",
        "not_found",
    )


def test_nobody_else_is_found(scheduler: Scheduler) -> None:
    scheduler.has(1, hs_linkedin_url=PROFILE)
    scheduler.schedule()
    scheduler.run()
    other = PersonMatcher(linkedin_urls=frozenset({"https://www.linkedin.com/in/bob-ray"}))

    with scheduler.harness.database.reading() as session:
        assert personal_data.find(session, other).rows == 0


def test_the_receipt_of_a_contact_is_deleted_with_it(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.run()

    with scheduler.harness.database.transaction() as session:
        for contact in session.scalars(select(Contact)):
            session.delete(contact)
        session.flush()
        assert numbers(session) == []


def test_old_runs_are_deleted_but_not_those_of_this_month(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.run()
    scheduler.harness.later(days=1)

    def purge() -> int:
        with scheduler.harness.database.transaction() as session:
            listing.purge_expired(session, before=scheduler.harness.now)
        return len(scheduler.runs())

    this_month = purge()
    scheduler.harness.later(days=30)
    next_month = purge()

    assert (this_month, next_month) == (1, 0)


def test_a_run_that_is_under_way_is_not_deleted(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.submit()
    scheduler.harness.later(days=60)

    with scheduler.harness.database.transaction() as session:
        listing.purge_expired(session, before=scheduler.harness.now)

    assert len(scheduler.runs()) == 1


@pytest.mark.parametrize(
    ("hour", "weekday", "due"),
    [
        (10, None, datetime(2026, 11, 20, 10, tzinfo=UTC)),
        (9, None, datetime(2026, 11, 21, 9, tzinfo=UTC)),
        (10, 4, datetime(2026, 11, 20, 10, tzinfo=UTC)),  # a Friday
        (9, 4, datetime(2026, 11, 27, 9, tzinfo=UTC)),
        (9, 3, datetime(2026, 11, 26, 9, tzinfo=UTC)),
    ],
)
def test_a_schedule_is_due_at_its_hour_after_now(hour: int, weekday: int | None, due: datetime) -> None:
    assert times.next_due(hour, weekday, after=NOW) == due


@pytest.mark.parametrize(
    ("hour", "weekday", "due"),
    [(0, None, datetime(2026, 12, 1, tzinfo=UTC)), (5, 0, datetime(2026, 12, 7, 5, tzinfo=UTC))],
)
def test_the_first_due_time_of_the_next_month(hour: int, weekday: int | None, due: datetime) -> None:
    assert times.next_month(hour, weekday, at=NOW) == due


def test_a_due_time_is_after_itself_by_a_day() -> None:
    assert times.next_due(9, None, after=NOW.replace(minute=0)) == NOW.replace(minute=0) + timedelta(days=1)


@pytest.mark.parametrize(
    ("vendor", "list_id"),
    [
        ("hubspot", "42"),
        ("pipedrive", "7"),
        ("salesforce", "00B5g00000AbCdE"),
        ("salesforce", "00B5g00000AbCdEFGH"),
        ("salesforce", "00O5g00000AbCdE"),
        ("twenty", "all"),
        ("twenty", 'and(city[eq]:"Berlin",jobTitle[is]:NOT_NULL)'),
        ("zoho", "4402000000012"),
    ],
)
def test_the_name_of_a_list_is_accepted(vendor: str, list_id: str) -> None:
    memberships.check(vendor, list_id, RecordKind.CONTACT)


@pytest.mark.parametrize(
    ("vendor", "list_id", "kind"),
    [
        ("hubspot", "42/../7", RecordKind.CONTACT),
        ("hubspot", "42", RecordKind.LEAD),
        ("pipedrive", "x", RecordKind.CONTACT),
        ("salesforce", "01Z5g00000AbCdE", RecordKind.CONTACT),  # a dashboard
        ("twenty", "city\n", RecordKind.CONTACT),
        ("zoho", "All Leads", RecordKind.LEAD),
    ],
)
def test_what_names_no_list_is_refused(vendor: str, list_id: str, kind: RecordKind) -> None:
    with pytest.raises(InvalidValue):
        memberships.check(vendor, list_id, kind)
