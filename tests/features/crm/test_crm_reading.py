"""The people of a CRM are read into the index: all of them, then what was changed, in pages."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from crm_support import FAKES, CrmHarness
from fake_crms import FakeCrm, FakeSalesforce, FakeTwenty
from jobs_support import NOW
from sqlalchemy import select

from app.features.crm.connections import READING
from app.features.crm.index import readings
from app.features.crm.index.readings import Place
from app.features.crm.turn.reading import ReadingTurn
from app.features.crm.vendors.hubspot import reading as hubspot
from app.features.crm.vendors.reading import Page
from app.features.crm.vendors.salesforce import reading as salesforce
from app.features.crm.vendors.twenty import reading as twenty

VENDORS = tuple(FAKES)
EMAIL = "ada@acme.com"
COMPANY = "00000000-0000-4000-8000-000000000009"


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (hubspot, salesforce, twenty):
        monkeypatch.setattr(module, "PAGE_SIZE", 2)


@pytest.fixture
def connected(harness: CrmHarness) -> CrmHarness:
    """Return the harness after the credentials were accepted."""
    harness.turn()
    return harness


def has(crm: FakeCrm, number: int, at: datetime, **values: Any) -> str:
    """Store or change a person in the CRM at this time; return the id."""
    name, email = f"Person{number}", f"person{number}@acme.com"
    stamp = at.isoformat(timespec="milliseconds")
    if isinstance(crm, FakeSalesforce):
        id_ = f"003{number:04}"
        crm.people[id_] = {
            "FirstName": "Ada",
            "LastName": name,
            "Email": email,
            "SystemModstamp": stamp,
        } | values
    elif isinstance(crm, FakeTwenty):
        id_ = f"00000000-0000-4000-8000-{number:012}"
        crm.people[id_] = {
            "name": {"firstName": "Ada", "lastName": name},
            "emails": {"primaryEmail": email},
            "updatedAt": stamp,
        } | values
    else:
        id_ = str(number)
        crm.people[id_] = {
            "firstname": "Ada",
            "lastname": name,
            "email": email,
            "lastmodifieddate": stamp,
        } | values
    return id_


def people(harness: CrmHarness) -> list[str]:
    return [person.name for person in harness.indexed()]


def next_day(harness: CrmHarness) -> None:
    harness.later(days=1)


@pytest.mark.parametrize("vendor", VENDORS)
def test_all_people_are_read_in_pages(connected: CrmHarness) -> None:
    for number in range(1, 6):
        has(connected.crm, number, NOW - timedelta(days=number))

    connected.read_to_the_end()

    reading = connected.reading()
    assert people(connected) == [f"Ada Person{number}" for number in range(1, 6)]
    assert list(connected.indexed()[0].emails) == ["person1@acme.com"]
    assert (reading.records, reading.error, reading.finished_at, reading.read) == (5, None, connected.now, 5)


@pytest.mark.parametrize("vendor", VENDORS)
def test_then_only_what_was_changed_is_read(connected: CrmHarness) -> None:
    for number in range(1, 6):
        has(connected.crm, number, NOW - timedelta(days=number))
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 2, connected.now)
    for number in (6, 7, 8):
        has(connected.crm, number, connected.now + timedelta(seconds=number))

    connected.read_to_the_end()

    assert len(people(connected)) == 8
    assert 4 <= connected.reading().read <= 6  # HubSpot repeats contacts of the last date


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_person_who_is_changed_is_found_with_the_new_values_only(connected: CrmHarness) -> None:
    has(connected.crm, 1, NOW - timedelta(days=1))
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 1, connected.now)
    changed = next(iter(connected.crm.people.values()))
    changed |= {"email": "new@acme.com", "Email": "new@acme.com", "emails": {"primaryEmail": "new@acme.com"}}

    connected.read_to_the_end()

    assert [list(person.emails) for person in connected.indexed()] == [["new@acme.com"]]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_worker_that_takes_over_continues_after_the_last_page(
    connected: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 6):
        has(connected.crm, number, NOW - timedelta(days=number))
    pages: list[Page] = []
    page = ReadingTurn._page  # noqa: SLF001 -- the place at which the worker is killed

    def is_killed(turn: ReadingTurn, place: Place) -> Page:
        if pages:
            raise KeyboardInterrupt
        pages.append(page(turn, place))
        return pages[0]

    with monkeypatch.context() as killing:
        killing.setattr(ReadingTurn, "_page", is_killed)
        with pytest.raises(KeyboardInterrupt):
            connected.read()
    half = people(connected)
    connected.later(seconds=READING.lease.seconds + 1)

    connected.read_to_the_end()

    assert len(half) == 2
    assert people(connected) == [f"Ada Person{number}" for number in range(1, 6)]
    assert connected.reading().read == 5


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_person_whom_the_crm_has_no_more_is_forgotten_by_the_next_full_reading(
    connected: CrmHarness,
) -> None:
    for number in (1, 2, 3):
        has(connected.crm, number, NOW - timedelta(days=number))
    connected.read_to_the_end()
    connected.crm.people.pop(next(iter(connected.crm.people)))
    connected.later(seconds=60)
    connected.read_to_the_end()
    before = people(connected)
    next_day(connected)

    connected.read_to_the_end()

    assert len(before) == 3
    assert people(connected) == ["Ada Person2", "Ada Person3"]
    assert connected.reading().records == 2


def test_a_full_reading_that_has_not_ended_forgets_nobody(connected: CrmHarness) -> None:
    for number in range(1, 4):
        has(connected.crm, number, NOW - timedelta(days=number))
    connected.read_to_the_end()
    connected.crm.people.pop("3")
    for number in (4, 5):
        has(connected.crm, number, NOW)
    next_day(connected)
    connected.crm.fail(500, method="GET", path="/contacts")

    connected.read()

    assert "Ada Person3" in people(connected)
    assert connected.reading().error == "http_500"


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("skew", [timedelta(hours=-1), timedelta(hours=1)])
def test_a_change_is_seen_though_the_clock_of_the_crm_is_an_hour_off(
    connected: CrmHarness, skew: timedelta
) -> None:
    has(connected.crm, 1, NOW - timedelta(days=1))
    connected.read_to_the_end()

    for number in (2, 3, 4):
        connected.later(seconds=60)
        has(connected.crm, number, connected.now + skew)
        connected.read_to_the_end()

    assert people(connected) == [f"Ada Person{number}" for number in range(1, 5)]


def test_a_date_in_the_far_future_does_not_hide_later_changes(connected: CrmHarness) -> None:
    has(connected.crm, 1, NOW - timedelta(days=1))
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 2, NOW + timedelta(days=9000))
    connected.read_to_the_end()
    connected.later(hours=2)
    has(connected.crm, 3, connected.now)

    connected.read_to_the_end()

    assert len(people(connected)) == 3


def test_a_record_that_becomes_visible_late_is_read(connected: CrmHarness) -> None:
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 1, connected.now)
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 2, connected.now - timedelta(minutes=4))

    connected.read_to_the_end()

    assert len(people(connected)) == 2


def test_what_was_read_before_is_not_stored_again(connected: CrmHarness) -> None:
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 1, connected.now)
    connected.read_to_the_end()
    first = connected.now
    connected.later(seconds=60)

    connected.read_to_the_end()

    with connected.database.reading() as session:
        [read_at] = session.scalars(select(readings.crm_index.CrmIndexRecord.read_at))
    assert (read_at, connected.reading().read) == (first, 1)


def test_many_contacts_of_one_date_are_read_by_their_ids(connected: CrmHarness) -> None:
    connected.read_to_the_end()
    connected.later(seconds=60)
    for number in range(1, 8):
        has(connected.crm, number, connected.now)
    has(connected.crm, 8, connected.now + timedelta(seconds=1))

    connected.read_to_the_end()

    assert len(people(connected)) == 8
