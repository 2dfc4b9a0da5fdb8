"""What features are told of the people looked up, and what they add to the results."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import pytest
from jobs_support import a_workspace
from stored_support import ADA_URL, PRICES, a_company, a_contact, a_phone, an_email, own, suppress

from app.domain.records.subjects import Subject
from app.engine.contacts.contacts import Contact
from app.engine.lookups import lookups
from app.engine.lookups.lookup_parts import CurrentCompany, LookedUp
from app.engine.lookups.lookups import Lookups
from app.engine.matching import caller_identifiers
from app.infra.clock import now
from app.infra.database.db import Database
from app.infra.database.session import Session

ADA = Subject(linkedin_url=ADA_URL)


class Recorder:
    """A feature that numbers the people, and remembers what it is told of them."""

    def __init__(self) -> None:
        self.groups: list[Sequence[LookedUp]] = []

    def __call__(self, _session: Session, people: Sequence[LookedUp]) -> list[dict[str, Any]]:
        self.groups.append(people)
        return [{"number": number, "reader": person.workspace_id} for number, person in enumerate(people)]


@pytest.fixture
def feature() -> Recorder:
    return Recorder()


@pytest.fixture
def ada(session: Session) -> Contact:
    contact = a_contact(session, a_company(session), linkedin_url=ADA_URL)
    an_email(session, contact, "ada@acme.com")
    a_phone(session, contact, "+12025550143")
    return contact


def told(session: Session, workspace_id: str, feature: Recorder, subject: Subject = ADA) -> LookedUp:
    lookups.look_up(session, workspace_id, [subject], prices=PRICES, finds=[feature])
    [[person]] = feature.groups
    return person


def test_a_feature_is_told_the_person_without_values_that_are_not_owned(
    session: Session, workspace_id: str, feature: Recorder, ada: Contact
) -> None:
    person = told(session, workspace_id, feature)

    assert person == LookedUp(
        workspace_id=workspace_id,
        profiles=[ADA_URL],
        emails=[],
        phones=[],
        name="Ada Lovelace",
        companies=["Acme Engines"],
        domains=["acme.com"],
        current_company=CurrentCompany("Acme Engines", "acme.com"),
    )


def test_a_feature_is_told_the_owned_values(
    session: Session, workspace_id: str, feature: Recorder, ada: Contact
) -> None:
    for field in ("email", "phone"):
        own(session, workspace_id, ada, field)

    person = told(session, workspace_id, feature)

    assert (person.emails, person.phones) == (["ada@acme.com"], ["+12025550143"])


def test_the_number_of_a_company_is_not_the_persons(
    session: Session, workspace_id: str, feature: Recorder, ada: Contact
) -> None:
    for name in ("Bob Babbage", "Carl Gauss", "Dora Maar"):
        a_phone(session, a_contact(session, None, name), "+12025550143")
    own(session, workspace_id, ada, "phone")

    person = told(session, workspace_id, feature)

    assert person.phones == []


def test_of_a_suppressed_person_a_feature_is_told_nothing(
    session: Session, workspace_id: str, feature: Recorder, ada: Contact
) -> None:
    own(session, workspace_id, ada, "email")
    suppress(session, "email", "ada@acme.com")

    person = told(session, workspace_id, feature)

    assert person == LookedUp(workspace_id=workspace_id)


def test_a_value_that_the_workspace_is_told_nothing_about_is_no_identifier(
    session: Session, workspace_id: str, feature: Recorder, ada: Contact
) -> None:
    person = told(session, workspace_id, feature, Subject(email="ada@acme.com"))

    assert (person.name, person.emails) == ("", [])


def test_an_unknown_person_is_named_by_the_subject_alone(
    session: Session, workspace_id: str, feature: Recorder, ada: Contact
) -> None:
    subject = Subject(full_name="Grace Hopper", company_domain="acme.com")

    person = told(session, workspace_id, feature, subject)

    assert (person.name, person.domains, person.companies) == ("Grace Hopper", ["acme.com"], [])
    assert person.current_company is None


def test_the_owned_values_are_those_of_all_contacts_received_for_the_subject(
    session: Session, workspace_id: str, feature: Recorder
) -> None:
    subject = Subject(full_name="Grace Hopper", company_name="Navy")
    for address in ("grace@navy.example", "hopper@navy.example"):
        contact = a_contact(session, None, None)
        an_email(session, contact, address)
        own(session, workspace_id, contact, "email")
        caller_identifiers.remember(session, workspace_id, subject, contact.id, now=now())

    person = told(session, workspace_id, feature, subject)

    assert sorted(person.emails) == ["grace@navy.example", "hopper@navy.example"]


def test_people_of_several_workspaces_are_told_at_once_and_each_result_has_its_own_fields(
    session: Session, feature: Recorder, ada: Contact
) -> None:
    mine, theirs = a_workspace(session), a_workspace(session)
    own(session, theirs, ada, "email")
    nobody = Subject(linkedin_url="https://www.linkedin.com/in/nobody")

    results = lookups.look_up_by_key(
        session, [(mine, nobody), (mine, ADA), (theirs, ADA)], prices=PRICES, finds=[feature]
    )

    [people] = feature.groups
    assert [(person.workspace_id, list(person.emails)) for person in people] == [
        (mine, []),
        (theirs, ["ada@acme.com"]),
    ]
    assert [result and (result["number"], result["reader"]) for result in results] == [
        None,
        (0, mine),
        (1, theirs),
    ]


def test_the_service_adds_what_its_features_have(database: Database, feature: Recorder) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session)
    service = Lookups(database, PRICES, lambda _workspace_id: nullcontext(), [feature])

    results = [service.look_up(workspace_id, subjects) for subjects in ([ADA], [ADA, Subject(email="x@y.z")])]

    assert [[result["number"] for result in answer] for answer in results] == [[0], [0, 1]]
