from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest
from apiflask import APIFlask
from settings_support import change_settings
from users_support import SignedInUser
from voprf import ristretto
from werkzeug.test import TestResponse

from app.domain.normal.hashes import website_hash
from app.infra.crypto.oprf import OprfKey

PATH = "/api/ext/company-filter/evaluate"
SEED = bytes(range(32))
KEY = OprfKey.derive(SEED)


@pytest.fixture
def _keyed(app: APIFlask) -> None:
    change_settings(app, company_filter_oprf_key=SEED)


def post(user: SignedInUser, **changed: Any) -> TestResponse:
    _client, blinded = ristretto.Client.blind(website_hash("acme.com"))
    body = {"key": KEY.public.hex(), "blinded": [blinded.serialize().hex()]} | changed
    return user.client.post(PATH, json=body, headers=user.headers)


@pytest.mark.usefixtures("_keyed")
def test_the_outputs_are_those_of_the_file_and_the_proof_is_valid(user: SignedInUser) -> None:
    hashes = [website_hash(name) for name in ("shop.acme.com", "acme.com")]
    clients, blinded = zip(*map(ristretto.Client.blind, hashes), strict=True)

    body = post(user, blinded=[one.serialize().hex() for one in blinded]).get_json()

    reply = bytes.fromhex(body["proof"] + "".join(body["evaluated"]))
    public_key = ristretto.PublicKey.deserialize(KEY.public)
    outputs = ristretto.Client.finalize_batch(
        clients, ristretto.VerifiableBatchOutput.deserialize(reply), public_key
    )
    assert outputs == [KEY.output(digest) for digest in hashes]


@pytest.mark.usefixtures("_keyed")
@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"blinded": ["00" * 32]}, "/blinded/0"),
        ({"blinded": [ristretto.Client.blind(b"x")[1].serialize().hex(), "ff" * 32]}, "/blinded/1"),
        ({"blinded": ["ab" * 31]}, "/blinded/0"),
        ({"blinded": ["AB" * 32]}, "/blinded/0"),
        ({"blinded": ["ab" * 32 + "\n"]}, "/blinded/0"),
        ({"blinded": []}, "/blinded"),
        ({"blinded": ["ab" * 32] * 9}, "/blinded"),
        ({"key": "ab"}, "/key"),
    ],
)
def test_malformed_elements_are_refused_with_their_place(
    user: SignedInUser, changed: dict[str, Any], pointer: str
) -> None:
    response = post(user, **changed)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


@pytest.mark.usefixtures("_keyed")
def test_a_client_with_the_file_of_another_key_is_told_to_download_it_again(user: SignedInUser) -> None:
    response = post(user, key=OprfKey.derive(bytes(32)).public.hex())

    assert (response.status_code, response.get_json()["code"]) == (409, "filter_key_unknown")
    assert "Download" in response.get_json()["detail"]


def test_without_the_setting_nothing_is_evaluated(user: SignedInUser) -> None:
    response = post(user)

    assert (response.status_code, response.get_json()["code"]) == (409, "filter_key_unknown")


@pytest.mark.usefixtures("_keyed")
def test_evaluations_are_counted_per_account_whatever_the_token(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_evaluate="2/hour")
    another = replace(user, session_token=user.sign_in().get_json()["access_token"])

    statuses = [post(user).status_code, post(user).status_code]
    refused = post(another)

    assert statuses == [200, 200]
    assert (refused.status_code, refused.get_json()["code"]) == (429, "rate_limited")
    assert refused.headers["RateLimit-Policy"] == '"evaluate";q=2;w=3600'


@pytest.mark.usefixtures("_keyed")
def test_prefixes_are_refused_since_all_of_them_would_list_the_companies(user: SignedInUser) -> None:
    response = user.client.post("/api/ext/company-by-hash", json={"prefix": "ab"}, headers=user.headers)

    problem = response.get_json()
    assert (response.status_code, problem["code"]) == (422, "prefix_not_allowed")
    assert problem["errors"][0]["pointer"] == "/prefix"
    assert "keyed" in problem["detail"]


def test_the_session_has_the_public_key(app: APIFlask, user: SignedInUser) -> None:
    def shown() -> str | None:
        body = user.client.get("/api/ext/session", headers=user.headers).get_json()
        key: str | None = body["hash_lookup"]["filter_oprf_key"]
        return key

    before = shown()
    change_settings(app, company_filter_oprf_key=SEED)

    assert (before, shown()) == (None, KEY.public.hex())
    assert b64encode(SEED).decode() not in repr(app.extensions["services"].settings)
