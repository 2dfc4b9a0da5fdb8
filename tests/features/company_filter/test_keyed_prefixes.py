"""A service whose company filter is keyed answers a prefix of an output with sealed cards."""

from __future__ import annotations

import json
from typing import Any

import pytest
from apiflask import APIFlask
from company_filter_support import SIGNING_KEY, build_filter
from sealed_cards_support import open_card
from settings_support import change_settings
from sqlalchemy import func, select
from stored_support import a_company
from users_support import SignedInUser
from voprf import ristretto
from werkzeug.test import TestResponse
from worker_harness import deliver, make_services

from app.domain.normal.hashes import website_hash
from app.engine.jobs.jobs import Job
from app.infra.crypto.oprf import OprfKey
from workers.jobs import company_by_hash

PATH = "/api/ext/company-by-hash"
REGISTERED = company_by_hash
SEED = bytes(range(32))
KEY, OTHER_KEY = OprfKey.derive(SEED), OprfKey.derive(bytes(32))
ACME = website_hash("acme.com")


@pytest.fixture
def _keyed(app: APIFlask) -> None:
    change_settings(app, company_filter_oprf_key=SEED)


def post(user: SignedInUser, **body: Any) -> TestResponse:
    """Send the request without waiting for a worker."""
    body = {"key": KEY.public.hex()} | body
    return user.client.post(PATH, json=body, headers=user.headers | {"Prefer": "respond-async"})


def output_of(user: SignedInUser, digest: bytes) -> bytes:
    """Return the output that the service evaluates for a blinded hash."""
    client, blinded = ristretto.Client.blind(digest)
    body = {"key": KEY.public.hex(), "blinded": [blinded.serialize().hex()]}
    reply = user.client.post("/api/ext/company-filter/evaluate", json=body, headers=user.headers).get_json()
    evaluated = bytes.fromhex(reply["proof"] + reply["evaluated"][0])
    public_key = ristretto.PublicKey.deserialize(KEY.public)
    output: bytes = client.finalize(ristretto.VerifiableOutput.deserialize(evaluated), public_key)
    return output


def answer(user: SignedInUser, prefix: str) -> dict[str, Any]:
    """Send the request, run its job, and return the response with the finished job."""
    job_id = post(user, prefix=prefix).get_json()["job"]["id"]
    api = user.client.application.extensions["services"]
    deliver(make_services(api.settings, api.database), job_id)
    body: dict[str, Any] = user.client.get(f"/api/ext/jobs?id={job_id}", headers=user.headers).get_json()
    return body


@pytest.mark.usefixtures("_keyed")
def test_the_output_opens_the_company_and_the_server_receives_only_its_prefix(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        a_company(session)
    build_filter(user.database, SIGNING_KEY, KEY)
    output = output_of(user, ACME)

    body = answer(user, output.hex()[:2])

    assert body["job"]["outcome"] == "found"
    assert open_card(body["result"], output)["name"] == "Acme Engines"
    assert "acme" not in json.dumps(body).lower()


@pytest.mark.usefixtures("_keyed")
def test_the_request_has_no_account_joins_no_other_job_and_is_deleted(user: SignedInUser) -> None:
    build_filter(user.database, SIGNING_KEY, KEY)
    first, second = post(user, prefix="ab"), post(user, prefix="ab")
    with user.database.reading() as session:
        jobs = session.scalars(select(Job)).all()

    answer(user, "ab")

    request = {"kind": "website", "prefix": "ab", "key": KEY.public.hex()}
    assert first.get_json()["job"]["id"] != second.get_json()["job"]["id"]
    assert [(job.request, job.account_id) for job in jobs] == [(request, None)] * 2
    with user.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 2


@pytest.mark.usefixtures("_keyed")
def test_another_key_is_refused(user: SignedInUser) -> None:
    response = post(user, prefix="ab", key=OTHER_KEY.public.hex())

    assert (response.status_code, response.get_json()["code"]) == (409, "filter_key_unknown")


@pytest.mark.parametrize("key", [KEY, OTHER_KEY])
@pytest.mark.usefixtures("_keyed")
def test_a_malformed_prefix_is_refused_before_its_key(user: SignedInUser, key: OprfKey) -> None:
    response = post(user, prefix="b*", key=key.public.hex())

    assert (response.status_code, response.get_json()["code"]) == (422, "bad_hash")


def test_without_the_setting_a_key_is_refused(user: SignedInUser) -> None:
    response = post(user, prefix="ab")

    assert (response.status_code, response.get_json()["code"]) == (409, "filter_key_unknown")


@pytest.mark.usefixtures("_keyed")
def test_until_the_file_is_built_the_job_fails(user: SignedInUser) -> None:
    body = answer(user, "ab")

    assert (body["job"]["status"], body["job"]["error"]["code"]) == ("failed", "filter_key_unknown")
    assert body["result"] is None


@pytest.mark.usefixtures("_keyed")
@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({"prefix": "ab", "key": KEY.public.hex()[1:]}, "validation_error", "/key"),
        ({"prefix": "ab", "key": None}, "validation_error", "/key"),
        ({"hash": ACME.hex()}, "validation_error", "/key"),
        ({"hashes": [ACME.hex()]}, "validation_error", "/key"),
        ({"prefix": "abc"}, "bad_hash", "/prefix"),
        ({"prefix": "AB"}, "bad_hash", "/prefix"),
    ],
)
def test_malformed_requests_are_refused_with_a_pointer(
    user: SignedInUser, body: dict[str, Any], code: str, pointer: str
) -> None:
    response = post(user, **body)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, code)
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
