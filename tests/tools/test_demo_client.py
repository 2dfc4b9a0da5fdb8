from __future__ import annotations

import dataclasses
import io

import pytest
from pytest_httpserver import HTTPServer
from rich.console import Console

from tools.demo.__main__ import run_steps
from tools.demo.client import PRESENT, DemoClient, DemoError


@pytest.fixture
def client(httpserver: HTTPServer) -> DemoClient:
    """A client that prints everything."""
    return DemoClient(
        Console(file=io.StringIO(), soft_wrap=True), httpserver.url_for("").rstrip("/"), verbose=True
    )


@pytest.fixture
def brief(client: DemoClient) -> DemoClient:
    """A client that prints a line for each step."""
    return dataclasses.replace(client, verbose=False)


def printed(client: DemoClient) -> str:
    assert isinstance(client.console.file, io.StringIO)
    return client.console.file.getvalue()


def test_a_step_shows_request_status_headers_and_body(client: DemoClient, httpserver: HTTPServer) -> None:
    httpserver.expect_request(
        "/api/ext/lookup", method="POST", json={"subject": {"email": "a@b.example"}}
    ).respond_with_json({"outcome": "matched"}, headers={"X-Credits-Charged": "0"})

    client.step(
        "Look up",
        "POST",
        "/api/ext/lookup",
        {"subject": {"email": "a@b.example"}},
        expect={"outcome": PRESENT},
    )

    shown = printed(client)
    assert "1. Look up" in shown
    assert "curl -X POST $BASE/api/ext/lookup" in shown
    assert "→ 200" in shown
    assert "x-credits-charged: 0" in shown
    assert '"outcome": "matched"' in shown


def test_each_step_is_a_line_with_aligned_columns(brief: DemoClient, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/ext/session").respond_with_json({"outcome": "matched"})
    httpserver.expect_request("/api/ext/reveal/email").respond_with_json({"code": "x"}, status=403)

    brief.step("Get the session", "GET", "/api/ext/session?x=1")
    brief.step("Reveal", "POST", "/api/ext/reveal/email", {"subject": {}}, status=403)

    first, second = printed(brief).splitlines()
    assert first.startswith("  1  GET /api/ext/session  ")
    assert second.startswith("  2  POST /api/ext/reveal/email  ")
    assert first.index("200") == second.index("403")
    assert first.index("Get the session") == second.index("Reveal")


def test_a_failed_step_can_be_printed_in_full_afterwards(brief: DemoClient, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/reveal").respond_with_json({"code": "unavailable"}, status=503)
    with pytest.raises(DemoError):
        brief.step("Reveal", "POST", "/reveal", {"subject": {"email": "a@b.example"}})

    brief.print_exchange()

    assert "curl -X POST $BASE/reveal" in printed(brief)
    assert '"code": "unavailable"' in printed(brief)


def test_neither_passwords_nor_tokens_are_printed(client: DemoClient, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/login").respond_with_json({"access_token": "ses_0123456789abcdef"})
    client.token = "ses_fedcba9876543210"

    client.step("Sign in", "POST", "/login", {"password": "correct horse battery"})

    shown = printed(client)
    assert "9abcdef" not in shown
    assert "horse battery" not in shown
    assert "fedcba" not in shown


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ({"credits.charged": 1}, "expected credits.charged to be 1"),
        ({"result.emails.0.email": PRESENT}, "expected result.emails.0.email to be present"),
    ],
)
def test_an_unexpected_field_names_the_step_and_the_expected_value(
    client: DemoClient, httpserver: HTTPServer, expect: dict[str, object], message: str
) -> None:
    httpserver.expect_request("/reveal").respond_with_json(
        {"credits": {"charged": 0}, "result": {"emails": []}}
    )

    with pytest.raises(DemoError, match=r"Step 1\. Reveal") as failure:
        client.step("Reveal", "POST", "/reveal", {}, expect=expect)

    assert message in str(failure.value)


def test_an_unexpected_status_ends_the_demo(client: DemoClient, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/reveal").respond_with_json({"code": "unavailable"}, status=503)

    with pytest.raises(DemoError, match="expected status 200 or 202"):
        client.step("Reveal", "POST", "/reveal", {}, status=(200, 202))


def test_a_demo_without_a_service_fails_with_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    access = {"base_url": "http://127.0.0.1:1", "email": "demo@contact-lookup.example", "password": "x"}

    assert run_steps(access) == 1

    assert "The demo failed" in capsys.readouterr().out
