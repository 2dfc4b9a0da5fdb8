from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from app import settings as app_settings
from app.factory import create_app
from app.settings import Settings, SettingsError

EXTENSION = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"
PATH = "/api/ext/session"


@pytest.fixture
def open_to(settings: Settings, redis_url: str) -> Callable[..., FlaskClient]:
    """Return a function that makes a client of a service with these allowed origins."""

    def make(*origins: str) -> FlaskClient:
        return create_app(
            dataclasses.replace(settings, redis_url=redis_url, cors_origins=origins)
        ).test_client()

    return make


def preflight(client: FlaskClient, origin: str, path: str = PATH) -> dict[str, str]:
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    return dict(client.options(path, headers=headers).headers)


def test_without_the_setting_no_origin_is_allowed(app: APIFlask) -> None:
    response = app.test_client().options(PATH, headers={"Origin": EXTENSION})

    assert response.status_code == 200
    assert not [name for name, _ in response.headers if name.startswith("Access-Control")]


def test_a_preflight_of_an_allowed_origin_needs_no_token(
    open_to: Callable[..., FlaskClient],
) -> None:
    headers = preflight(open_to(EXTENSION, "https://tool.example"), EXTENSION)

    assert headers["Access-Control-Allow-Origin"] == EXTENSION
    assert headers["Access-Control-Allow-Methods"] == "GET, POST, PUT, DELETE"
    assert headers["Access-Control-Allow-Headers"] == (
        "Authorization, Content-Type, Idempotency-Key, If-None-Match, Prefer, Traceparent, X-Request-Id"
    )
    assert headers["Access-Control-Max-Age"] == "7200"
    assert headers["Vary"] == "Origin"
    assert "Access-Control-Allow-Credentials" not in headers


def test_an_allowed_origin_may_read_responses_including_errors(open_to: Callable[..., FlaskClient]) -> None:
    response = open_to(EXTENSION).get(PATH, headers={"Origin": EXTENSION})

    assert response.status_code == 401
    assert response.headers["Access-Control-Allow-Origin"] == EXTENSION
    assert "Retry-After" in response.headers["Access-Control-Expose-Headers"]
    assert response.headers["Vary"] == "Origin, Accept-Language"


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", EXTENSION.upper(), EXTENSION + ".evil.example", EXTENSION[:-1], "null", "*", ""],
)
def test_another_origin_gets_no_cors_headers(open_to: Callable[..., FlaskClient], origin: str) -> None:
    headers = preflight(open_to(EXTENSION), origin)

    assert not [name for name in headers if name.startswith("Access-Control")]
    assert headers["Vary"] == "Origin"


def test_cors_headers_are_sent_for_the_api_only(open_to: Callable[..., FlaskClient]) -> None:
    headers = preflight(open_to(EXTENSION), EXTENSION, "/metrics")

    assert "Access-Control-Allow-Origin" not in headers


def test_origins_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORS_ORIGINS", f" {EXTENSION}, https://tool.example:8443 ,")

    assert app_settings.load.__wrapped__().cors_origins == (EXTENSION, "https://tool.example:8443")


@pytest.mark.parametrize("value", ["*", "https://*.example", "null", "tool.example", "https://tool.example/"])
def test_an_origin_that_is_not_exact_prevents_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CORS_ORIGINS", value)

    with pytest.raises(SettingsError, match="CORS_ORIGINS"):
        app_settings.load.__wrapped__()
