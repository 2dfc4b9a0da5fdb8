from __future__ import annotations

from typing import Any

import pytest
from stored_support import ADA_URL, a_company, a_contact, an_email, suppress
from users_support import SignedInUser, bearer
from werkzeug.test import TestResponse

from app.domain.callers import Scope

PATH = "/api/ext/lookup"


def post(user: SignedInUser, body: dict[str, Any]) -> TestResponse:
    return user.client.post(PATH, json=body, headers=user.headers)


def test_a_single_subject_gets_a_single_result(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, ada, "ada@acme.com")

    response = post(user, {"subject": {"linkedin_url": "linkedin.com/in/Ada-Lovelace/?x=1"}})

    body = response.get_json()
    assert response.status_code == 200
    assert list(body) == [
        "outcome",
        "match",
        "candidates",
        "contact",
        "company",
        "available",
        "revealed",
        "suppressed",
        "saved",
        "excluded",
        "address_books",
        "crm",
    ]
    assert (body["outcome"], body["contact"]["id"]) == ("matched", ada.id)
    assert body["match"]["matched_on"] == ["linkedin_url"]
    assert 0.9 < body["match"]["confidence"] <= 1
    assert [(value["masked"], value["credits"]) for value in body["available"]] == [("a•••••@acme.com", 1)]
    assert "RateLimit" in response.headers


def test_several_subjects_get_results_in_order(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        a_contact(session, a_company(session), linkedin_url=ADA_URL)
        suppress(session, "email", "x@acme.com")

    response = post(
        user,
        {
            "subjects": [
                {"email": "x@acme.com"},
                {"linkedin_url": ADA_URL, "phone": None},
                {"contact_id": "con_unknown"},
                {
                    "first_name": "Ada",
                    "last_name": "Lovelace",
                    "company_domain": "https://www.acme.com/about",
                },
            ]
        },
    )

    results = response.get_json()["results"]
    assert [result["outcome"] for result in results] == ["none", "matched", "none", "matched"]
    assert [result["suppressed"] for result in results] == [True, False, False, False]
    assert list(response.get_json()) == ["results"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"subject": {"email": "ada@acme.com"}, "subjects": [{"email": "ada@acme.com"}]},
        {"subjects": []},
        {"subjects": [{"email": "ada@acme.com"}] * 51},
        {"subjects": {"email": "ada@acme.com"}},
        {"subjects": None},
        {"subject": None},
        {"subject": {"email": "ada@acme.com", "shoe_size": 38}},
    ],
)
def test_a_body_of_another_shape_is_rejected(user: SignedInUser, body: dict[str, Any]) -> None:
    response = post(user, body)

    assert (response.status_code, response.get_json()["code"]) == (422, "validation_error")


def test_every_invalid_subject_of_a_batch_is_reported_with_a_pointer(user: SignedInUser) -> None:
    response = post(
        user,
        {"subjects": [{"email": "ada@acme.com"}, {"full_name": "Ada"}, {"email": "nonsense"}, "Ada"]},
    )

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "validation_error")
    assert {error["pointer"] for error in problem["errors"]} == {
        "/subjects/1",
        "/subjects/2/email",
        "/subjects/3",
    }


@pytest.mark.parametrize(
    ("subject", "code", "pointers"),
    [
        ({"full_name": "Ada Lovelace"}, "insufficient_identifiers", []),
        (
            {"linkedin_url": "https://www.linkedin.com/company/acme"},
            "not_a_profile_url",
            ["/subject/linkedin_url"],
        ),
    ],
)
def test_a_subject_without_identifiers_is_explained(
    user: SignedInUser, subject: dict[str, str], code: str, pointers: list[str]
) -> None:
    alone = post(user, {"subject": subject}).get_json()
    in_a_batch = post(user, {"subjects": [{"email": "ada@acme.com"}, subject, subject]}).get_json()

    assert (alone["status"], alone["code"]) == (422, code)
    assert [error["pointer"] for error in alone.get("errors", [])] == pointers
    assert in_a_batch["code"] == code
    assert [error["pointer"] for error in in_a_batch["errors"]] == ["/subjects/1", "/subjects/2"]


@pytest.mark.parametrize(
    ("employer", "reason"),
    [
        ({"company_name": "Freelance"}, "says that there is no employer"),
        ({"company_name": "Selbstständig"}, "says that there is no employer"),
        ({"company_domain": "https://sites.google.com/view/acme"}, "identifies none of them"),
        ({"company_domain": "ryde.nsw.gov.au"}, "identifies none of them"),
        ({"company_domain": "gmail.com", "company_name": "Self-employed"}, "identifies none of them"),
    ],
)
def test_a_name_at_what_is_not_one_company_identifies_nobody(
    user: SignedInUser, employer: dict[str, str], reason: str
) -> None:
    response = post(user, {"subject": {"full_name": "Ada Lovelace", **employer}})

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "insufficient_identifiers")
    assert reason in problem["detail"]


@pytest.mark.parametrize(
    "subject",
    [
        {"full_name": "Ada Lovelace", "company_domain": "facebook.com/acme", "company_name": "Acme"},
        {"full_name": "Ada Lovelace", "company_domain": "google.com"},
        {"email": "ada@acme.com", "company_name": "Freelance"},
    ],
)
def test_what_does_not_identify_the_company_is_ignored_beside_what_does(
    user: SignedInUser, subject: dict[str, str]
) -> None:
    assert post(user, {"subject": subject}).status_code == 200


def test_a_key_needs_the_scope(user: SignedInUser) -> None:
    key = user.make_key(Scope.SAVE)

    response = user.client.post(PATH, json={"subject": {"email": "ada@acme.com"}}, headers=bearer(key))

    assert (response.status_code, response.get_json()["code"]) == (403, "insufficient_scope")


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ({"full_name": "LinkedIn Member"}, "full_name"),
        ({"full_name": "???"}, "full_name"),
        ({"first_name": "null", "last_name": "null"}, "last_name"),
    ],
)
def test_a_name_of_no_person_is_explained(user: SignedInUser, name: dict[str, str], field: str) -> None:
    response = post(user, {"subject": name | {"company_domain": "acme.com"}})

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "validation_error")
    (error,) = problem["errors"]
    assert error["pointer"] == f"/subject/{field}"
    assert error["detail"].startswith("This is not the name of a person. Send a given and a family name")


def test_a_name_of_no_person_is_ignored_beside_an_exact_identifier(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)

    response = post(user, {"subject": {"full_name": "LinkedIn Member", "linkedin_url": ADA_URL}})

    assert response.get_json()["contact"]["id"] == ada.id


def test_a_person_is_found_by_a_name_with_credentials(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        ada = a_contact(session, a_company(session))

    name = {"first_name": "Ada", "last_name": "Lovelace, PMP®"}
    response = post(user, {"subject": name | {"company_domain": "acme.com"}})

    assert response.get_json()["contact"]["id"] == ada.id


MEMBER_URL = "https://www.linkedin.com/in/ACwAAABada0001"


def test_a_lead_and_the_profile_of_one_person_match_by_either(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)
    lead = "https://www.linkedin.com/sales/lead/ACwAAABada0001,NAME_SEARCH,x1"

    both = post(user, {"subject": {"linkedin_url": ADA_URL, "member_url": lead}}).get_json()
    alone = post(user, {"subject": {"member_url": lead}}).get_json()

    assert both["contact"]["id"] == ada.id
    assert alone["outcome"] == "none"


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (ADA_URL, "https://www.linkedin.com/in/bob", "a profile with a chosen name"),
        (MEMBER_URL, MEMBER_URL.replace("0001", "0002"), "another person"),
        (ADA_URL, "https://example.com/", "not linkedin.com"),
    ],
)
def test_a_second_profile_that_is_no_members_or_somebody_elses_is_refused(
    user: SignedInUser, first: str, second: str, reason: str
) -> None:
    response = post(user, {"subject": {"linkedin_url": first, "member_url": second}})

    assert response.status_code == 422
    [error] = response.get_json()["errors"]
    assert error["pointer"] == "/subject/member_url"
    assert reason in error["detail"]
