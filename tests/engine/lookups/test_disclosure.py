"""Assessment and disclosure of a person's stored data."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from jobs_support import a_workspace
from stored_support import ADA_URL, NOW, a_company, a_contact, a_phone, an_email, disclose

from app.domain.errors import ContactNotFound
from app.domain.records.subjects import Subject
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.ledger import acquisition
from app.engine.ledger.acquisition import Acquisition
from app.engine.lookups import contact_data, disclosure, known_people
from app.engine.lookups.disclosure import Purchase, Sale
from app.engine.lookups.field_requests import TYPES, ContactField, FieldRequest, MinStatus
from app.engine.lookups.known_people import KnownPerson
from app.engine.matching import reverse_lookups
from app.infra.database import database_clock
from app.infra.database.session import Session

WORK = FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=MinStatus.VALID)
ANY_PHONE = FieldRequest(field=ContactField.PHONE, types=TYPES[ContactField.PHONE], min_status=MinStatus.ANY)
DEFAULT_MAX_AGE = timedelta(days=180)


def know(
    session: Session, workspace_id: str, field_request: FieldRequest = WORK, **named: str
) -> KnownPerson:
    return known_people.assess(
        session, workspace_id, Subject(**named), field_request, default_max_age=DEFAULT_MAX_AGE, now=NOW
    )


def test_a_fresh_stored_address_satisfies_the_request(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session, a_company(session))
    an_email(session, ada, "ada@acme.com")

    known = know(session, workspace, contact_id=ada.id)

    assert (known.contact, known.has_fresh_value, known.owned, known.suppressed) == (ada, True, False, False)
    assert known.subject.full_name == "Ada Lovelace"
    assert known.subject.company_domain == "acme.com"


def test_an_unknown_person_has_only_the_callers_values(session: Session) -> None:
    workspace = a_workspace(session)

    known = know(session, workspace, full_name="Ada", company_name="Acme")

    assert (known.contact, known.has_fresh_value) == (None, False)
    assert known.subject == Subject(full_name="Ada", company_name="Acme")


def test_a_person_without_a_company_has_no_domain(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session, linkedin_url=ADA_URL)

    known = know(session, workspace, contact_id=ada.id)

    assert (known.subject.linkedin_url, known.subject.company_domain) == (ADA_URL, None)


def test_an_unknown_contact_id_is_not_found(session: Session) -> None:
    workspace = a_workspace(session)

    with pytest.raises(ContactNotFound):
        know(session, workspace, contact_id="con_0")


@pytest.mark.parametrize(
    ("status", "expected", "good"),
    [
        ("valid", MinStatus.VALID, True),
        ("accept_all", MinStatus.VALID, False),
        ("accept_all", MinStatus.ACCEPT_ALL, True),
        ("risky", MinStatus.ACCEPT_ALL, False),
        ("unknown", MinStatus.ANY, True),
        ("invalid", MinStatus.ANY, False),
    ],
)
def test_the_minimum_status_decides_whether_a_value_satisfies_the_request(
    session: Session, status: str, expected: MinStatus, *, good: bool
) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    an_email(session, ada, "ada@acme.com", status=status)

    known = know(
        session,
        workspace,
        FieldRequest(field=ContactField.EMAIL, types=("work",), min_status=expected),
        contact_id=ada.id,
    )

    assert known.has_fresh_value is good


def test_a_stale_value_satisfies_the_request_only_if_it_is_owned(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    an_email(session, ada, "ada@acme.com", verified_at=NOW - timedelta(days=181))

    before = know(session, workspace, contact_id=ada.id)
    disclose(
        session, workspace_id=workspace, job_id="job_1", contact=ada, field_request=WORK, price=1, now=NOW
    )
    after = know(session, workspace, contact_id=ada.id)

    assert (before.has_fresh_value, before.owned) == (False, False)
    assert (after.has_fresh_value, after.owned) == (True, True)


def test_a_requested_maximum_age_applies_to_owned_values_too(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    row = an_email(session, ada, "ada@acme.com", verified_at=None)
    row.last_seen_at = NOW - timedelta(days=8)
    session.flush()
    field_request = FieldRequest.parse(
        ContactField.EMAIL, {"types": ["work"], "min_status": "valid", "max_age_days": 7}
    )
    disclose(
        session, workspace_id=workspace, job_id="job_1", contact=ada, field_request=WORK, price=1, now=NOW
    )

    known = know(session, workspace, field_request, contact_id=ada.id)

    assert (known.owned, known.has_fresh_value) == (True, False)


def test_a_value_older_than_requested_is_disclosed_only_to_its_owner(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    an_email(session, ada, "ada@acme.com", verified_at=NOW - timedelta(days=8))
    week = FieldRequest.parse(
        ContactField.EMAIL, {"types": ["work"], "min_status": "valid", "max_age_days": 7}
    )

    refused, bought, owned = (
        disclose(
            session,
            workspace_id=workspace,
            job_id="job_1",
            contact=ada,
            field_request=field_request,
            price=1,
            now=NOW,
        )
        for field_request in (week, WORK, week)
    )

    assert refused is None
    assert bought is not None
    assert (bought.charge, bought.already_owned) == (1, False)
    assert owned is not None
    assert (owned.charge, owned.already_owned) == (0, True)


def test_a_request_without_a_maximum_age_uses_the_default() -> None:
    field_request = FieldRequest.parse(
        ContactField.PHONE, {"types": ["mobile"], "min_status": "any", "max_age_days": None}
    )

    assert field_request == FieldRequest(
        field=ContactField.PHONE, types=("mobile",), min_status=MinStatus.ANY, max_age=None
    )


def test_a_suppressed_identifier_stored_or_provided_hides_the_person(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    an_email(session, ada, "ada@acme.com")
    suppressions.suppress(session, [Identifier("email", "ada@acme.com")], reason="asked", now=NOW)
    given = Subject(email="ada@acme.com")
    reverse_lookups.admit(session, workspace, [given], now=database_clock.now())

    stored = know(session, workspace, contact_id=ada.id)
    requested = know(session, workspace, email="ada@acme.com")

    assert (stored.suppressed, requested.suppressed) == (True, True)


def test_all_identifiers_of_the_person_are_returned(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session, linkedin_url=ADA_URL)
    an_email(session, ada, "ada@acme.com")

    of_known = known_people.identifiers(session, workspace, know(session, workspace, contact_id=ada.id))
    of_stranger = known_people.identifiers(session, workspace, know(session, workspace, email="bob@acme.com"))

    assert set(of_known) == {Identifier("linkedin_url", ADA_URL), Identifier("email", "ada@acme.com")}
    assert of_stranger == [Identifier("email", "bob@acme.com")]


def test_a_person_is_also_suppressed_by_the_domain_of_their_employer(session: Session) -> None:
    workspace = a_workspace(session)
    with_site = a_contact(session, a_company(session), linkedin_url=ADA_URL)
    without = a_contact(session, a_company(session, "Bell Labs", domain=None), linkedin_url=f"{ADA_URL}-2")
    data = contact_data.load(session, workspace, [with_site, without])

    assert Identifier("domain", "acme.com") in data.identifiers_of(with_site)
    assert data.identifiers_of(without) == [Identifier("linkedin_url", f"{ADA_URL}-2")]


def test_values_are_disclosed_best_first_and_charged_once(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    an_email(session, ada, "old@acme.com", confidence=0.5)
    an_email(session, ada, "ada@acme.com", confidence=0.9)
    hand = {
        "workspace_id": workspace,
        "job_id": "job_1",
        "contact": ada,
        "field_request": WORK,
        "price": 1,
        "now": NOW,
    }

    first = disclose(session, **hand)
    second = disclose(session, **hand)

    assert first is not None
    assert [(value["email"], value["primary"]) for value in first.values] == [
        ("ada@acme.com", True),
        ("old@acme.com", False),
    ]
    assert (first.charge, first.already_owned) == (1, False)
    assert second is not None
    assert (second.charge, second.already_owned) == (0, True)


@pytest.mark.parametrize("bought", ["value", "field"])
def test_values_bought_concurrently_by_another_job_are_disclosed_for_free(
    session: Session, monkeypatch: pytest.MonkeyPatch, bought: str
) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session, a_company(session))
    an_email(session, ada, "ada@acme.com")
    acquire_all = acquisition.acquire_all

    def acquire_second(session: Session, acquisitions: list[Acquisition], **now: Any) -> frozenset[str]:
        first = [
            replace(one, job_id="job_0", values=one.values if bought == "value" else ["other"])
            for one in acquisitions
        ]
        if bought == "value":
            acquisition.acquire_values(session, first, **now)
        else:
            acquire_all(session, first, **now)
        return acquire_all(session, acquisitions, **now)

    monkeypatch.setattr(acquisition, "acquire_all", acquire_second)

    disclosed = disclose(
        session, workspace_id=workspace, job_id="job_1", contact=ada, field_request=WORK, price=1, now=NOW
    )

    assert disclosed is not None
    assert ([item["email"] for item in disclosed.values], disclosed.charge) == (["ada@acme.com"], 0)
    assert disclosed.already_owned


def test_of_two_jobs_for_a_field_the_second_is_disclosed_when_the_first_is_paid(session: Session) -> None:
    """If the first turned out to be free, the second would get values that nobody has paid for."""
    workspace, ada = a_workspace(session), a_contact(session)
    an_email(session, ada, "ada@acme.com")
    an_email(session, ada, "ada@home.example", type="personal")
    data = contact_data.load(session, workspace, [ada])
    sales = [
        Sale(
            Purchase(workspace_id=workspace, job_id=f"job_{type_}", price=1, budget=1, now=NOW),
            ada,
            replace(WORK, types=(type_,)),
            data,
        )
        for type_ in ("work", "personal")
    ]

    first, second = disclosure.disclose_all(session, sales)

    assert first is not None
    assert (first.charge, second) == (1, None)


def test_phone_numbers_are_disclosed_in_full(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    a_phone(session, ada, "+12025550143", type="mobile")

    disclosed = disclose(
        session,
        workspace_id=workspace,
        job_id="job_1",
        contact=ada,
        field_request=ANY_PHONE,
        price=5,
        now=NOW,
    )

    assert disclosed is not None
    assert (disclosed.contact_id, disclosed.values[0]["e164"], disclosed.charge) == (
        ada.id,
        "+12025550143",
        5,
    )


def test_without_a_satisfying_value_nothing_is_disclosed_or_owned(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    an_email(session, ada, "ada@gmail.com", type="personal")

    disclosed = disclose(
        session, workspace_id=workspace, job_id="job_1", contact=ada, field_request=WORK, price=1, now=NOW
    )

    assert disclosed is None
    assert know(session, workspace, contact_id=ada.id).owned is False


def test_a_person_suppressed_meanwhile_is_not_disclosed(session: Session) -> None:
    workspace = a_workspace(session)
    ada = a_contact(session)
    an_email(session, ada, "ada@acme.com")
    suppressions.suppress(session, [Identifier("email", "ada@acme.com")], reason="asked", now=NOW)

    disclosed = disclose(
        session, workspace_id=workspace, job_id="job_1", contact=ada, field_request=WORK, price=1, now=NOW
    )

    assert disclosed is None
