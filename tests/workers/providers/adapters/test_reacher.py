from __future__ import annotations

from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from reacher_recording import UNKNOWN, VERDICT, WRONG_SECRET

from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.infra import clock
from app.settings import ProviderSettings
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse
from workers.providers.reacher import Reacher

ASK = ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com"))
SMTP = VERDICT["smtp"]
MISC = VERDICT["misc"]


def at(server: HTTPServer, secret: str = "") -> Reacher:
    return Reacher(ProviderSettings(api_key=secret, base_url=server.url_for("")))


def reply_to(server: HTTPServer, verdict: dict[str, Any]) -> ProviderResponse:
    server.expect_request("/v0/check_email", method="POST").respond_with_json(verdict)
    return at(server).call(ASK, seconds=3)


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        ({"is_reachable": "safe"}, EmailStatus.VALID),
        ({"is_reachable": "risky"}, EmailStatus.RISKY),
        ({"is_reachable": "invalid"}, EmailStatus.INVALID),
        ({"is_reachable": "risky", "smtp": SMTP | {"is_catch_all": True}}, EmailStatus.ACCEPT_ALL),
        (
            {"is_reachable": "risky", "smtp": SMTP | {"is_catch_all": True, "has_full_inbox": True}},
            EmailStatus.RISKY,
        ),
        ({"is_reachable": "invalid", "smtp": SMTP | {"is_catch_all": True}}, EmailStatus.INVALID),
    ],
)
def test_a_verdict_becomes_a_status_with_the_current_time(
    httpserver: HTTPServer, verdict: dict[str, Any], status: EmailStatus
) -> None:
    before = clock.now()

    reply = reply_to(httpserver, VERDICT | verdict)

    (found,) = reply.emails
    assert (reply.outcome, found.email, found.status, reply.cost) == (
        TraceOutcome.HIT,
        "ada@acme.com",
        status,
        0,
    )
    assert found.verified_at is not None
    assert before <= found.verified_at <= clock.now()


@pytest.mark.parametrize("verdict", [UNKNOWN, VERDICT | {"is_reachable": "perhaps"}])
def test_an_unknown_verdict_is_a_miss(httpserver: HTTPServer, verdict: dict[str, Any]) -> None:
    assert reply_to(httpserver, verdict) == ProviderResponse(outcome=TraceOutcome.MISS)


@pytest.mark.parametrize(
    ("verdict", "reasons"),
    [
        ({}, ()),
        ({"misc": MISC | {"is_role_account": True}}, ("role",)),
        ({"misc": MISC | {"is_disposable": True, "is_b2c": True}}, ("disposable", "webmail")),
        ({"mx": {"accepts_mail": False, "records": []}}, ("no_mx",)),
        ({"smtp": SMTP | {"has_full_inbox": True, "is_disabled": True}}, ("full_inbox", "disabled")),
        ({part: {"type": "Error", "message": "timeout"} for part in ("misc", "mx", "smtp")}, ()),
        ({"misc": None, "mx": None, "smtp": None}, ()),
    ],
)
def test_warnings_become_reasons(
    httpserver: HTTPServer, verdict: dict[str, Any], reasons: tuple[str, ...]
) -> None:
    (found,) = reply_to(httpserver, VERDICT | {"is_reachable": "risky"} | verdict).emails

    assert found.reasons == reasons


@pytest.mark.parametrize(("secret", "header"), [("", None), ("open sesame", "open sesame")])
def test_only_the_address_and_a_configured_secret_are_sent(
    httpserver: HTTPServer, secret: str, header: str | None
) -> None:
    httpserver.expect_request("/v0/check_email", method="POST").respond_with_json(VERDICT)

    at(httpserver, secret).call(ASK, seconds=3)

    ((request, _response),) = httpserver.log
    assert (request.get_json(), request.headers.get("x-reacher-secret")) == (
        {"to_email": "ada@acme.com"},
        header,
    )


def test_a_base_url_is_required_and_a_key_is_not() -> None:
    nowhere = Reacher(ProviderSettings(api_key="open sesame"))
    somewhere = Reacher(ProviderSettings(base_url="http://127.0.0.1:8080"))

    assert nowhere.unavailability(ASK) is TraceOutcome.UNCONFIGURED
    assert somewhere.unavailability(ASK) is None


@pytest.mark.parametrize(
    "field", [ProviderField.EMAIL, ProviderField.PHONE, ProviderField.PERSON, ProviderField.COMPANY]
)
def test_only_verifications_are_eligible(field: ProviderField) -> None:
    somewhere = Reacher(ProviderSettings(base_url="http://127.0.0.1:8080"))

    assert (
        somewhere.unavailability(ProviderRequest(field=field, subject=ASK.subject)) is TraceOutcome.INELIGIBLE
    )


@pytest.mark.parametrize(
    ("status", "content", "outcome"),
    [
        (400, '{"error": "to_email field is required."}', TraceOutcome.HIT),
        (200, '{"is_reachable": "invalid"}', TraceOutcome.HIT),
        (400, WRONG_SECRET.body, TraceOutcome.UNCONFIGURED),
        (401, "Unauthorized", TraceOutcome.UNCONFIGURED),
        (403, "Forbidden", TraceOutcome.UNCONFIGURED),
        (404, "{}", TraceOutcome.ERROR),
        (429, "{}", TraceOutcome.RATE_LIMITED),
        (500, '{"error": "no"}', TraceOutcome.ERROR),
        (200, "<html>", TraceOutcome.ERROR),
    ],
)
def test_a_check_sends_no_address_and_shows_whether_the_secret_is_right(
    httpserver: HTTPServer, status: int, content: str, outcome: TraceOutcome
) -> None:
    httpserver.expect_request("/v0/check_email", json={"to_email": ""}).respond_with_data(
        content, status=status
    )

    check = at(httpserver).check(seconds=3)

    assert (check.outcome, dict(check.remaining)) == (outcome, {})
