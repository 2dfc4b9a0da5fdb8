from __future__ import annotations

from typing import Any

import pytest
from findings_support import ADA, BOB, DAY, NOW, a_source, company, email, person, phone
from sqlalchemy import func, select
from stored_support import a_contact

from app.domain.findings import EmailStatus, FoundContact, FoundEmail
from app.domain.records.merging import Change
from app.engine.contacts import companies, contacts, emails, phones
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.infra.database.session import Session

ACME = company("Acme Inc.", "acme.example")
OTHER = company("Other Ltd", "other.example")


def keep_both(session: Session, first: FoundContact, second: FoundContact) -> int:
    """Upsert two records, each in its own batch; return the number of contacts."""
    contacts.upsert(session, first, now=NOW)
    contacts.upsert(session, second, now=NOW)
    return session.scalar(select(func.count()).select_from(Contact)) or 0


def test_a_contact_is_read_by_its_id(session: Session) -> None:
    ada = a_contact(session)

    assert contacts.get(session, ada.id) == ada
    assert contacts.get(session, "con_unknown") is None


def test_a_person_is_stored_with_company_emails_and_phones(session: Session) -> None:
    found = person(
        company=ACME, emails=(email(),), phones=(phone(),), linkedin_url=ADA, title="CTO", city="Boston"
    )

    stored = contacts.upsert(session, found, now=NOW)

    assert (stored.full_name, stored.name_key, stored.last_key) == (
        "Ada Lovelace",
        "ada lovelace",
        "lovelace",
    )
    assert (stored.title, stored.city, stored.linkedin_url) == ("CTO", "Boston", ADA)
    assert (stored.created_at, stored.updated_at) == (NOW, NOW)
    assert stored.provenance == {"*": {"source": "list.csv", "at": "2026-11-20T12:00:00.000Z"}}
    assert stored.company_id is not None
    employer = companies.get(session, stored.company_id)
    assert employer is not None
    assert employer.domain == "acme.example"
    assert [item.email for item in emails.by_contact(session, [stored.id])[stored.id]] == [
        "ada.lovelace@acme.example"
    ]
    assert [item.e164 for item in phones.by_contact(session, [stored.id])[stored.id]] == ["+16175550101"]


def test_contacts_are_found_by_id(session: Session) -> None:
    stored = contacts.upsert(session, person(company=ACME), now=NOW)

    found = session.get(Contact, stored.id)

    assert found is stored


def test_the_same_profile_is_the_same_person_whatever_else_differs(session: Session) -> None:
    first = person(linkedin_url=ADA, emails=(email("a@acme.example"),), company=ACME)
    second = person("Ada King", linkedin_url=ADA, emails=(email("b@other.example"),), company=OTHER)

    people = keep_both(session, first, second)

    assert people == 1


def test_the_same_email_is_the_same_person(session: Session) -> None:
    people = keep_both(
        session, person(emails=(email(),)), person("Ada King", emails=(email(),), linkedin_url=ADA)
    )

    assert people == 1


def test_two_profiles_are_two_people_even_with_the_same_email(session: Session) -> None:
    first = person(linkedin_url=ADA, emails=(email(),), company=ACME)
    second = person(linkedin_url=BOB, emails=(email(),), company=ACME)

    people = keep_both(session, first, second)

    assert people == 2


def test_a_role_address_does_not_identify_a_person(session: Session) -> None:
    shared = email("info@acme.example")

    people = keep_both(session, person(emails=(shared,)), person("Bob Ray", emails=(shared,)))

    assert people == 2


@pytest.mark.parametrize("emails", [(), (email("bird@acme.example"),)])
def test_two_generations_of_one_name_are_two_people(session: Session, emails: tuple[FoundEmail, ...]) -> None:
    father, son = (
        person(f"Vere Bird {word}", company=ACME, emails=emails, title=word) for word in ("Sr.", "Jr.")
    )

    assert keep_both(session, father, son) == 2


def test_two_words_for_one_generation_are_one_person(session: Session) -> None:
    assert (
        keep_both(session, person("Vere Bird Jr.", company=ACME), person("Vere Bird II", company=ACME)) == 1
    )


@pytest.mark.parametrize("names", [(None, "Bob Ray"), ("Bob Ray", None)])
def test_a_role_address_does_not_give_a_name_to_a_profile(
    session: Session, names: tuple[str | None, str | None]
) -> None:
    shared, (first, second) = email("info@acme.example"), names

    people = keep_both(
        session, person(first, linkedin_url=ADA, emails=(shared,)), person(second, emails=(shared,))
    )

    assert people == 2


def test_a_role_address_and_the_same_name_are_the_same_person(session: Session) -> None:
    shared = email("info@acme.example")

    people = keep_both(session, person(emails=(shared,)), person(emails=(shared,)))

    assert people == 1


@pytest.mark.parametrize("of_bob", [{"emails": ("bob@acme.example",)}, {"linkedin_url": BOB}])
def test_a_role_address_does_not_join_two_people_without_names(
    session: Session, of_bob: dict[str, Any]
) -> None:
    shared = "info@acme.example"
    ada = person(None, emails=(email("ada@acme.example"), email(shared)))
    bob = person(None, **of_bob | {"emails": tuple(map(email, (*of_bob.get("emails", ()), shared)))})

    assert keep_both(session, ada, bob) == 2


def test_an_address_of_many_people_identifies_only_those_with_the_same_name(session: Session) -> None:
    shared = email("x@acme.example")
    given = ("Bob", "Carl", "Dora", "Emil", "Fred", "Greta", "Hugo", "Iris", "Jack", "Karin")
    family = ("Ray", "Gauss", "Maar", "Post", "Astor", "Zimmer", "Boss", "Quinn", "London", "Vogel")
    ada = contacts.upsert(session, person(emails=(shared,)), now=NOW)
    few = contacts.upsert(session, person("Ada Lovelase", emails=(shared,)), now=NOW)
    for name in map(" ".join, zip(given, family, strict=True)):
        contacts.upsert(session, person(name, emails=(shared,)), now=NOW)

    many = contacts.upsert(session, person("Ada Lovelice", emails=(shared,)), now=NOW)
    again = contacts.upsert(session, person(emails=(shared,)), now=NOW)

    assert few.id == again.id == ada.id
    assert many.id != ada.id


def test_an_email_of_two_contacts_matches_the_one_with_that_name(session: Session) -> None:
    shared = email("family@mailbox.example")
    ada = contacts.upsert(session, person(linkedin_url=ADA, emails=(shared,)), now=NOW)
    bob = contacts.upsert(session, person("Bob Ray", linkedin_url=BOB, emails=(shared,)), now=NOW)

    again = contacts.upsert(session, person("Bob Ray", emails=(shared,)), now=NOW)
    nameless = contacts.upsert(session, person(None, emails=(shared,)), now=NOW)

    assert again.id == bob.id
    assert nameless.id not in {ada.id, bob.id}


def test_of_two_contacts_with_one_email_the_one_with_the_phone_matches(session: Session) -> None:
    contacts.upsert(session, person(None, linkedin_url=ADA, emails=(email(),)), now=NOW)
    bob = contacts.upsert(
        session, person(None, linkedin_url=BOB, emails=(email(),), phones=(phone(),)), now=NOW
    )

    stored = contacts.upsert(session, person(None, emails=(email(),), phones=(phone(),)), now=NOW)

    assert stored.id == bob.id


def test_the_same_name_at_the_same_company_is_the_same_person(session: Session) -> None:
    first = person("José Álvarez", company=ACME)
    second = person("Jose Alvarez", company=company("ACME", None), emails=(email(),))

    people = keep_both(session, first, second)

    assert people == 1


@pytest.mark.parametrize(
    "second",
    [person(company=OTHER), person("Ada King", company=ACME), person(emails=(email("a@mailbox.example"),))],
    ids=["another company", "another name", "no company"],
)
def test_the_same_name_at_another_company_is_another_person(session: Session, second: FoundContact) -> None:
    people = keep_both(session, person(company=ACME), second)

    assert people == 2


def test_a_single_name_matches_within_a_company(session: Session) -> None:
    people = keep_both(session, person("Madonna", company=ACME), person("Madonna", company=ACME))

    assert people == 1


def test_the_same_phone_is_the_same_person_unless_the_names_differ(session: Session) -> None:
    first = contacts.upsert(session, person(phones=(phone(),)), now=NOW)

    same = contacts.upsert(session, person(phones=(phone(),)), now=NOW)
    nameless = contacts.upsert(session, person(None, phones=(phone(),)), now=NOW)
    other = contacts.upsert(session, person("Bob Ray", phones=(phone(),)), now=NOW)

    assert same.id == nameless.id == first.id
    assert other.id != first.id


def test_records_of_one_batch_are_merged(session: Session) -> None:
    records = [
        person(linkedin_url=ADA, company=ACME),
        person(company=ACME, emails=(email(),)),
        person(None, emails=(email(),), title="CTO"),
        person("Bob Ray", phones=(phone(),)),
        person("Bob Ray", phones=(phone(),)),
    ]

    stored = contacts.upsert_many(session, records, now=NOW)

    assert len({item.contact_id for item in stored}) == 2
    assert [item.change for item in stored] == [None, Change.CHANGED, Change.CHANGED, None, Change.NONE]


def test_newer_values_replace_older_ones_field_by_field_with_their_source(session: Session) -> None:
    contacts.upsert(session, person(linkedin_url=ADA, title="CTO", city="Boston", company=ACME), now=NOW)
    newer = person(linkedin_url=ADA, title="CEO", source=a_source(NOW + DAY, "new.csv"), company=OTHER)

    stored = contacts.upsert(session, newer, now=NOW + DAY)

    assert (stored.title, stored.city, stored.updated_at) == ("CEO", "Boston", NOW + DAY)
    assert stored.provenance["title"] == {"source": "new.csv", "at": "2026-11-21T12:00:00.000Z"}
    assert stored.provenance["*"]["source"] == "list.csv"
    employer = session.scalar(select(Company).where(Company.domain == "other.example"))
    assert employer is not None
    assert stored.company_id == employer.id


def test_older_values_only_fill_empty_fields(session: Session) -> None:
    contacts.upsert(session, person(linkedin_url=ADA, title="CTO"), now=NOW)
    older = person(linkedin_url=ADA, title="Engineer", city="Boston", at=NOW - DAY)

    stored = contacts.upsert(session, older, now=NOW + DAY)

    assert (stored.title, stored.city) == ("CTO", "Boston")
    assert stored.provenance["city"]["at"] == "2026-11-19T12:00:00.000Z"


def test_the_same_record_again_changes_nothing(session: Session) -> None:
    found = person(linkedin_url=ADA, title="CTO", emails=(email(),), phones=(phone(),), company=ACME)
    contacts.upsert(session, found, now=NOW)

    [stored] = contacts.upsert_many(session, [found], now=NOW + DAY)

    assert stored.change is Change.NONE
    assert session.get_one(Contact, stored.contact_id, populate_existing=True).updated_at == NOW


def test_a_confirmation_does_not_update_the_contact(session: Session) -> None:
    contacts.upsert(session, person(linkedin_url=ADA, emails=(email(),)), now=NOW)
    again = person(linkedin_url=ADA, emails=(email(at=NOW + DAY),), at=NOW + DAY)

    [stored] = contacts.upsert_many(session, [again], now=NOW + DAY)

    assert stored.change is Change.REFRESHED
    row = session.get_one(Contact, stored.contact_id, populate_existing=True)
    assert row.updated_at == NOW
    assert row.provenance["*"]["at"] == "2026-11-21T12:00:00.000Z"


def test_another_email_status_updates_the_contact(session: Session) -> None:
    contacts.upsert(session, person(linkedin_url=ADA, emails=(email(),)), now=NOW)
    verdict = email(status=EmailStatus.INVALID, verified_at=NOW + DAY, at=NOW + DAY)

    stored = contacts.upsert(session, person(linkedin_url=ADA, emails=(verdict,)), now=NOW + DAY)

    assert stored.updated_at == NOW + DAY


def test_a_profile_is_added_to_the_contact_found_by_email(session: Session) -> None:
    contacts.upsert(session, person(emails=(email(),)), now=NOW)

    stored = contacts.upsert(session, person(emails=(email(),), linkedin_url=ADA), now=NOW)

    assert stored.linkedin_url == ADA


def test_a_contacts_record_does_not_rename_the_company(session: Session) -> None:
    contacts.upsert(session, person(company=ACME), now=NOW)
    consultant = person("Bob Ray", company=company("Consulting LLC", "acme.example", at=NOW + DAY))

    contacts.upsert(session, consultant, now=NOW + DAY)

    employer = session.scalar(select(Company).where(Company.domain == "acme.example"))
    assert employer is not None
    assert employer.name == "Acme Inc."


def test_many_people_are_stored_with_few_statements(session: Session) -> None:
    records = [
        person(f"Ada L{index}", company=ACME, emails=(email(f"a{index}@acme.example"),))
        for index in range(50)
    ]
    statements: list[str] = []
    with _counted(session, statements):
        contacts.upsert_many(session, records, now=NOW)
    first = len(statements)
    with _counted(session, statements):
        contacts.upsert_many(session, records, now=NOW)

    assert first < 15
    assert len(statements) - first < 15


def test_no_contact_is_searched_by_name_at_a_new_company(session: Session) -> None:
    statements: list[str] = []
    with _counted(session, statements):
        contacts.upsert_many(session, [person("Ada Lovelace", company=ACME)], now=NOW)
    first = len([sql for sql in statements if "last_key) IN" in sql])
    with _counted(session, statements):
        contacts.upsert_many(session, [person("Grace Hopper", company=ACME)], now=NOW)

    assert first == 0
    assert len([sql for sql in statements if "last_key) IN" in sql]) == 1


def _counted(session: Session, statements: list[str]):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from contextlib import contextmanager  # noqa: PLC0415

    from sqlalchemy import event  # noqa: PLC0415

    engine = session.get_bind()

    @contextmanager
    def counting():  # type: ignore[no-untyped-def]  # noqa: ANN202
        def note(*args: object) -> None:
            statements.append(str(args[2]))

        event.listen(engine, "before_cursor_execute", note)
        yield
        event.remove(engine, "before_cursor_execute", note)

    return counting()
