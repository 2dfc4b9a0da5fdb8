from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from leadmagic_recording import (
    BAD_KEY,
    FINDER,
    MOBILE,
    NO_EMAIL,
    NO_MOBILE,
    TOO_FAST,
    USED_UP,
    VALIDATION,
    error,
)
from pytest_httpserver import HTTPServer
from vendor_recording import CannedResponse

from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.providers.base import CredentialCheck, ProviderField, ProviderRequest, ProviderResponse
from workers.providers.leadmagic import LeadMagic

NAMED = Subject(full_name="Ada Lovelace", company_domain="acme.com", company_name="Acme")
PROFILE = Subject(linkedin_url="https://www.linkedin.com/in/ada-lovelace")
FOR_EMAIL = ProviderRequest(field=ProviderField.EMAIL, subject=NAMED, types=("work",))
FOR_PHONE = ProviderRequest(
    field=ProviderField.PHONE, subject=PROFILE, types=("mobile", "direct", "work", "hq")
)
FOR_VERIFICATION = ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com"))
PATHS = ("/v1/people/email-finder", "/v1/people/mobile-finder", "/v1/people/email-validation")


@pytest.fixture
def leadmagic(httpserver: HTTPServer) -> LeadMagic:
    return LeadMagic(ProviderSettings(api_key="k", base_url=httpserver.url_for("")))


def call(
    httpserver: HTTPServer,
    leadmagic: LeadMagic,
    response: CannedResponse,
    question: ProviderRequest = FOR_EMAIL,
) -> ProviderResponse:
    for path in PATHS:
        server = httpserver.expect_request(path, method="POST", headers={"X-API-Key": "k"})
        server.respond_with_json(response.body, response.status, response.headers)
    return leadmagic.call(question, seconds=3)


def sent(httpserver: HTTPServer) -> dict[str, Any]:
    request, _response = httpserver.log[0]
    body: dict[str, Any] = json.loads(request.get_data())
    return body


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (NAMED, {"full_name": "Ada Lovelace", "domain": "acme.com"}),
        (
            Subject(full_name="Ada Lovelace", company_name="Acme"),
            {"full_name": "Ada Lovelace", "company_name": "Acme"},
        ),
        (
            Subject(first_name="Ada", last_name="Lovelace", company_domain="acme.com"),
            {"first_name": "Ada", "last_name": "Lovelace", "domain": "acme.com"},
        ),
    ],
)
def test_an_email_is_requested_by_name_and_company_preferably_its_domain(
    httpserver: HTTPServer, leadmagic: LeadMagic, subject: Subject, expected: dict[str, str]
) -> None:
    call(httpserver, leadmagic, CannedResponse(body=FINDER), dataclasses.replace(FOR_EMAIL, subject=subject))

    assert sent(httpserver) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (PROFILE, {"profile_url": "https://www.linkedin.com/in/ada-lovelace"}),
        (Subject(email="ada@acme.com"), {"work_email": "ada@acme.com"}),
        (Subject(email="ada.l@gmail.com"), {"personal_email": "ada.l@gmail.com"}),
        (
            dataclasses.replace(PROFILE, email="ada@acme.com", full_name="Ada Lovelace"),
            {"profile_url": "https://www.linkedin.com/in/ada-lovelace", "work_email": "ada@acme.com"},
        ),
    ],
)
def test_a_mobile_is_requested_by_profile_and_email(
    httpserver: HTTPServer, leadmagic: LeadMagic, subject: Subject, expected: dict[str, str]
) -> None:
    call(httpserver, leadmagic, CannedResponse(body=MOBILE), dataclasses.replace(FOR_PHONE, subject=subject))

    assert sent(httpserver) == expected


@pytest.mark.parametrize(
    ("question", "refusal"),
    [
        (dataclasses.replace(FOR_EMAIL, types=("personal",)), TraceOutcome.INELIGIBLE),
        (dataclasses.replace(FOR_EMAIL, types=()), None),
        (dataclasses.replace(FOR_EMAIL, subject=PROFILE), TraceOutcome.INELIGIBLE),
        (dataclasses.replace(FOR_PHONE, types=("hq",)), TraceOutcome.INELIGIBLE),
        (dataclasses.replace(FOR_PHONE, types=()), None),
        (dataclasses.replace(FOR_PHONE, subject=NAMED), TraceOutcome.INELIGIBLE),
        (ProviderRequest(field=ProviderField.PERSON, subject=PROFILE), TraceOutcome.INELIGIBLE),
    ],
)
def test_only_supported_fields_are_eligible(
    leadmagic: LeadMagic, question: ProviderRequest, refusal: TraceOutcome | None
) -> None:
    assert leadmagic.unavailability(question) is refusal


@pytest.mark.parametrize(
    ("word", "status", "is_verified"),
    [
        ("valid", EmailStatus.VALID, True),
        ("valid_catch_all", EmailStatus.ACCEPT_ALL, True),
        ("catch_all", EmailStatus.ACCEPT_ALL, True),
        ("invalid", EmailStatus.INVALID, True),
        ("unknown", EmailStatus.UNKNOWN, False),
        (None, EmailStatus.UNKNOWN, False),
        ("something_new", EmailStatus.UNKNOWN, False),
    ],
)
def test_each_status_of_a_found_email(
    httpserver: HTTPServer, leadmagic: LeadMagic, *, word: str | None, status: EmailStatus, is_verified: bool
) -> None:
    reply = call(httpserver, leadmagic, CannedResponse(body=FINDER | {"status": word}))

    (found,) = reply.emails
    assert (found.email, found.status, found.type) == ("ada.lovelace@acme.com", status, "work")
    assert (found.verified_at is not None) is is_verified


@pytest.mark.parametrize("word", ["not_found", None])
def test_no_email_is_a_free_miss(httpserver: HTTPServer, leadmagic: LeadMagic, word: str | None) -> None:
    reply = call(httpserver, leadmagic, CannedResponse(body=NO_EMAIL | {"status": word}))

    assert (reply.outcome, reply.emails, reply.cost) == (TraceOutcome.MISS, (), 0)


def test_an_email_at_a_mail_provider_is_a_paid_miss(httpserver: HTTPServer, leadmagic: LeadMagic) -> None:
    reply = call(httpserver, leadmagic, CannedResponse(body=FINDER | {"email": "ada.l@gmail.com"}))

    assert (reply.outcome, reply.emails, reply.cost) == (TraceOutcome.MISS, (), 1)


@pytest.mark.parametrize(
    ("word", "status", "consumed"),
    [
        ("valid", EmailStatus.VALID, 0.25),
        ("VALID", EmailStatus.VALID, 0.25),
        ("valid_catch_all", EmailStatus.ACCEPT_ALL, 0.25),
        ("catch_all", EmailStatus.ACCEPT_ALL, 0),
        ("invalid", EmailStatus.INVALID, 0.25),
    ],
)
@pytest.mark.parametrize("is_told", [True, False])
def test_each_verdict_and_its_price(
    httpserver: HTTPServer,
    leadmagic: LeadMagic,
    *,
    word: str,
    status: EmailStatus,
    consumed: float,
    is_told: bool,
) -> None:
    body = VALIDATION | {"email_status": word, "credits_consumed": consumed if is_told else None}

    reply = call(httpserver, leadmagic, CannedResponse(body=body), FOR_VERIFICATION)

    (verdict,) = reply.emails
    assert (reply.outcome, reply.cost) == (TraceOutcome.HIT, consumed)
    assert (verdict.email, verdict.status) == ("ada@acme.com", status)
    assert verdict.verified_at == verdict.source.at


@pytest.mark.parametrize("word", ["unknown", "something_new"])
def test_a_verification_without_a_verdict_is_a_miss(
    httpserver: HTTPServer, leadmagic: LeadMagic, word: str
) -> None:
    body = VALIDATION | {"email_status": word, "credits_consumed": 0}

    reply = call(httpserver, leadmagic, CannedResponse(body=body), FOR_VERIFICATION)

    assert (reply.outcome, reply.emails, reply.cost) == (TraceOutcome.MISS, (), 0)


@pytest.mark.parametrize(
    ("response", "country", "e164"),
    [
        ("12025550143", None, "+12025550143"),
        ("12025550143", "DE", "+12025550143"),
        ("+1-202-555-0143", None, "+12025550143"),
        ("4915123456789", None, "+4915123456789"),
        ("2025550143", "US", "+12025550143"),
        ("01512 3456789", "DE", "+4915123456789"),
    ],
)
def test_a_number_of_digits_starts_with_the_country_code(
    httpserver: HTTPServer, leadmagic: LeadMagic, response: str, country: str | None, e164: str
) -> None:
    question = dataclasses.replace(FOR_PHONE, country=country)

    reply = call(httpserver, leadmagic, CannedResponse(body=MOBILE | {"mobile_number": response}), question)

    (found,) = reply.phones
    assert (found.e164, found.type, found.status, reply.cost) == (e164, "mobile", "unknown", 5)


def test_an_ambiguous_number_is_dropped(httpserver: HTTPServer, leadmagic: LeadMagic) -> None:
    reply = call(
        httpserver, leadmagic, CannedResponse(body=MOBILE | {"mobile_number": "2025550143"}), FOR_PHONE
    )

    assert (reply.outcome, reply.phones, reply.cost) == (TraceOutcome.MISS, (), 5)


@pytest.mark.parametrize("consumed", [0, None])
def test_no_mobile_is_a_free_miss(httpserver: HTTPServer, leadmagic: LeadMagic, consumed: int | None) -> None:
    reply = call(
        httpserver, leadmagic, CannedResponse(body=NO_MOBILE | {"credits_consumed": consumed}), FOR_PHONE
    )

    assert (reply.outcome, reply.phones, reply.cost) == (TraceOutcome.MISS, (), 0)


@pytest.mark.parametrize(("consumed", "cost"), [(0, 0), (2, 2), ("1", 1), (None, 1), (-1, 1)])
def test_the_cost_is_the_reported_one_or_the_price(
    httpserver: HTTPServer, leadmagic: LeadMagic, consumed: object, cost: float
) -> None:
    reply = call(httpserver, leadmagic, CannedResponse(body=FINDER | {"credits_consumed": consumed}))

    assert (reply.outcome, reply.cost) == (TraceOutcome.HIT, cost)


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (USED_UP, TraceOutcome.NO_CREDITS),
        (BAD_KEY, TraceOutcome.UNCONFIGURED),
        (error(401, "missing_authentication", "Authentication required."), TraceOutcome.UNCONFIGURED),
        (error(403, "insufficient_permissions", "ProviderSettings denied."), TraceOutcome.UNCONFIGURED),
        (error(404, "profile_not_found", "Profile not found."), TraceOutcome.MISS),
        (error(400, "validation_error", "Email format is invalid."), TraceOutcome.INELIGIBLE),
        (error(400, "missing_required_field", "Missing required field: email."), TraceOutcome.ERROR),
        (error(400, "invalid_json", "Invalid JSON in request body."), TraceOutcome.ERROR),
        (error(409, "conflict", "Resource conflict detected."), TraceOutcome.ERROR),
        (error(500, "INTERNAL_ERROR", "Something went wrong on our end."), TraceOutcome.ERROR),
        (error(502, "external_service_error", "Please try again."), TraceOutcome.ERROR),
        (CannedResponse(status=400, body={"message": "Bad request"}), TraceOutcome.ERROR),
        (CannedResponse(status=402, body={"message": "Insufficient credits"}), TraceOutcome.NO_CREDITS),
        (CannedResponse(status=403, body={"errors": ["Forbidden"]}), TraceOutcome.UNCONFIGURED),
    ],
)
def test_each_documented_error(
    httpserver: HTTPServer, leadmagic: LeadMagic, response: CannedResponse, outcome: TraceOutcome
) -> None:
    reply = call(httpserver, leadmagic, response)

    assert (reply.outcome, reply.cost, reply.retry_after) == (outcome, 0, None)


def test_an_html_403_is_not_a_bad_key(httpserver: HTTPServer, leadmagic: LeadMagic) -> None:
    httpserver.expect_request(PATHS[0]).respond_with_data("<h1>Forbidden</h1>", 403)

    assert leadmagic.call(FOR_EMAIL, seconds=3).outcome is TraceOutcome.ERROR


@pytest.mark.parametrize(
    ("headers", "context", "wait"),
    [
        ({}, {"retry_after_seconds": 42}, 42),
        ({"Retry-After": "7"}, {"retry_after_seconds": 42}, 7),
        ({}, {}, None),
    ],
)
def test_a_rate_limit_has_its_delay_in_a_header_or_the_body(
    httpserver: HTTPServer,
    leadmagic: LeadMagic,
    headers: dict[str, str],
    context: dict[str, float],
    wait: float | None,
) -> None:
    limited = error(429, "rate_limit_exceeded", "Rate limit exceeded.", **context)

    reply = call(httpserver, leadmagic, dataclasses.replace(limited, headers=headers))

    assert (reply.outcome, reply.retry_after) == (TraceOutcome.RATE_LIMITED, wait)


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (
            CannedResponse(body={"credits": 2200}),
            CredentialCheck(outcome=TraceOutcome.HIT, remaining={"credits": 2200}),
        ),
        (
            CannedResponse(
                body={"credits": 2200, "is_frozen": True, "credits_frozen": 2000, "credits_liquid": 200}
            ),
            CredentialCheck(outcome=TraceOutcome.HIT, remaining={"credits": 200}),
        ),
        (CannedResponse(body={}), CredentialCheck(outcome=TraceOutcome.HIT)),
        (BAD_KEY, CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)),
        (TOO_FAST, CredentialCheck(outcome=TraceOutcome.RATE_LIMITED)),
        (
            error(404, "resource_not_found", "Resource not found."),
            CredentialCheck(outcome=TraceOutcome.ERROR),
        ),
    ],
)
def test_the_balance_shows_whether_the_key_works(
    httpserver: HTTPServer, leadmagic: LeadMagic, response: CannedResponse, expected: CredentialCheck
) -> None:
    server = httpserver.expect_request("/v1/credits", method="GET", headers={"X-API-Key": "k"})
    server.respond_with_json(response.body, response.status)

    assert leadmagic.check(seconds=3) == expected
