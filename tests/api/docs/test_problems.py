from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app.domain.errors import all_problems

pytestmark = pytest.mark.any_database

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("code", all_problems())
def test_every_code_has_a_page(client: FlaskClient, code: str) -> None:
    page = client.get(f"/problems/{code}", headers=BROWSER)

    assert (page.status_code, page.mimetype) == (200, "text/html")
    assert f"<h1>{all_problems()[code].title}</h1>" in page.text


@pytest.mark.parametrize("code", all_problems())
def test_every_code_is_explained_as_json(client: FlaskClient, code: str) -> None:
    response = client.get(f"/problems/{code}")

    kind = all_problems()[code]
    assert response.json == {
        "code": code,
        "title": kind.title,
        "status": kind.status,
        "meaning": " ".join((kind.__doc__ or "").split()),
        "what_to_do": kind.help,
        "retryable": kind.retryable,
    }


def test_all_codes_are_listed(client: FlaskClient) -> None:
    response = client.get("/problems")

    assert response.json is not None
    assert [problem["code"] for problem in response.json["problems"]] == list(all_problems())
    assert all(problem["type"] == f"/problems/{problem['code']}" for problem in response.json["problems"])


@pytest.mark.parametrize("code", ["nothing", "Validation_Error", "%00", "{kind}"])
def test_an_unknown_code_is_a_404(client: FlaskClient, code: str) -> None:
    response = client.get(f"/problems/{code}")

    assert response.status_code == 404
    assert response.json is not None
    assert response.json["code"] == "not_found"
