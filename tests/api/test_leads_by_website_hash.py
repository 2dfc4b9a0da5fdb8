from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from users_support import SignedInUser, bearer
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.domain.ids import EXAMPLES
from app.domain.normal.hashes import hex_hash, website_hash
from app.engine.jobs.jobs import Job
from app.engine.lookups.company_people import PageCursor

PATH = "/api/ext/leads-by-website-hash"
ACME = hex_hash(website_hash("acme.com"))
CURSOR = PageCursor(1, "lovelace", EXAMPLES["con"]).cursor()


def post(user: SignedInUser, body: dict[str, Any]) -> TestResponse:
    """Send the request without waiting for a worker."""
    return user.client.post(PATH, json=body, headers=user.headers | {"Prefer": "respond-async"})


def requests(user: SignedInUser) -> list[dict[str, Any]]:
    with user.database.reading() as session:
        return list(session.scalars(select(Job.request)))


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        (
            {"hash": ACME},
            {"department": None, "seniority": None, "has": [], "limit": 25, "cursor": None},
        ),
        (
            {
                "hashes": [ACME],
                "department": "Engineering",
                "seniority": "C-Level",
                "has": ["phone", "email", "phone"],
                "limit": 100,
                "cursor": CURSOR,
            },
            {
                "department": "engineering",
                "seniority": "c_suite",
                "has": ["email", "phone"],
                "limit": 100,
                "cursor": CURSOR,
            },
        ),
        (
            {"hash": ACME, "has": "email", "department": None, "seniority": None, "cursor": None},
            {"department": None, "seniority": None, "has": ["email"], "limit": 25, "cursor": None},
        ),
        (
            {"hash": ACME, "has": None},
            {"department": None, "seniority": None, "has": [], "limit": 25, "cursor": None},
        ),
    ],
)
def test_a_hash_with_filters_becomes_a_job(
    user: SignedInUser, body: dict[str, Any], request_: dict[str, Any]
) -> None:
    response = post(user, body)

    assert (response.status_code, response.get_json()["job"]["kind"]) == (202, "leads_by_website_hash")
    assert requests(user) == [{"hashes": [ACME], **request_, "request_id": response.headers["X-Request-Id"]}]


def test_a_prefix_is_not_allowed(user: SignedInUser) -> None:
    response = post(user, {"prefix": ACME[:2]})

    assert (response.status_code, response.get_json()["code"]) == (422, "prefix_not_allowed")


def test_an_invalid_hash_is_reported_with_a_pointer(user: SignedInUser) -> None:
    problem = post(user, {"hashes": [ACME, "acme.com"]}).get_json()

    assert (problem["code"], problem["errors"][0]["pointer"]) == ("bad_hash", "/hashes/1")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"hash": ACME, "hashes": [ACME]}, ""),
        ({"hash": ACME, "limit": 0}, "/limit"),
        ({"hash": ACME, "limit": 101}, "/limit"),
        ({"hash": ACME, "limit": "5"}, "/limit"),
        ({"hash": ACME, "has": ["shoes"]}, "/has/0"),
        ({"hash": ACME, "has": 7}, "/has"),
        ({"hash": ACME, "cursor": "2"}, "/cursor"),
        ({"hash": ACME, "kind": "linkedin"}, "/kind"),
    ],
)
def test_an_invalid_field_is_reported_with_a_pointer(
    user: SignedInUser, body: dict[str, Any], pointer: str
) -> None:
    response = post(user, body)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_a_key_needs_the_scope(user: SignedInUser) -> None:
    key = user.make_key(Scope.REVEAL)

    response = user.client.post(PATH, json={"hash": ACME}, headers=bearer(key))

    assert (response.status_code, response.get_json()["code"]) == (403, "insufficient_scope")
