"""A deprecated operation is announced in headers, /openapi.json, /llms.txt and docs/api.md."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from apiflask import APIBlueprint, APIFlask
from flask.testing import FlaskClient

from app.domain.errors import NotFound
from app.web.deprecation import Deprecation
from app.web.operations import Operation, operation_of
from app.web.sign_in.auth import bearer
from tools.state import ROOT

pytestmark = pytest.mark.any_database

PATH = "/api/old-search"
DEPRECATION = Deprecation(since=date(2027, 1, 1), sunset=date(2027, 7, 1), instead="`GET /api/people`")
SENTENCE = "Deprecated since 2027-01-01. It is removed after 2027-07-01. Use `GET /api/people` instead."
HEADERS = {
    "Deprecation": "@1798761600",
    "Sunset": "Thu, 01 Jul 2027 00:00:00 GMT",
    "Link": '</manual/api.html#deprecations>; rel="deprecation"; type="text/html", '
    '</manual/api.html#deprecations>; rel="sunset"; type="text/html"',
}


@pytest.fixture
def client(own_app: APIFlask) -> FlaskClient:
    """A client of the service with a deprecated operation."""
    blueprint = APIBlueprint("old_search", __name__, tag="People")

    @blueprint.get(PATH)
    @Operation(errors=(NotFound,), deprecation=DEPRECATION)
    def old_search() -> dict[str, str]:
        """Search people as before.

        The criteria are free text.
        """
        return {}

    @blueprint.get(f"{PATH}/mine")
    @Operation(deprecation=Deprecation(since=date(2027, 1, 1), instead="`GET /api/people`"))
    @blueprint.auth_required(bearer)
    def old_mine() -> dict[str, str]:
        """List mine."""
        return {}

    own_app.register_blueprint(blueprint)
    return own_app.test_client()


def announced(headers: Any) -> dict[str, str]:
    return {name: headers[name] for name in HEADERS if name in headers}


def test_every_response_of_the_operation_has_the_headers(client: FlaskClient) -> None:
    assert announced(client.get(PATH).headers) == HEADERS


def test_an_error_has_them_too_and_without_an_end_there_is_no_sunset(client: FlaskClient) -> None:
    response = client.get(f"{PATH}/mine")

    assert response.status_code == 401
    assert announced(response.headers) == {
        "Deprecation": HEADERS["Deprecation"],
        "Link": HEADERS["Link"].partition(", ")[0],
    }


def test_other_operations_have_none(client: FlaskClient) -> None:
    responses = [client.get("/api/ext/session"), client.get("/no-such-page"), client.get("/healthz")]

    assert [announced(response.headers) for response in responses] == [{}, {}, {}]


def test_the_document_says_it(client: FlaskClient) -> None:
    document: Any = client.get("/openapi.json").json

    operation = document["paths"][PATH]["get"]
    assert (operation["deprecated"], operation["x-deprecated-since"], operation["x-sunset"]) == (
        True,
        "2027-01-01",
        "2027-07-01",
    )
    assert operation["summary"] == "Search people as before."
    assert operation["description"] == f"{SENTENCE}\n\nThe criteria are free text."
    assert HEADERS.keys() <= operation["responses"]["404"]["headers"].keys()
    assert "x-sunset" not in document["paths"][f"{PATH}/mine"]["get"]
    assert "deprecated" not in document["paths"]["/api/people"]["get"]


def test_the_page_for_language_models_says_it(client: FlaskClient) -> None:
    page = client.get("/llms.txt").get_data(as_text=True)

    assert f"- [GET {PATH}](/docs): {SENTENCE} Search people as before. No token." in page
    assert page.count("Deprecated since") == 2


def test_an_operation_cannot_end_before_it_is_deprecated() -> None:
    with pytest.raises(ValueError, match="is before"):
        Deprecation(since=date(2027, 1, 2), sunset=date(2027, 1, 1), instead="nothing")


def test_the_table_of_deprecations_has_every_declared_one(app: APIFlask) -> None:
    text = (ROOT / "docs/api.md").read_text().partition("\n## Deprecations\n")[2].partition("\n## ")[0]
    row = re.compile(r"^\| `([A-Z]+ \S+)` \| (\S+) \|", re.MULTILINE)

    declared = {
        (f"{method} {rule.rule}", str(deprecation.since))
        for rule in app.url_map.iter_rules()
        if (deprecation := operation_of(app.view_functions[rule.endpoint]).deprecation)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }

    assert set(row.findall(text)) == declared
    assert ("No operation is deprecated today." in text) is (not declared)
