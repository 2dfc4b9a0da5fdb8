from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from apiflask import APIFlask
from jobs_support import claim
from settings_support import change_settings
from sqlalchemy import select
from stored_support import a_company
from users_support import SignedInUser, bearer
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.domain.kinds import Outcome
from app.domain.normal.hashes import hex_hash, website_hash
from app.engine.jobs import leases
from app.engine.jobs.jobs import REQUEST_ID, Job
from app.engine.jobs.leases import JobResult
from app.engine.lookups import company_ranges
from app.engine.lookups.company_overviews import HashKind
from app.infra import clock
from app.web.bodies.body import json_response

PATH = "/api/ext/company-by-hash"
ACME = hex_hash(website_hash("acme.com"))
SHOP = hex_hash(website_hash("shop.acme.com"))


def post(user: SignedInUser, body: dict[str, Any]) -> TestResponse:
    """Send the request without waiting for a worker."""
    return user.client.post(PATH, json=body, headers=user.headers | {"Prefer": "respond-async"})


def jobs(user: SignedInUser) -> list[Job]:
    with user.database.reading() as session:
        return list(session.scalars(select(Job)))


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        ({"hash": ACME}, {"kind": "website", "hashes": [ACME]}),
        ({"hashes": [SHOP, ACME, SHOP], "kind": "linkedin"}, {"kind": "linkedin", "hashes": [SHOP, ACME]}),
    ],
)
def test_a_hash_becomes_a_free_job(
    user: SignedInUser, body: dict[str, Any], request_: dict[str, Any]
) -> None:
    response = post(user, body)

    [job] = jobs(user)
    assert (response.status_code, response.get_json()["job"]["kind"]) == (202, "company_by_hash")
    assert job.request.pop(REQUEST_ID) == response.headers["X-Request-Id"]
    assert (job.request, job.held, job.account_id) == (request_, 0, user.account_id)


def test_the_same_hash_joins_the_open_job(user: SignedInUser) -> None:
    first, second = post(user, {"hash": ACME}), post(user, {"hashes": [ACME]})

    assert first.get_json()["job"]["id"] == second.get_json()["job"]["id"]


def test_the_same_hash_is_looked_up_again_once_the_first_job_has_finished(user: SignedInUser) -> None:
    first = post(user, {"hash": ACME}).get_json()["job"]["id"]
    with user.database.transaction() as session:
        now = clock.now()
        leases.settle(session, claim(session, first, now=now), JobResult(outcome=Outcome.FOUND), now=now)

    second = post(user, {"hash": ACME}).get_json()["job"]["id"]

    assert second != first


def test_a_prefix_request_names_no_caller_and_joins_no_other_job(user: SignedInUser) -> None:
    headers = bearer(user.make_key(Scope.LOOKUP)) | {"Prefer": "respond-async"}

    first, second = (user.client.post(PATH, json={"prefix": ACME[:2]}, headers=headers) for _ in range(2))

    assert first.get_json()["job"]["id"] != second.get_json()["job"]["id"]
    assert [(job.request, job.account_id, job.key_id) for job in jobs(user)] == [
        ({"kind": "website", "prefix": ACME[:2]}, None, None)
    ] * 2


def test_a_range_is_padded_to_a_round_number_of_matches(app: APIFlask, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        a_company(session, "Ünïcode & Sons 株式会社")
        matches = company_ranges.by_hash(session, HashKind.WEBSITE, ACME[:2])

    with app.test_request_context():
        encoded = json_response(matches).get_data()

    assert len(encoded) == 8192


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"hash": ACME, "prefix": ACME[:2]},
        {"hash": ACME, "hashes": [ACME]},
        {"hashes": []},
        {"hashes": [ACME] * 9},
        {"hash": None},
        {"hash": 7},
        {"hash": ACME, "kind": "facebook"},
        {"hash": ACME, "host": "acme.com"},
    ],
)
def test_exactly_one_of_hash_hashes_and_prefix_is_required(user: SignedInUser, body: dict[str, Any]) -> None:
    response = post(user, body)

    assert (response.status_code, response.get_json()["code"]) == (422, "validation_error")
    assert jobs(user) == []


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({"hash": "acme.com"}, ["/hash"]),
        ({"hash": ACME.upper()}, ["/hash"]),
        ({"hash": ACME[:-1]}, ["/hash"]),
        ({"hashes": [ACME, "", ACME + "0"]}, ["/hashes/1", "/hashes/2"]),
        ({"prefix": ACME[:1]}, ["/prefix"]),
        ({"prefix": ACME[:4]}, ["/prefix"]),
        ({"prefix": "wx"}, ["/prefix"]),
    ],
)
def test_an_invalid_hash_is_reported_with_a_pointer(
    user: SignedInUser, body: dict[str, Any], pointers: list[str]
) -> None:
    response = post(user, body)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "bad_hash")
    assert [error["pointer"] for error in problem["errors"]] == pointers


def test_a_key_needs_the_scope(user: SignedInUser) -> None:
    key = user.make_key(Scope.SAVE)

    response = user.client.post(PATH, json={"hash": ACME}, headers=bearer(key))

    assert (response.status_code, response.get_json()["code"]) == (403, "insufficient_scope")


def test_prefixes_are_counted_per_account_whatever_the_token(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_prefix="2/hour")
    another = replace(user, session_token=user.sign_in().get_json()["access_token"])

    statuses = [post(user, {"prefix": ACME[:2]}).status_code for _ in range(2)]
    refused = post(another, {"prefix": ACME[:2]})

    assert statuses == [202, 202]
    assert (refused.status_code, refused.get_json()["code"]) == (429, "rate_limited")
    assert refused.headers["RateLimit-Policy"] == '"prefix";q=2;w=3600'
    assert post(user, {"hash": ACME}).status_code == 202
