from __future__ import annotations

from unittest.mock import Mock

from findings_support import DAY, NOW, company, email, person, phone
from sqlalchemy import select

from app.domain.findings import FoundContact
from app.domain.lists.people_rows import ParsedPerson
from app.engine.contacts import contacts, emails, phones
from app.engine.contacts.bulk import lock_resolution
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.lists import import_runs, ingest
from app.infra.database.session import Session

PROFILE = "https://www.linkedin.com/in/ada-demo"
ACME = company("Acme", "acme.example")


def admit(session: Session, *records: FoundContact) -> dict[str, int]:
    return dict(ingest.ingest_contacts(session, [ParsedPerson(found) for found in records], now=NOW).counts)


def test_a_run_stores_the_time_of_its_last_batch(session: Session) -> None:
    before = session.scalar(select(import_runs.LATEST))
    run = import_runs.start(session, entity="contacts", now=NOW)

    import_runs.touch(session, run.id, rows=7, now=NOW + DAY)

    assert before is None
    assert session.scalar(select(import_runs.LATEST)) == NOW + DAY
    assert run.rows == 7


def test_ingested_people_are_counted_by_change(session: Session) -> None:
    ada = person(emails=(email(),), title="CTO")
    admit(session, ada)

    counts = admit(session, ada, person(emails=(email(),), city="Boston"), person("Bob Ray", company=ACME))

    assert counts == {"unchanged": 1, "updated": 1, "new": 1, "suppressed": 0}


def test_a_person_with_a_suppressed_email_or_profile_is_dropped(session: Session) -> None:
    listed = [Identifier("email", "ada.lovelace@acme.example"), Identifier("linkedin_url", PROFILE)]
    suppressions.suppress(session, listed, reason="asked", now=NOW)

    counts = admit(
        session,
        person(emails=(email(),), company=ACME),
        person("Bob Ray", linkedin_url=PROFILE),
        person("Cy Low", company=ACME),
    )

    assert counts == {"new": 1, "suppressed": 2}


def test_of_a_suppressed_number_of_a_company_only_the_number_is_dropped(session: Session) -> None:
    switchboard = phone(type="work")
    suppressions.suppress(session, [Identifier("phone", "+16175550101")], reason="asked", now=NOW)
    people = [
        person(emails=(email(),), phones=(switchboard, phone("+16175550102"))),
        person("Bob Ray", phones=(switchboard,), company=ACME),
        person("Cy Low", phones=(switchboard,)),
    ]

    counts = admit(session, *people)

    assert counts == {"new": 2, "suppressed": 1}
    ada = contacts.upsert(session, person(emails=(email(),)), now=NOW)
    assert [item.e164 for item in phones.by_contact(session, [ada.id])[ada.id]] == ["+16175550102"]
    assert list(emails.by_contact(session, [ada.id])) == [ada.id]


def test_ingested_companies_are_counted_by_change(session: Session) -> None:
    ingest.ingest_companies(session, [ACME], now=NOW)

    counts = ingest.ingest_companies(session, [ACME, company("Apex", industry="Tools")], now=NOW).counts

    assert dict(counts) == {"unchanged": 1, "new": 1}


def test_on_postgresql_one_transaction_at_a_time_resolves_contacts() -> None:
    session = Mock(spec=Session)
    session.get_bind.return_value.dialect.name = "postgresql"

    lock_resolution(session)

    [statement] = session.execute.call_args.args
    assert "pg_advisory_xact_lock" in str(statement)
