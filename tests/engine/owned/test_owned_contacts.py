from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from jobs_support import a_job, a_workspace
from sqlalchemy import select, update
from stored_support import ADA_URL, NOW, a_company, a_contact, a_phone, an_email, own, suppress

from app.domain.errors import ContactNotFound, InvalidValue
from app.domain.findings import EmailStatus
from app.domain.ids import EXAMPLES, new_id
from app.engine.contacts.bounce_reports import Feedback, FeedbackKind
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.saved import contact_lists, saved_contacts
from app.engine.ledger.reveals import Reveal
from app.engine.lookups import profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot, SaveResult
from app.engine.owned import owned_contacts, owned_exports
from app.engine.owned.owned_contacts import OwnedContact
from app.engine.owned.owned_filters import Cursor, Order, Selection, Sort
from app.infra.database.session import Session

DAY = timedelta(days=1)


def save(
    session: Session, workspace_id: str, url: str = ADA_URL, marks: Any = None, **read: str | None
) -> SaveResult:
    snapshot = ProfileSnapshot(linkedin_url=url, captured_at=NOW, fields=read, annotations=marks or {})
    return profile_snapshots.save(
        session, workspace_id=workspace_id, account_id="acc_x", snapshot=snapshot, now=NOW
    )


def a_revealed_contact(
    session: Session, workspace_id: str, name: str, days: int = 0, **changes: Any
) -> Contact:
    """Insert a contact whose e-mail the workspace revealed so many days after NOW."""
    contact = a_contact(session, changes.pop("company", None), name, **changes)
    an_email(session, contact, f"{name.lower().replace(' ', '.')}@acme.com")
    own(session, workspace_id, contact, "email")
    session.execute(update(Reveal).where(Reveal.contact_id == contact.id).values(created_at=NOW + days * DAY))
    return contact


def people(session: Session, workspace_id: str, **filters: Any) -> list[OwnedContact]:
    selection = Selection(**filters)
    return list(owned_contacts.page(session, workspace_id, selection, limit=100).contacts)


def names(session: Session, workspace_id: str, **filters: Any) -> list[str]:
    return [
        person.public(with_values=True)["full_name"] for person in people(session, workspace_id, **filters)
    ]


def test_three_revealed_people_are_three_rows_and_another_workspace_sees_none(
    session: Session, workspace_id: str
) -> None:
    for number, name in enumerate(["Ada Lovelace", "Bob Ray", "Cleo Clarke"]):
        a_revealed_contact(session, workspace_id, name, number)
    stranger = a_workspace(session)

    assert names(session, workspace_id) == ["Cleo Clarke", "Bob Ray", "Ada Lovelace"]
    assert names(session, stranger) == []


def test_another_workspace_sees_no_saved_person(session: Session, workspace_id: str) -> None:
    save(session, workspace_id, marks={"list_name": "Hot", "tags": ["engines"]})
    stranger = a_workspace(session)

    assert len(people(session, workspace_id, tag="engines")) == 1
    assert [
        people(session, stranger, **filters) for filters in ({}, {"tag": "engines"}, {"list_name": "Hot"})
    ] == [[], [], []]


def test_a_person_with_two_revealed_fields_is_one_row_of_the_first_reveal(
    session: Session, workspace_id: str
) -> None:
    ada = a_revealed_contact(session, workspace_id, "Ada Lovelace", 3)
    a_phone(session, ada, "+12025550143")
    own(session, workspace_id, ada, "phone")

    (person,) = people(session, workspace_id)

    assert person.row.revealed_at == NOW
    assert [len(person.revealed[field]) for field in ("emails", "phones")] == [1, 1]


def test_a_person_who_was_revealed_and_saved_is_one_row(session: Session, workspace_id: str) -> None:
    ada = a_revealed_contact(
        session, workspace_id, "Ada Lovelace", company=a_company(session), linkedin_url=ADA_URL
    )
    save(
        session, workspace_id, title="Director", company_name="Beta", marks={"list_name": "Hot", "note": "hi"}
    )

    (person,) = people(session, workspace_id)

    public = person.public(with_values=True)
    assert (public["id"], public["contact_id"]) == (ada.id, ada.id)
    assert (public["full_name"], public["title"]) == ("Ada Lovelace", "Director")
    assert public["company"] == {"name": "Beta", "domain": None, "linkedin_url": None}
    assert [entry["name"] for entry in public["saved"]["lists"]] == ["Hot"]
    assert public["saved"]["note"] == "hi"


def test_a_saved_person_of_whom_nothing_is_stored_is_listed(session: Session, workspace_id: str) -> None:
    saved = save(session, workspace_id, full_name="Ada Lovelace", location="London, United Kingdom")

    (person,) = people(session, workspace_id)

    public = person.public(with_values=True)
    assert (public["id"], public["contact_id"]) == (saved.profile.id, None)
    assert public["location"] == {"city": "London", "country": "GB"}
    assert public["revealed"] == {"emails": [], "phones": []}
    assert public["revealed_at"] is None


def test_a_saved_person_shows_no_value_that_the_workspace_does_not_own(
    session: Session, workspace_id: str
) -> None:
    ada = a_contact(session, None, linkedin_url=ADA_URL)
    an_email(session, ada, "ada@acme.com")
    save(session, workspace_id)

    (person,) = people(session, workspace_id)

    assert person.row.contact_id == ada.id
    assert person.revealed == {"emails": [], "phones": []}


def test_the_time_of_a_contact_that_is_not_owned_is_not_shown(session: Session, workspace_id: str) -> None:
    a_contact(session, None, linkedin_url=ADA_URL).updated_at = NOW + DAY
    session.flush()
    save(session, workspace_id)

    (person,) = people(session, workspace_id)

    assert person.row.updated_at == NOW


def test_a_refunded_person_is_not_listed(session: Session, workspace_id: str) -> None:
    a_revealed_contact(session, workspace_id, "Ada Lovelace")
    session.execute(update(Reveal).values(refunded_at=NOW))

    assert names(session, workspace_id) == []


@pytest.mark.parametrize(("kind", "value"), [("email", "ada.lovelace@acme.com"), ("linkedin_url", ADA_URL)])
def test_a_suppressed_person_is_not_listed(
    session: Session, workspace_id: str, kind: str, value: str
) -> None:
    ada = a_revealed_contact(session, workspace_id, "Ada Lovelace", linkedin_url=ADA_URL)
    suppress(session, kind, value)

    assert names(session, workspace_id) == []
    with pytest.raises(ContactNotFound):
        owned_contacts.get(session, workspace_id, ada.id)


def test_the_owner_is_who_revealed_or_saved_first(session: Session, workspace_id: str) -> None:
    job_id = a_job(session, workspace_id, account_id="acc_revealer")
    a_revealed_contact(session, workspace_id, "Ada Lovelace", -1, linkedin_url=ADA_URL)
    session.execute(update(Reveal).values(job_id=job_id))
    save(session, workspace_id)
    (revealed_first,) = people(session, workspace_id)
    session.execute(update(Reveal).values(created_at=NOW + DAY))

    (saved_first,) = people(session, workspace_id)

    assert (revealed_first.row.owner_id, saved_first.row.owner_id) == ("acc_revealer", "acc_x")
    assert len(people(session, workspace_id, owner="acc_x")) == 1
    assert people(session, workspace_id, owner="acc_revealer") == []


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"list_name": "Hot"}, ["Ada Lovelace"]),
        ({"tag": "engines"}, ["Ada Lovelace"]),
        ({"tag": "engine"}, []),
        ({"company": "acme"}, ["Bob Ray"]),
        ({"company": "ACME.com"}, ["Bob Ray"]),
        ({"company": "beta"}, ["Ada Lovelace"]),
        ({"name": "LOVE"}, ["Ada Lovelace"]),
        ({"name": "%"}, []),
        ({"status": EmailStatus.VALID}, ["Bob Ray"]),
        ({"status": EmailStatus.RISKY}, []),
        ({"revealed_since": NOW}, ["Bob Ray"]),
        ({"revealed_since": NOW + DAY}, []),
    ],
)
def test_a_filter_selects_people(
    session: Session, workspace_id: str, filters: dict[str, Any], found: list[str]
) -> None:
    a_revealed_contact(session, workspace_id, "Bob Ray", company=a_company(session))
    marks = {"list_name": "Hot", "tags": ["engines"]}
    save(session, workspace_id, full_name="Ada Lovelace", company_name="Beta Works", marks=marks)

    assert names(session, workspace_id, **filters) == found


def test_a_list_of_another_workspace_selects_nobody(session: Session, workspace_id: str) -> None:
    save(session, workspace_id, full_name="Ada Lovelace")
    foreign, _ = contact_lists.ensure(session, a_workspace(session), "Hot", now=NOW)

    assert names(session, workspace_id, list_name=foreign.id) == []


@pytest.mark.parametrize(
    ("sort", "order", "expected"),
    [
        (Sort.REVEALED_AT, Order.DESCENDING, ["Cleo", "Ada", "Bob"]),
        (Sort.REVEALED_AT, Order.ASCENDING, ["Bob", "Ada", "Cleo"]),
        (Sort.NAME, Order.ASCENDING, ["Ada", "Bob", "Cleo"]),
        (Sort.NAME, Order.DESCENDING, ["Cleo", "Bob", "Ada"]),
        (Sort.COMPANY, Order.ASCENDING, ["Bob", "Cleo", "Ada"]),
        (Sort.UPDATED_AT, Order.DESCENDING, ["Cleo", "Ada", "Bob"]),
    ],
)
def test_pages_of_one_are_in_order_and_complete(
    session: Session, workspace_id: str, sort: Sort, order: Order, expected: list[str]
) -> None:
    a_revealed_contact(session, workspace_id, "Bob", -2).updated_at = NOW - DAY
    a_revealed_contact(session, workspace_id, "Cleo", 1, company=a_company(session))
    save(session, workspace_id, full_name="Ada", company_name="Beta")
    selection = Selection(sort=sort, order=order)

    found, cursor = [], None
    for _ in expected:
        page = owned_contacts.page(session, workspace_id, selection, after=cursor, limit=1)
        found += [person.public(with_values=True)["full_name"] for person in page.contacts]
        cursor = page.next_cursor and Cursor.parse(page.next_cursor.text(selection), selection)

    assert (found, cursor) == (expected, None)


@pytest.mark.parametrize(
    "text", ["", "x", "é", "W10", Cursor("ada", EXAMPLES["con"]).text(Selection(sort=Sort.NAME))]
)
def test_another_text_is_not_a_cursor(text: str) -> None:
    with pytest.raises(InvalidValue):
        Cursor.parse(text, Selection())


def test_a_person_is_found_by_contact_and_by_saved_row(session: Session, workspace_id: str) -> None:
    contact = a_revealed_contact(session, workspace_id, "Ada Lovelace", linkedin_url=ADA_URL)
    saved = save(session, workspace_id)

    by_contact = owned_contacts.get(session, workspace_id, contact.id)
    by_row = owned_contacts.get(session, workspace_id, saved.profile.id)

    assert by_contact.id == by_row.id == contact.id


def test_another_workspaces_person_is_not_found(session: Session, workspace_id: str) -> None:
    contact = a_revealed_contact(session, workspace_id, "Ada Lovelace")

    with pytest.raises(ContactNotFound):
        owned_contacts.get(session, a_workspace(session), contact.id)


def test_a_contact_that_is_saved_before_and_after_its_profile_is_known_is_one_person(
    session: Session, workspace_id: str
) -> None:
    ada = a_contact(session)
    before = saved_contacts.save(session, workspace_id, "acc_x", [ada], now=NOW)[ada.id]
    before.tags, before.note = ["old"], "from before"
    contact_list, _ = contact_lists.ensure(session, workspace_id, "Hot", now=NOW)
    contact_lists.add_members(session, contact_list.id, [before.id], now=NOW)
    ada.linkedin_url = ADA_URL
    session.flush()

    save(session, workspace_id)

    (person,) = people(session, workspace_id)
    assert person.saved is not None
    assert [entry["name"] for entry in person.saved["lists"]] == ["Hot"]
    assert (person.saved["tags"], person.saved["note"]) == (["old"], "from before")


def test_a_person_who_changed_company_shows_the_latest_change(session: Session, workspace_id: str) -> None:
    company = a_company(session)
    moved = a_revealed_contact(session, workspace_id, "Ada Lovelace", company=company, linkedin_url=ADA_URL)
    a_revealed_contact(session, workspace_id, "Bob Ray")

    save(session, workspace_id, company_name="Globex", company_domain="globex.com")

    changes = {
        person.id: person.public(with_values=True)["job_change"] for person in people(session, workspace_id)
    }
    change = changes.pop(moved.id)
    assert list(changes.values()) == [None]
    assert (change["from"]["name"], change["to"]) == (
        "Acme Engines",
        {"company_id": None, "name": "Globex", "domain": "globex.com"},
    )


def test_the_status_of_an_address_that_is_not_owned_selects_nobody(
    session: Session, workspace_id: str
) -> None:
    an_email(session, a_contact(session, linkedin_url=ADA_URL), "ada@acme.com")
    save(session, workspace_id)

    assert people(session, workspace_id, status=EmailStatus.VALID) == []


def test_an_address_whose_bounce_the_workspace_reported_counts_as_risky(
    session: Session, workspace_id: str
) -> None:
    ada = a_revealed_contact(session, workspace_id, "Ada Lovelace")
    email_id = session.scalars(select(Email.id).where(Email.contact_id == ada.id)).one()
    session.add(
        Feedback(
            id=new_id("fdb"),
            workspace_id=workspace_id,
            contact_id=ada.id,
            email_id=email_id,
            kind=FeedbackKind.BOUNCE.value,
            providers=[],
            refunded=0,
            created_at=NOW,
        )
    )
    session.flush()

    assert names(session, workspace_id, status=EmailStatus.RISKY) == ["Ada Lovelace"]
    assert names(session, workspace_id, status=EmailStatus.VALID) == []


def test_the_company_of_a_saved_profile_is_exported_instead_of_the_stored_one(
    session: Session, workspace_id: str
) -> None:
    save(session, workspace_id, full_name="Ada", company_name="Beta")

    [person] = people(session, workspace_id)

    assert owned_exports.row(person, with_values=False)["company_name"] == "Beta"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("lovelace", ["Ada Lovelace", "Ada Lovelace-Byron"]),
        ("LOVE", ["Ada Lovelace", "Ada Lovelace-Byron"]),
        ("lovelace ada", ["Ada Lovelace", "Ada Lovelace-Byron"]),
        ("byron", ["Ada Lovelace-Byron"]),
        ("ovelace", []),
        ("marquez", ["José García Márquez"]),
        ("Jose Garcia", ["José García Márquez"]),
        ("mueller", ["Jürgen Müller"]),
        ("Müller", ["Jürgen Müller"]),
        ("o'nei", ["Shaun O'Neill"]),
        ("太郎", ["山田太郎"]),
        ("ada 太郎", []),
        ("bob' | 'ada", []),
        ("100%", []),
        ("!?", []),
        ("", []),
    ],
)
def test_a_name_is_found_by_the_beginnings_of_its_words(
    session: Session, workspace_id: str, typed: str, expected: list[str]
) -> None:
    for name in (
        "Ada Lovelace",
        "José García Márquez",
        "Jürgen Müller",
        "Shaun O'Neill",
        "山田太郎",
    ):
        a_revealed_contact(session, workspace_id, name)
    save(session, workspace_id, full_name="Ada Lovelace-Byron")
    a_revealed_contact(session, a_workspace(session), "Ada Lovelace of Another")

    found = names(session, workspace_id, name=typed, sort=Sort.NAME, order=Order.ASCENDING)

    assert found == expected


def test_a_person_is_found_by_the_stored_and_by_the_saved_name(session: Session, workspace_id: str) -> None:
    contact = a_revealed_contact(session, workspace_id, "Augusta King", linkedin_url=ADA_URL)
    save(session, workspace_id, full_name="Ada Lovelace")
    other = a_contact(session, full_name="Robert Ray", linkedin_url=f"{ADA_URL}-2")
    save(session, workspace_id, url=f"{ADA_URL}-2", full_name="Bob")
    saved_only = a_contact(session, full_name="Cleo Clarke")
    saved_contacts.save(session, workspace_id, "acc_x", [saved_only], now=NOW)
    session.flush()

    assert [ids(session, workspace_id, name=typed) for typed in ("king", "lovelace")] == [[contact.id]] * 2
    assert [ids(session, workspace_id, name=typed) for typed in ("robert", "bob")] == [[other.id]] * 2
    assert ids(session, workspace_id, name="cleo") == [saved_only.id]
    assert ids(session, workspace_id, name="cleo", tag="none") == []


def ids(session: Session, workspace_id: str, **filters: Any) -> list[str]:
    return [person.id for person in people(session, workspace_id, **filters)]


def test_a_name_that_was_saved_anew_is_found_and_the_former_is_not(
    session: Session, workspace_id: str
) -> None:
    save(session, workspace_id, full_name="Ada Byron")
    snapshot = ProfileSnapshot(
        linkedin_url=ADA_URL,
        captured_at=NOW + timedelta(days=1),
        fields={"full_name": "Ada King"},
        annotations={},
    )
    profile_snapshots.save(session, workspace_id=workspace_id, account_id="acc_x", snapshot=snapshot, now=NOW)

    assert [names(session, workspace_id, name=typed) for typed in ("byron", "king")] == [[], ["Ada King"]]


def test_places_are_those_of_the_pages(session: Session, workspace_id: str) -> None:
    for number, name in enumerate(["Ada Lovelace", "Bob Ray", "Ada King"]):
        a_revealed_contact(session, workspace_id, name, number)
    selection = Selection(name="ada")

    both = owned_contacts.places(session, workspace_id, selection, after=None, limit=9)
    last = owned_contacts.places(session, workspace_id, selection, after=both[0], limit=9)

    shown = owned_contacts.page(session, workspace_id, selection, limit=9).contacts
    assert [place.person_id for place in both] == [person.id for person in shown]
    assert last == both[1:]
