"""Requests from other websites, headers, errors as pages, and static files."""

from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from page_support import ACCEPT, visitor
from settings_support import change_settings
from users_support import PASSWORD, SignedInUser, bearer

from app.domain.errors import Unavailable
from app.pages import search
from app.web.pages.rendering import STYLESHEETS

OWN = "http://localhost"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Sec-Fetch-Site": "none"}, 303),
        ({"Sec-Fetch-Site": "cross-site", "Origin": OWN}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": OWN}, 303),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({}, 303),
    ],
)
def test_a_form_of_another_website_is_refused(
    app: APIFlask, user: SignedInUser, headers: dict[str, str], status: int
) -> None:
    browser = visitor(app, user)

    response = browser.client.post("/sign-out", headers=ACCEPT | headers)

    assert response.status_code == status
    assert (browser.open("/").status_code == 200) == (status == 403)


def test_a_page_limits_what_it_loads_and_is_not_embedded(app: APIFlask, user: SignedInUser) -> None:
    response = visitor(app, user).open("/")

    assert response.headers["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
        "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert response.headers["Cache-Control"] == "no-store"
    assert not re.search(r"<script>|<style|style=|\son[a-z]+=|javascript:", response.text)


def test_every_page_has_a_content_policy_and_is_not_embedded(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app, user)
    paths = [
        rule.rule for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ()) and not rule.arguments
    ]

    pages = {
        path: page
        for path in [*paths, "/no-such-page"]
        if "html" in ((page := browser.open(path, buffered=True)).mimetype or "")
    }

    assert {"/", "/docs", "/problems", "/sign-in", "/no-such-page"} <= pages.keys()
    for path, page in pages.items():
        policy = page.headers.get("Content-Security-Policy", "")
        assert "default-src 'none'" in policy, path
        assert "frame-ancestors 'none'" in policy, path
        assert "unsafe" not in policy or path == "/manual/", path  # the search of the manual adds styles
        assert page.headers.get("Referrer-Policy"), path


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/healthz", "/api/ext/session", "/static/icon.svg", "/no-such-page"]
)
def test_browsers_that_used_tls_are_told_to_insist_on_it(app: APIFlask, path: str) -> None:
    client = visitor(app).client

    with client.get(path, base_url="https://localhost") as over_tls, client.get(path) as without:
        assert over_tls.headers["Strict-Transport-Security"] == "max-age=31536000"
        assert "Strict-Transport-Security" not in without.headers


def test_static_files_may_be_kept_because_their_url_changes(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app, user)
    urls = re.findall(r'(?:href|src)="(/static/[^"#]+)', browser.open("/").text)

    responses = {url: browser.open(url, buffered=True) for url in urls}

    assert len(responses) == 3 + len(
        STYLESHEETS
    )  # the icon of the site, the script, and the icons of the page
    for url, response in responses.items():
        assert re.search(r"\?v=[0-9a-f]{12}$", url)
        assert response.status_code == 200
        assert "immutable" in response.headers["Cache-Control"]


def test_an_unknown_path_gives_a_page_with_the_right_status(app: APIFlask) -> None:
    response = visitor(app).open("/nothing/here")

    assert (response.status_code, response.mimetype) == (404, "text/html")
    assert "<h1>Not found</h1>" in response.text


def test_a_form_from_a_malformed_address_leads_to_the_sign_in(app: APIFlask) -> None:
    headers = ACCEPT | {"Sec-Fetch-Site": "same-origin", "Referer": "http://["}

    response = visitor(app).client.post("/sign-out", headers=headers)

    assert (response.status_code, response.location) == (303, "/sign-in?next=/")


def test_a_form_that_fails_gives_a_page_and_a_program_gets_a_problem(app: APIFlask) -> None:
    browser = visitor(app)

    page = browser.client.post("/sign-out", headers=ACCEPT | {"Origin": "https://evil.example"})
    problem = browser.client.post("/sign-out", headers={"Origin": "https://evil.example"})

    assert (page.status_code, page.mimetype) == (403, "text/html")
    assert "Nothing was changed" in page.text
    assert (problem.status_code, problem.get_json()["code"]) == (403, "cross_site_request")


def test_a_failure_of_the_database_gives_a_page(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise Unavailable

    monkeypatch.setattr(search, "page", fail)
    monkeypatch.setattr("app.web.pages.access._read_viewer", fail)

    response = visitor(app, user).open("/")

    assert (response.status_code, response.mimetype) == (503, "text/html")
    assert "Nothing was charged" in response.text


def test_pages_share_the_rate_limits_of_the_api(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_read="2/minute")
    user.client.get("/api/ext/session", headers=user.headers)
    browser = visitor(app, user)

    statuses = [browser.open("/").status_code for _ in range(2)]

    assert statuses == [200, 429]


def test_the_api_ignores_the_cookie(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app, user)

    without = browser.client.get("/api/ext/session")
    other = browser.client.get("/api/ext/session", headers=bearer("ses_nonsense"))

    assert without.get_json()["code"] == "missing_token"
    assert other.get_json()["code"] == "invalid_token"


def test_messages_are_shown_once_and_cannot_be_forged(app: APIFlask, user: SignedInUser) -> None:
    browser = visitor(app)
    browser.send("/sign-in", email=user.email, password=PASSWORD)

    first = browser.send("/sign-out")
    second = browser.open("/sign-in")
    browser.client.set_cookie("messages", "eyJfZmxhc2hlcyI6W119.forged.signature")
    forged = browser.open("/sign-in")

    assert "You are signed out" in first.text
    assert "You are signed out" not in second.text
    assert forged.status_code == 200
