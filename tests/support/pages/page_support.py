"""A browser without scripts for tests of pages: cookies, forms and redirects of Flask's test client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from apiflask import APIFlask
from flask.testing import FlaskClient
from users_support import PASSWORD, SignedInUser
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from app.web.pages.blueprint import PageBlueprint

ACCEPT = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@dataclass
class Visitor:
    """A browser that keeps cookies and follows redirects."""

    client: FlaskClient

    def open(self, path: str, **options: Any) -> TestResponse:
        return self.client.get(path, headers=ACCEPT, **options)

    def send(self, path: str, headers: dict[str, str] | None = None, **fields: Any) -> TestResponse:
        """Send a form of this server; return the page to which it leads, without waiting for a job."""
        own = {"Sec-Fetch-Site": "same-origin", "Prefer": "respond-async"} | ACCEPT | (headers or {})
        return self.client.post(path, data=fields, headers=own, follow_redirects=True)

    def sign_in(self, user: SignedInUser) -> TestResponse:
        return self.send("/sign-in", email=user.email, password=PASSWORD)

    def hold(self, token: str) -> None:
        """Keep a session token as the sign-in does."""
        self.client.set_cookie("session", token)


def is_page(app: APIFlask, rule: Rule) -> bool:
    """Return whether the route is a page or a static file of the pages, and not part of the API."""
    blueprint = app.blueprints.get(rule.endpoint.rpartition(".")[0])
    return isinstance(blueprint, PageBlueprint) or rule.endpoint == "pages.static"


def visitor(app: APIFlask, user: SignedInUser | None = None) -> Visitor:
    """Return a browser, signed in as this user."""
    browser = Visitor(app.test_client())
    if user is not None:
        browser.hold(user.session_token)
    return browser
