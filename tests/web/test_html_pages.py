"""HTML for browsers and JSON for other clients, at the same URLs."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from flask.testing import FlaskClient

from app.domain.errors import all_problems

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"}
PROGRAMS = (
    {},
    {"Accept": "*/*"},
    {"Accept": "application/json"},
    {"Accept": "application/json, text/html;q=0.5"},
)
PAGES = {"/problems": 200, "/problems/not_found": 200}
RESPONSES = {"/": 200, "/problems": 200, "/nothing/here": 404, "/problems/none": 404}


class PageParser(HTMLParser):
    """Collects the elements, and checks that each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "link"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def links(self) -> set[str | None]:
        return {attributes["href"] for tag, attributes in self.elements if tag == "a"}


@pytest.mark.parametrize(("path", "status"), PAGES.items())
def test_a_browser_gets_a_page(client: FlaskClient, path: str, status: int) -> None:
    response = client.get(path, headers=BROWSER)

    markup = PageParser(response.text)
    assert (response.status_code, response.content_type) == (status, "text/html; charset=utf-8")
    assert markup.open == []
    assert {"/", "/docs", "/problems"} <= markup.links()
    assert [tag for tag, _attributes in markup.elements].count("h1") == 1
    assert ("html", {"lang": "en"}) in markup.elements
    assert "color-scheme: light dark" in response.text


@pytest.mark.parametrize("path", PAGES)
def test_a_page_loads_no_resources_and_runs_no_scripts(client: FlaskClient, path: str) -> None:
    response = client.get(path, headers=BROWSER)

    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"https?://|<script|style=|\son[a-z]+=|javascript:", response.text)


@pytest.mark.parametrize("accept", PROGRAMS)
@pytest.mark.parametrize(("path", "status"), RESPONSES.items())
def test_a_program_gets_json(client: FlaskClient, path: str, status: int, accept: dict[str, str]) -> None:
    response = client.get(path, headers=accept)

    kind = "application/json" if status == 200 else "application/problem+json"
    assert (response.status_code, response.mimetype) == (status, kind)


@pytest.mark.parametrize("headers", [BROWSER, {}])
@pytest.mark.parametrize("path", RESPONSES)
def test_responses_vary_on_accept(client: FlaskClient, path: str, headers: dict[str, str]) -> None:
    assert "Accept" in client.get(path, headers=headers).headers["Vary"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/ext/nothing"),
        ("GET", "/api/ext/session"),
        ("GET", "/api/ext/jobs?id=job_0"),
        ("POST", "/nothing/here"),
        ("DELETE", "/problems"),
        ("GET", "/api/ext/login"),
    ],
)
def test_api_errors_and_other_methods_never_get_a_page(client: FlaskClient, method: str, path: str) -> None:
    response = client.open(path, method=method, headers=BROWSER)

    assert response.mimetype == "application/problem+json"


def test_the_requested_path_is_not_quoted_on_the_page(client: FlaskClient) -> None:
    response = client.get("/%3Cscript%3Ealert(1)%3C/script%3E", headers=BROWSER)

    assert (response.status_code, response.mimetype) == (404, "text/html")
    assert "alert(1)" not in response.text


def test_the_list_of_problems_links_to_each(client: FlaskClient) -> None:
    links = PageParser(client.get("/problems", headers=BROWSER).text).links()

    assert {f"/problems/{code}" for code in all_problems()} <= links


def test_a_program_gets_the_documentation_paths(client: FlaskClient) -> None:
    response = client.get("/")

    assert response.get_json() == {
        "docs": "/docs",
        "openapi": "/openapi.json",
        "problems": "/problems",
        "ready": "/readyz",
    }
