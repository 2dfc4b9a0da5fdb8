from __future__ import annotations

import pytest
from jobs_support import a_workspace
from stored_support import (
    ADA_URL,
    NOW,
    PRICES,
    SOURCE,
    STAMP,
    a_company,
    a_contact,
    a_phone,
    an_email,
    own,
    statements,
    suppress,
)

from app.domain.findings import COMPANY_FIELDS
from app.domain.records.conflicts import CONTACT_FIELDS
from app.domain.records.subjects import Subject
from app.engine.ledger.ownership import Ownership
from app.engine.lookups import contact_data, representations
from app.infra.database.session import Session


def test_a_contact_whose_employer_was_not_read_is_identified_by_its_own_values(session: Session) -> None:
    ada = a_contact(session, linkedin_url=ADA_URL)
    session.flush()

    data = contact_data.load(session, a_workspace(session), [])

    assert {identifier.kind for identifier in data.identifiers_of(ada)} == {"linkedin_url"}


def test_a_contact_and_a_company_are_shown_in_full(session: Session) -> None:
    company = a_company(session)
    ada = a_contact(
        session, company, seniority="senior", department="engineering", linkedin_url=ADA_URL, city=None
    )

    shown = (representations.contact_card(ada), representations.company_card(company))

    assert shown == (
        {
            "id": ada.id,
            "full_name": "Ada Lovelace",
            "title": "Engineer",
            "seniority": "senior",
            "department": "engineering",
            "linkedin_url": ADA_URL,
            "location": {"city": None, "country": "GB"},
        },
        {
            "id": company.id,
            "name": "Acme Engines",
            "domain": "acme.com",
            "linkedin_url": None,
            "industry": "Machinery",
            "headcount": "51-200",
            "location": {"city": "London", "country": "GB"},
        },
    )


def test_every_field_of_a_card_can_have_a_source_and_a_conflict(session: Session) -> None:
    ada, acme = a_contact(session), a_company(session)

    shown = [set(representations.contact_card(ada)), set(representations.company_card(acme))]

    parts = {"city", "country"}
    assert [fields - {"id", "location"} | parts for fields in shown] == [
        set(CONTACT_FIELDS),
        set(COMPANY_FIELDS),
    ]


def test_available_values_are_masked_and_priced(session: Session) -> None:
    workspace_id, ada = a_workspace(session), a_contact(session)
    an_email(session, ada, "ada@acme.com")
    a_phone(session, ada, "+12025550143")

    entries = representations.masked_fields(contact_data.load(session, workspace_id, [ada]), ada.id, PRICES)

    assert entries == [
        {
            "field": "email",
            "type": "work",
            "masked": "a•••••@acme.com",
            "do_not_call": None,
            "call_registers": [],
            "status": "valid",
            "last_verified_at": "2026-11-20T00:00:00.000Z",
            "owned": False,
            "reported": None,
            "reported_at": None,
            "credits": 1,
        },
        {
            "field": "phone",
            "type": "work",
            "masked": "+1 •••••••43",
            "do_not_call": False,
            "call_registers": [],
            "status": "valid",
            "last_verified_at": None,
            "owned": False,
            "reported": None,
            "reported_at": None,
            "credits": 5,
        },
    ]


def test_the_best_value_of_each_type_is_shown_and_no_invalid_one(session: Session) -> None:
    workspace_id, ada = a_workspace(session), a_contact(session)
    an_email(session, ada, "x@acme.com", status="unknown")
    an_email(session, ada, "y@acme.com", status="accept_all", confidence=None)
    an_email(session, ada, "z@acme.com", status="accept_all", confidence=0.5)
    an_email(session, ada, "ada@gmail.com", type="personal", status="risky")
    a_phone(session, ada, "+12025550143", status="invalid")

    entries = representations.masked_fields(contact_data.load(session, workspace_id, [ada]), ada.id, PRICES)

    assert [(item["type"], item["status"], item["masked"][0]) for item in entries] == [
        ("work", "accept_all", "z"),
        ("personal", "risky", "a"),
    ]


def test_owned_values_cost_nothing_and_are_shown_in_full(session: Session) -> None:
    workspace_id, ada = a_workspace(session), a_contact(session)
    an_email(session, ada, "ada@gmail.com", type="personal", verified_at=None)
    an_email(session, ada, "ada@acme.com")
    a_phone(session, ada, "+12025550143")
    own(session, workspace_id, ada, "email")

    held = contact_data.load(session, workspace_id, [ada])

    assert [
        (item["field"], item["owned"], item["credits"])
        for item in representations.masked_fields(held, ada.id, PRICES)
    ] == [
        ("email", True, 0),
        ("email", True, 0),
        ("phone", False, 5),
    ]
    full = {"status": "valid", "status_reasons": [], "confidence": 0.9, "sources": [SOURCE]}
    full |= {"reported": None, "reported_at": None}
    assert representations.revealed(held, ada.id) == {
        "emails": [
            {"email": "ada@acme.com", "type": "work", "primary": True, "verified_at": STAMP, **full},
            {"email": "ada@gmail.com", "type": "personal", "primary": False, "verified_at": None, **full},
        ],
        "phones": [],
    }


def test_an_owned_phone_is_shown_in_full(session: Session) -> None:
    workspace_id, ada = a_workspace(session), a_contact(session)
    an_email(session, ada, "ada@acme.com")
    a_phone(session, ada, "+12025550143", verified_at=NOW, extension="12", do_not_call_at=NOW)
    own(session, workspace_id, ada, "phone")

    shown = representations.revealed(contact_data.load(session, workspace_id, [ada]), ada.id)

    assert shown == {
        "emails": [],
        "phones": [
            {
                "e164": "+12025550143",
                "national": "2025550143",
                "extension": "12",
                "country": "US",
                "type": "work",
                "line_type": "landline",
                "status": "valid",
                "confidence": 0.9,
                "do_not_call": False,
                "do_not_call_checked_at": STAMP,
                "call_registers": [],
                "reported": None,
                "reported_at": None,
                "verified_at": STAMP,
                "sources": [SOURCE],
            }
        ],
    }


def test_ownership_is_per_workspace(session: Session) -> None:
    ours, theirs, ada = a_workspace(session), a_workspace(session), a_contact(session)
    an_email(session, ada, "ada@acme.com")
    own(session, theirs, ada, "email")

    held = contact_data.load(session, ours, [ada])

    assert representations.revealed(held, ada.id)["emails"] == []
    assert held.owned == Ownership()


@pytest.mark.parametrize(
    ("kind", "value"),
    [("email", "ada@acme.com"), ("phone", "+12025550143"), ("linkedin_url", ADA_URL)],
)
def test_a_contact_is_hidden_by_any_suppressed_identifier(session: Session, kind: str, value: str) -> None:
    workspace_id = a_workspace(session)
    ada, grace = a_contact(session, linkedin_url=ADA_URL), a_contact(session, full_name="Grace Hopper")
    an_email(session, ada, "ada@acme.com")
    a_phone(session, ada, "+12025550143")
    suppress(session, kind, value)

    held = contact_data.load(session, workspace_id, [ada, grace])

    assert [held.is_suppressed(ada), held.is_suppressed(grace)] == [True, False]


def test_a_suppressed_identifier_of_the_request_hides_the_person(session: Session) -> None:
    workspace_id, ada = a_workspace(session), a_contact(session)
    suppress(session, "email", "ada@acme.com")
    subject = Subject(contact_id=ada.id, email="ada@acme.com")

    held = contact_data.load(session, workspace_id, [ada], [subject])

    assert [held.is_suppressed(ada), held.is_suppressed(ada, subject), held.is_suppressed(None, subject)] == [
        False,
        True,
        True,
    ]


def test_a_hundred_contacts_need_as_many_queries_as_one(session: Session) -> None:
    workspace_id = a_workspace(session)
    people = [a_contact(session) for _ in range(100)]
    for number, person in enumerate(people):
        an_email(session, person, f"ada{number}@acme.com")

    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        held = contact_data.load(session, workspace_id, people)

    assert len(held.emails) == 100
    assert len(seen) == 2


def test_no_contacts_need_no_query(session: Session) -> None:
    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        held = contact_data.load(session, "wks_none", [])

    assert (seen, held.is_suppressed(None)) == ([], False)


def test_unflushed_rows_are_included(session: Session) -> None:
    workspace_id, ada = a_workspace(session), a_contact(session)
    row = an_email(session, ada, "ada@acme.com", status="risky")
    row.status = "valid"

    held = contact_data.load(session, workspace_id, [ada])

    assert [item.status for item in held.emails[ada.id]] == ["valid"]


@pytest.mark.parametrize(
    ("is_owned", "expected"), [(True, "2026-11-20T09:30:00.000Z"), (False, "2026-11-20T00:00:00.000Z")]
)
def test_the_verification_time_is_exact_for_owners_and_rounded_to_the_day_for_others(
    session: Session, *, is_owned: bool, expected: str
) -> None:
    workspace_id, ada = a_workspace(session), a_contact(session)
    an_email(session, ada, "ada@acme.com", verified_at=NOW)
    if is_owned:
        own(session, workspace_id, ada, "email")

    [entry] = representations.masked_fields(contact_data.load(session, workspace_id, [ada]), ada.id, PRICES)

    assert entry["last_verified_at"] == expected
