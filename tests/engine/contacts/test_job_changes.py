from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from findings_support import ADA, DAY, NOW, a_source, company, person
from jobs_support import a_workspace
from sqlalchemy import update
from stored_support import own, statements

from app.domain.event_types import EventType
from app.domain.findings import SourceKind
from app.engine.contacts import contacts, job_changes
from app.engine.contacts.contacts import Contact
from app.engine.events import events
from app.engine.ledger.reveals import Reveal
from app.engine.lookups import profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.infra.database.session import Session

ACME = {"name": "Acme Inc.", "domain": "acme.example"}
GLOBEX = {"name": "Globex", "domain": "globex.example"}


def store(session: Session, employer: dict[str, Any], *, days: int = 0, **changes: Any) -> Contact:
    """Store Ada with this employer, as a source `days` after NOW describes her."""
    at = NOW + days * DAY
    values = {"linkedin_url": ADA, "source": a_source(at)} | changes
    return contacts.upsert(session, person(company=company(at=at, **employer), **values), now=at)


def save(session: Session, workspace_id: str, *, at: datetime, **fields: str | None) -> None:
    snapshot = ProfileSnapshot(linkedin_url=ADA, captured_at=at, fields=fields)
    profile_snapshots.save(session, workspace_id=workspace_id, account_id="acc_x", snapshot=snapshot, now=at)


def changes_of(session: Session, workspace_id: str) -> list[dict[str, Any]]:
    """Return the data of the workspace's job changes, the oldest first."""
    listed = events.latest(session, workspace_id, type_=EventType.CONTACT_JOB_CHANGED, limit=9)
    return [event.data for event in reversed(listed)]


def domains_of(session: Session, workspace_id: str) -> list[tuple[str | None, str | None]]:
    return [
        (change["from"]["domain"], change["to"]["domain"]) for change in changes_of(session, workspace_id)
    ]


@pytest.fixture
def ada(session: Session, workspace_id: str) -> Contact:
    """Ada, who works at Acme, owned by the workspace."""
    contact = store(session, ACME)
    own(session, workspace_id, contact, "email")
    own(session, workspace_id, contact, "phone")
    return contact


def test_newer_data_at_another_company_is_one_event_for_each_workspace_that_owns_the_contact(
    session: Session, workspace_id: str, ada: Contact
) -> None:
    other, stranger = a_workspace(session), a_workspace(session)
    own(session, other, ada, "email")
    acme = ada.company_id

    for days in (1, 1, 2):
        moved = store(session, GLOBEX, days=days)

    assert changes_of(session, workspace_id) == [
        {
            "contact_id": ada.id,
            "from": {"company_id": acme, "domain": "acme.example"},
            "to": {"company_id": moved.company_id, "domain": "globex.example"},
            "source": "import",
            "as_of": "2026-11-21T12:00:00.000Z",
            "detected_at": "2026-11-21T12:00:00.000Z",
        }
    ]
    assert len(changes_of(session, other)) == 1
    assert changes_of(session, stranger) == []


@pytest.mark.usefixtures("ada")
def test_a_providers_newer_answer_is_a_job_change(session: Session, workspace_id: str) -> None:
    store(session, GLOBEX, source=a_source(NOW + DAY, "apollo", SourceKind.PROVIDER))

    assert [change["source"] for change in changes_of(session, workspace_id)] == ["provider"]


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("employer", "days"),
    [
        (GLOBEX, -1),
        ({"name": "ACME, Incorporated", "domain": "acme.example"}, 1),
        ({"name": "Acme", "domain": None}, 1),
        ({"name": "Acme Inc.", "domain": "acme.io"}, 1),
        ({"name": "The Acme Company", "domain": "acme.example"}, 1),
    ],
    ids=["older", "legal form", "without website", "second website", "other name, same website"],
)
def test_older_data_and_another_spelling_of_the_company_are_no_change(
    session: Session, workspace_id: str, employer: dict[str, Any], days: int
) -> None:
    store(session, employer, days=days)

    assert changes_of(session, workspace_id) == []


@pytest.mark.usefixtures("ada")
def test_every_further_move_is_an_event_also_back_to_an_earlier_company(
    session: Session, workspace_id: str
) -> None:
    for days, employer in ((1, GLOBEX), (2, ACME), (3, GLOBEX)):
        store(session, employer, days=days)

    assert domains_of(session, workspace_id) == [
        ("acme.example", "globex.example"),
        ("globex.example", "acme.example"),
        ("acme.example", "globex.example"),
    ]


@pytest.mark.usefixtures("ada")
def test_a_batch_that_moves_a_contact_twice_is_one_change(session: Session, workspace_id: str) -> None:
    records = [
        person(
            company=company(at=NOW + days * DAY, **employer),
            linkedin_url=ADA,
            source=a_source(NOW + days * DAY),
        )
        for days, employer in ((1, {"name": "Initech", "domain": "initech.example"}), (2, GLOBEX))
    ]

    contacts.upsert_many(session, records, now=NOW + DAY)

    assert domains_of(session, workspace_id) == [("acme.example", "globex.example")]


def test_a_refunded_reveal_is_not_owned(session: Session, workspace_id: str, ada: Contact) -> None:
    session.execute(update(Reveal).where(Reveal.contact_id == ada.id).values(refunded_at=NOW))

    store(session, GLOBEX, days=1)

    assert changes_of(session, workspace_id) == []


def test_a_first_company_is_no_change(session: Session, workspace_id: str) -> None:
    contact = contacts.upsert(session, person(linkedin_url=ADA), now=NOW)
    own(session, workspace_id, contact, "email")

    store(session, GLOBEX, days=1)

    assert changes_of(session, workspace_id) == []


def test_contacts_that_nobody_owns_cost_one_query_per_batch_and_others_none(session: Session) -> None:
    urls = [f"{ADA}-{number}" for number in range(30)]

    def batch(employer: dict[str, Any], days: int) -> int:
        """Store all of them with this employer; return the number of queries about reveals and events."""
        at = NOW + days * DAY
        records = [
            person(company=company(at=at, **employer), linkedin_url=url, source=a_source(at)) for url in urls
        ]
        with statements(session.get_bind().engine) as seen:
            contacts.upsert_many(session, records, now=at)
        return sum("FROM reveals" in sql or "events" in sql for sql, _values in seen)

    assert [batch(ACME, 0), batch(ACME, 1), batch(GLOBEX, 2)] == [0, 0, 1]


def test_a_newer_saved_profile_informs_only_the_workspace_that_saved_it(
    session: Session, workspace_id: str, ada: Contact
) -> None:
    other = a_workspace(session)
    own(session, other, ada, "email")
    globex = store(session, GLOBEX, linkedin_url=f"{ADA}-2", name="Bob").company_id

    for _ in range(2):
        save(session, workspace_id, at=NOW + DAY, company_name="Globex Corporation")

    assert changes_of(session, workspace_id) == [
        {
            "contact_id": ada.id,
            "from": {"company_id": ada.company_id, "domain": "acme.example"},
            "to": {"company_id": globex, "domain": "globex.example"},
            "source": "saved_profile",
            "as_of": "2026-11-21T12:00:00.000Z",
            "detected_at": "2026-11-21T12:00:00.000Z",
        }
    ]
    assert changes_of(session, other) == []


@pytest.mark.parametrize(
    ("fields", "after"),
    [
        ({"company_name": "Globex"}, timedelta(seconds=-1)),
        ({"company_name": "acme"}, DAY),
        ({"company_domain": "acme.example"}, DAY),
        ({"title": "CEO"}, DAY),
    ],
    ids=["older", "respelled", "same website", "no company"],
)
@pytest.mark.usefixtures("ada")
def test_a_saved_profile_that_is_older_or_names_no_other_company_is_no_change(
    session: Session, workspace_id: str, fields: dict[str, str], after: timedelta
) -> None:
    save(session, workspace_id, at=NOW + after, **fields)

    assert changes_of(session, workspace_id) == []


def test_a_saved_profile_of_a_contact_that_is_not_owned_is_no_event(
    session: Session, workspace_id: str
) -> None:
    store(session, ACME)

    save(session, workspace_id, at=NOW + DAY, company_name="Globex")

    assert changes_of(session, workspace_id) == []


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("named", [{"company_name": "Globex GmbH"}, {"company_domain": "globex.example"}])
def test_a_change_that_the_workspace_saved_itself_is_not_reported_again_by_an_import(
    session: Session, workspace_id: str, named: dict[str, str]
) -> None:
    save(session, workspace_id, at=NOW + DAY, **named)

    store(session, GLOBEX, days=2)

    assert len(changes_of(session, workspace_id)) == 1


@pytest.mark.usefixtures("ada")
def test_an_import_of_older_data_than_the_reported_change_is_not_reported(
    session: Session, workspace_id: str
) -> None:
    save(session, workspace_id, at=NOW + 9 * DAY, company_domain="globex.example")

    store(session, {"name": "Initech", "domain": "initech.example"}, days=1)

    assert domains_of(session, workspace_id) == [("acme.example", "globex.example")]


def test_the_latest_change_of_a_contact_is_found_by_its_id(
    session: Session, workspace_id: str, ada: Contact
) -> None:
    for days, employer in ((1, GLOBEX), (2, ACME)):
        store(session, employer, days=days)

    latest = job_changes.latest_of(session, workspace_id, [ada.id, "con_unknown"])

    assert {contact_id: data["to"]["domain"] for contact_id, data in latest.items()} == {
        ada.id: "acme.example"
    }
    assert job_changes.latest_of(session, a_workspace(session), [ada.id]) == {}
