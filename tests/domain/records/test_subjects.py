from __future__ import annotations

import dataclasses

import pytest

from app.domain.errors import InsufficientIdentifiers
from app.domain.records.subjects import Subject

EXACT = ["contact_id", "linkedin_url", "email", "phone"]


@pytest.mark.parametrize("field", EXACT)
def test_one_exact_field_is_enough(field: str) -> None:
    subject = Subject(**{field: "x"})

    assert subject.has_exact_key
    assert subject.require_identifiers() is subject


@pytest.mark.parametrize("company", ["company_domain", "company_name"])
@pytest.mark.parametrize(
    "name", [{"full_name": "Ada Lovelace"}, {"first_name": "Ada", "last_name": "Lovelace"}]
)
def test_a_name_and_a_company_are_enough(name: dict[str, str], company: str) -> None:
    subject = Subject(**name, **{company: "acme"})

    assert not subject.has_exact_key
    assert subject.require_identifiers() is subject


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"full_name": "Ada Lovelace"},
        {"company_domain": "acme.com"},
        {"company_domain": "acme.com", "company_name": "Acme"},
        {"first_name": "Ada", "company_domain": "acme.com"},
        {"last_name": "Lovelace", "company_domain": "acme.com"},
        {"email": "", "full_name": "", "company_name": ""},
    ],
)
def test_fewer_identifiers_are_refused(fields: dict[str, str]) -> None:
    with pytest.raises(InsufficientIdentifiers):
        Subject(**fields).require_identifiers()


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"full_name": "Ada Lovelace"}, "Ada Lovelace"),
        ({"first_name": "Ada", "last_name": "Lovelace"}, "Ada Lovelace"),
        ({"full_name": "Countess Ada", "first_name": "Ada", "last_name": "Lovelace"}, "Countess Ada"),
        ({"first_name": "Ada"}, None),
        ({"last_name": "Lovelace"}, None),
        ({}, None),
    ],
)
def test_the_name_is_the_full_name_or_both_parts(fields: dict[str, str], name: str | None) -> None:
    assert Subject(**fields).name == name


def test_a_subject_can_be_serialised_and_parsed() -> None:
    subject = Subject(email="ada@acme.com", full_name="Ada Lovelace")

    written = subject.as_dict()

    assert written == {"email": "ada@acme.com", "full_name": "Ada Lovelace"}
    assert Subject(**written) == subject


def test_every_field_is_serialised() -> None:
    fields = {field.name: f"a {field.name}" for field in dataclasses.fields(Subject)}

    assert Subject(**fields).as_dict() == fields


def test_the_same_name_in_parts_or_another_case_is_the_same_request() -> None:
    questions = [
        Subject(full_name="Ada LOVELACE", company_domain="acme.com").question(),
        Subject(first_name="ada", last_name="lovelace", company_domain="acme.com").question(),
    ]

    assert questions == [{"name": "ada lovelace", "company_domain": "acme.com"}] * 2


def test_a_subject_without_a_name_is_unchanged_in_the_request_key() -> None:
    assert Subject(email="ada@acme.com", first_name="Ada").question() == {
        "email": "ada@acme.com",
        "first_name": "Ada",
    }


def test_the_case_of_a_company_name_does_not_matter() -> None:
    loud, quiet = (Subject(full_name="Ada", company_name=name) for name in ("ACME", "Acme"))

    assert loud.question() == quiet.question()


@pytest.mark.parametrize(
    "subject",
    [
        Subject(linkedin_url="https://www.linkedin.com/in/ada"),
        Subject(email="ada@acme.com"),
        Subject(full_name="Ada Lovelace", company_domain="acme.com"),
        Subject(full_name="Ada Lovelace", first_name="Ada", last_name="Lovelace", company_name="Acme"),
    ],
)
def test_a_person_identified_in_one_way_is_the_same_for_every_provider(subject: Subject) -> None:
    assert subject.names_one_way


@pytest.mark.parametrize(
    "subject",
    [
        Subject(linkedin_url="https://www.linkedin.com/in/ada", full_name="Mallory Evil"),
        Subject(linkedin_url="https://www.linkedin.com/in/ada", email="mallory@evil.example"),
        Subject(full_name="Ada Lovelace", company_domain="acme.com", company_name="Evil"),
        Subject(full_name="Ada Lovelace", first_name="Mallory", last_name="Evil", company_name="Acme"),
    ],
)
def test_with_several_identifiers_each_provider_may_use_another(subject: Subject) -> None:
    assert not subject.names_one_way


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ({"full_name": "Ada Lovelace, PMP®"}, {"full_name": "Ada Lovelace"}),
        ({"full_name": "LinkedIn Member"}, {}),
        ({"full_name": "???"}, {}),
        (
            {"first_name": "Ada", "last_name": "Lovelace, PMP®"},
            {"first_name": "Ada", "last_name": "Lovelace"},
        ),
        ({"first_name": "null", "last_name": "null"}, {}),
        ({"first_name": "Ada"}, {"first_name": "Ada"}),
        ({"last_name": "Lovelace"}, {"last_name": "Lovelace"}),
        ({"email": "ada@acme.com"}, {"email": "ada@acme.com"}),
    ],
)
def test_names_are_plain_and_those_of_no_person_left_out(
    given: dict[str, str], plain: dict[str, str]
) -> None:
    assert Subject(**given).with_plain_names().as_dict() == plain


MEMBER = "https://www.linkedin.com/in/ACwAAAbCdEfGhIjK"
CHOSEN = "https://www.linkedin.com/in/ada-lovelace"
ADA = {"full_name": "Ada Lovelace", "company_domain": "acme.com"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"linkedin_url": MEMBER, **ADA}, ADA),
        ({"linkedin_url": MEMBER, "email": "ada@acme.com"}, {"email": "ada@acme.com"}),
        ({"linkedin_url": MEMBER}, {"linkedin_url": MEMBER}),
        ({"linkedin_url": MEMBER, "contact_id": "con_1"}, {"linkedin_url": MEMBER, "contact_id": "con_1"}),
        ({"linkedin_url": CHOSEN, **ADA}, {"linkedin_url": CHOSEN, **ADA}),
        (ADA, ADA),
    ],
)
def test_a_member_id_is_left_out_where_the_person_is_identified_without_it(
    given: dict[str, str], kept: dict[str, str]
) -> None:
    assert Subject(**given).without_member_id() == Subject(**kept)


def test_a_member_id_is_sent_only_to_providers_that_take_one() -> None:
    subject = Subject(linkedin_url=MEMBER)

    assert subject.as_sent(with_member_id=True) == subject
    assert subject.as_sent(with_member_id=False) == Subject()
    assert Subject(linkedin_url=CHOSEN).as_sent(with_member_id=False) == Subject(linkedin_url=CHOSEN)


@pytest.mark.parametrize(
    "name",
    [
        {"full_name": "Ada L."},
        {"full_name": "Ada L"},
        {"full_name": "María José G."},
        {"first_name": "Ada", "last_name": "L."},
    ],
)
def test_a_hidden_family_name_is_not_sent_with_the_company_alone(name: dict[str, str]) -> None:
    subject = Subject(**name, company_domain="acme.com")

    assert subject.as_sent(with_member_id=False) == Subject(company_domain="acme.com")


@pytest.mark.parametrize(
    "subject",
    [
        Subject(full_name="Ada L.", company_domain="acme.com", linkedin_url=CHOSEN),
        Subject(full_name="Ada L.", email="ada@acme.com"),
        Subject(full_name="Ada L.", phone="+442079460123"),
        Subject(full_name="A. Lovelace", company_domain="acme.com"),
        Subject(full_name="Unknown", company_domain="acme.com"),
        Subject(company_domain="acme.com"),
    ],
)
def test_other_names_are_sent(subject: Subject) -> None:
    assert subject.as_sent(with_member_id=False) == subject
