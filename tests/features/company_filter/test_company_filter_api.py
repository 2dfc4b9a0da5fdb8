from __future__ import annotations

import pytest
from apiflask import APIFlask
from company_filter_support import build_filter, read_filter
from stored_support import a_company
from users_support import SignedInUser
from werkzeug.test import TestResponse

from app.domain.normal.hashes import website_hash
from app.features.company_filter import file_format, signing_keys

PATH = "/api/ext/company-filter"


@pytest.fixture
def _built(app: APIFlask, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        a_company(session)
    build_filter(user.database, signing_keys.company_filter_key(app.extensions["services"].settings))


def get(user: SignedInUser, query: str = "", etag: str = "") -> TestResponse:
    return user.client.get(f"{PATH}{query}", headers=user.headers | ({"If-None-Match": etag} if etag else {}))


@pytest.mark.usefixtures("_built")
@pytest.mark.parametrize(("query", "bits"), [("", 16), ("?bits=16", 16), ("?bits=8", 8)])
def test_the_file_is_signed_with_the_key_of_the_session(user: SignedInUser, query: str, bits: int) -> None:
    key = user.client.get("/api/ext/session", headers=user.headers).get_json()["hash_lookup"]["filter_key"]

    response = get(user, query)

    read = read_filter(response.get_data(), key)
    assert (response.status_code, response.mimetype) == (200, "application/octet-stream")
    assert read.bits == bits
    assert file_format.key_of(website_hash("acme.com")) in read


@pytest.mark.usefixtures("_built")
def test_a_caller_who_has_the_file_gets_304_without_it(user: SignedInUser) -> None:
    etag = get(user).headers["ETag"]

    responses = [get(user, etag=etag), get(user, etag=f'"other", {etag}'), get(user, "?bits=8", etag=etag)]

    assert [response.status_code for response in responses] == [304, 304, 200]
    assert etag.startswith('"')
    assert responses[0].get_data() == b""
    for response in responses[:2]:
        assert response.headers["ETag"] == etag
        assert response.headers["Cache-Control"] == "private, max-age=600"
        assert "Authorization" in response.headers["Vary"]


def test_without_a_file_the_caller_is_told_to_look_websites_up(user: SignedInUser) -> None:
    response = get(user)

    assert response.status_code == 404
    assert response.get_json()["code"] == "company_filter_not_ready"
    assert "company-by-hash" in response.get_json()["detail"]


@pytest.mark.parametrize("bits", ["7", "32", "x", ""])
def test_other_sizes_are_refused(user: SignedInUser, bits: str) -> None:
    response = get(user, f"?bits={bits}")

    assert (response.status_code, response.get_json()["code"]) == (422, "validation_error")
