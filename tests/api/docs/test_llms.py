from __future__ import annotations

import re
from typing import Any

import pytest
from flask.testing import FlaskClient


@pytest.fixture
def page(client: FlaskClient) -> str:
    return client.get("/llms.txt").get_data(as_text=True)


def test_the_page_has_the_form_of_llmstxt(client: FlaskClient, page: str) -> None:
    response = client.get("/llms.txt")

    assert response.content_type == "text/markdown; charset=utf-8"
    assert re.match(r"# .+\n\n> ", page)
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == ["Reference", "Endpoints"]


def test_the_page_lists_every_endpoint_of_the_document_once(client: FlaskClient, page: str) -> None:
    document: Any = client.get("/openapi.json").get_json()
    documented = sorted(
        f"{method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method in operations
        if path.startswith("/api/")
    )

    assert sorted(re.findall(r"^- \[([A-Z]+ /api/\S+)\]", page, re.MULTILINE)) == documented


def test_the_page_says_which_token_an_endpoint_takes(page: str) -> None:
    lines = {line.partition("]")[0]: line for line in page.splitlines() if line.startswith("- [")}

    assert lines["- [POST /api/ext/login"].endswith("No token.")
    assert lines["- [POST /api/ext/lookup"].endswith("Scope `lookup`.")
    assert lines["- [GET /api/ext/session"].endswith("credits and prices.")


def test_every_link_leads_to_a_page(client: FlaskClient, page: str) -> None:
    statuses = {path: client.get(path).status_code for path in sorted(set(re.findall(r"\]\((/.*?)\)", page)))}

    assert set(statuses.values()) == {200}
