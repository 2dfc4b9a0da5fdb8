from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from prospeo_recording import COMPANY, EMAIL, MOBILE, NO_MATCH, PERSON, error, record
from pytest_httpserver import HTTPServer
from vendor_recording import CannedResponse

from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.providers.base import (
    CredentialCheck,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    UnexpectedResponse,
)
from workers.providers.prospeo import Prospeo

PROFILE = Subject(linkedin_url="https://www.linkedin.com/in/ada-lovelace")
FOR_EMAIL = ProviderRequest(field=ProviderField.EMAIL, subject=PROFILE, types=("work",))
FOR_PHONE = ProviderRequest(
    field=ProviderField.PHONE, subject=PROFILE, types=("mobile", "direct", "work", "hq")
)
FOR_PERSON = ProviderRequest(field=ProviderField.PERSON, subject=PROFILE)
FOR_COMPANY = ProviderRequest(field=ProviderField.COMPANY, subject=Subject(company_name="Acme"))
ACCOUNT = {
    "error": False,
    "response": {
        "current_plan": "STARTER",
        "current_team_members": 1,
        "remaining_credits": 99,
        "used_credits": 1,
        "next_quota_renewal_days": 25,
        "next_quota_renewal_date": "2026-12-18 20:52:28+00:00",
    },
}


@pytest.fixture
def prospeo(httpserver: HTTPServer) -> Prospeo:
    return Prospeo(ProviderSettings(api_key="k", base_url=httpserver.url_for("/")))


def say(httpserver: HTTPServer, response: CannedResponse) -> None:
    server = httpserver.expect_request("/enrich-person")
    server.respond_with_json(response.body, response.status, response.headers)
    server = httpserver.expect_request("/enrich-company")
    server.respond_with_json(response.body, response.status, response.headers)


def call(
    httpserver: HTTPServer, prospeo: Prospeo, response: CannedResponse, question: ProviderRequest = FOR_EMAIL
) -> ProviderResponse:
    say(httpserver, response)
    return prospeo.call(question, seconds=3)


def sent(httpserver: HTTPServer) -> dict[str, Any]:
    request, _response = httpserver.log[0]
    body: dict[str, Any] = json.loads(request.get_data())
    return body


def test_the_request_is_a_post_of_json_with_the_key_in_its_header(
    httpserver: HTTPServer, prospeo: Prospeo
) -> None:
    call(httpserver, prospeo, record())

    request, _response = httpserver.log[0]
    assert (request.method, request.path, request.query_string) == ("POST", "/enrich-person", b"")
    assert (request.headers["X-KEY"], request.content_type) == ("k", "application/json")


@pytest.mark.parametrize(
    ("question", "verified_email", "mobile"),
    [(FOR_EMAIL, True, False), (FOR_PHONE, False, True), (FOR_PERSON, False, False)],
)
def test_only_the_requested_value_is_requested_and_charged(
    httpserver: HTTPServer, prospeo: Prospeo, *, question: ProviderRequest, verified_email: bool, mobile: bool
) -> None:
    call(httpserver, prospeo, record(), question)

    assert sent(httpserver) == {
        "only_verified_email": verified_email,
        "enrich_mobile": mobile,
        "only_verified_mobile": mobile,
        "data": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"},
    }


def test_exactly_the_known_identifiers_are_sent(httpserver: HTTPServer, prospeo: Prospeo) -> None:
    known = Subject(
        linkedin_url="https://www.linkedin.com/in/ada-lovelace",
        email="ada@acme.com",
        first_name="Ada",
        last_name="Lovelace",
        company_domain="acme.com",
        company_name="Acme",
        phone="+12025550143",
    )

    call(httpserver, prospeo, record(), dataclasses.replace(FOR_EMAIL, subject=known))

    assert sent(httpserver)["data"] == {
        "linkedin_url": "https://www.linkedin.com/in/ada-lovelace",
        "email": "ada@acme.com",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "company_website": "acme.com",
        "company_name": "Acme",
    }


def test_a_full_name_is_sent_unsplit(httpserver: HTTPServer, prospeo: Prospeo) -> None:
    named = Subject(full_name="Ada Lovelace", company_name="Acme")

    call(httpserver, prospeo, record(), dataclasses.replace(FOR_EMAIL, subject=named))

    assert sent(httpserver)["data"] == {"full_name": "Ada Lovelace", "company_name": "Acme"}


def test_a_personal_email_is_not_an_identifier(prospeo: Prospeo) -> None:
    private = ProviderRequest(field=ProviderField.PERSON, subject=Subject(email="ada@gmail.com"))
    at_work = ProviderRequest(field=ProviderField.PERSON, subject=Subject(email="ada@acme.com"))

    assert prospeo.unavailability(private) is TraceOutcome.INELIGIBLE
    assert prospeo.unavailability(at_work) is None


@pytest.mark.parametrize(
    ("field", "types", "refusal"),
    [
        (ProviderField.EMAIL, ("personal",), TraceOutcome.INELIGIBLE),
        (ProviderField.EMAIL, ("work", "personal"), None),
        (ProviderField.EMAIL, (), None),
        (ProviderField.PHONE, ("direct", "hq"), TraceOutcome.INELIGIBLE),
        (ProviderField.PHONE, ("mobile",), None),
        (ProviderField.VERIFICATION, (), TraceOutcome.INELIGIBLE),
    ],
)
def test_only_supported_types_are_eligible(
    prospeo: Prospeo, field: ProviderField, types: tuple[str, ...], refusal: TraceOutcome | None
) -> None:
    assert prospeo.unavailability(ProviderRequest(field=field, subject=PROFILE, types=types)) is refusal


@pytest.mark.parametrize(
    ("word", "status", "is_verified"),
    [
        ("VERIFIED", EmailStatus.VALID, True),
        ("UNVERIFIED", EmailStatus.RISKY, False),
        (None, EmailStatus.UNKNOWN, False),
        ("SOMETHING_NEW", EmailStatus.UNKNOWN, False),
    ],
)
def test_each_status_of_an_address(
    httpserver: HTTPServer, prospeo: Prospeo, *, word: str | None, status: EmailStatus, is_verified: bool
) -> None:
    reply = call(httpserver, prospeo, record(email=EMAIL | {"status": word}))

    (found,) = reply.emails
    assert (found.status, found.verified_at is not None, found.type) == (status, is_verified, "work")


@pytest.mark.parametrize(("word", "status"), [("VERIFIED", "valid"), (None, "unknown")])
def test_each_status_of_a_mobile(
    httpserver: HTTPServer, prospeo: Prospeo, word: str | None, status: str
) -> None:
    reply = call(httpserver, prospeo, record(mobile=MOBILE | {"status": word}), FOR_PHONE)

    (found,) = reply.phones
    assert (found.e164, found.type, found.status) == ("+12025550143", "mobile", status)
    assert (found.verified_at is not None) is (word == "VERIFIED")


def test_a_national_number_is_parsed_in_its_country(httpserver: HTTPServer, prospeo: Prospeo) -> None:
    national = MOBILE | {"mobile": "(202) 555-0143"}

    reply = call(httpserver, prospeo, record(mobile=national), FOR_PHONE)

    assert [found.e164 for found in reply.phones] == ["+12025550143"]


def test_a_phone_response_gives_no_email(httpserver: HTTPServer, prospeo: Prospeo) -> None:
    reply = call(httpserver, prospeo, record(mobile=MOBILE), FOR_PHONE)

    assert (reply.outcome, reply.emails, reply.cost) == (TraceOutcome.HIT, (), 10)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (FOR_EMAIL, {"email": EMAIL | {"revealed": False}}),
        (FOR_EMAIL, {"email": EMAIL | {"revealed": None, "email": "ada.*****@acme.com"}}),
        (FOR_PHONE, {"mobile": MOBILE | {"revealed": False}}),
        (FOR_PHONE, {"mobile": MOBILE | {"revealed": None, "mobile": "+1 202*****43"}}),
    ],
)
def test_an_unrevealed_value_is_dropped_and_the_record_charged(
    httpserver: HTTPServer, prospeo: Prospeo, question: ProviderRequest, parts: dict[str, Any]
) -> None:
    reply = call(httpserver, prospeo, record(**parts), question)

    assert (reply.outcome, reply.cost) == (TraceOutcome.MISS, 1)
    assert (reply.emails, reply.phones) == ((), ())


@pytest.mark.parametrize(
    ("question", "missing"), [(FOR_EMAIL, {"email": None}), (FOR_PHONE, {"mobile": None})]
)
def test_a_record_without_the_value_is_a_miss(
    httpserver: HTTPServer, prospeo: Prospeo, question: ProviderRequest, missing: dict[str, None]
) -> None:
    reply = call(httpserver, prospeo, record(**missing), question)

    assert reply.outcome is TraceOutcome.MISS


def test_an_email_at_a_mail_provider_is_not_a_work_email(httpserver: HTTPServer, prospeo: Prospeo) -> None:
    reply = call(httpserver, prospeo, record(email=EMAIL | {"email": "ada.l@gmail.com"}))

    assert (reply.outcome, reply.emails) == (TraceOutcome.MISS, ())


@pytest.mark.parametrize("question", [FOR_EMAIL, FOR_PHONE, FOR_PERSON, FOR_COMPANY])
def test_a_record_bought_before_is_free(
    httpserver: HTTPServer, prospeo: Prospeo, question: ProviderRequest
) -> None:
    bought = {
        "error": False,
        "free_enrichment": True,
        "person": PERSON | {"mobile": MOBILE},
        "company": COMPANY,
    }

    reply = call(httpserver, prospeo, CannedResponse(body=bought), question)

    assert (reply.outcome, reply.cost) == (TraceOutcome.HIT, 0)


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("NO_MATCH", TraceOutcome.MISS),
        ("INVALID_DATAPOINTS", TraceOutcome.INELIGIBLE),
        ("INSUFFICIENT_CREDITS", TraceOutcome.NO_CREDITS),
        ("RATE_LIMITED", TraceOutcome.RATE_LIMITED),
        ("INVALID_API_KEY", TraceOutcome.UNCONFIGURED),
        ("ACCOUNT_RESTRICTED", TraceOutcome.UNCONFIGURED),
        ("INVALID_REQUEST", TraceOutcome.ERROR),
        ("INVALID_FILTERS", TraceOutcome.INELIGIBLE),
        ("INTERNAL_ERROR", TraceOutcome.ERROR),
        ("DEPRECATED", TraceOutcome.ERROR),
    ],
)
@pytest.mark.parametrize("status", [200, 400])
def test_each_error_is_mapped_by_its_code(
    httpserver: HTTPServer, prospeo: Prospeo, code: str, outcome: TraceOutcome, status: int
) -> None:
    reply = call(httpserver, prospeo, error(status, code))

    assert (reply.outcome, reply.cost) == (outcome, 0)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(401, TraceOutcome.UNCONFIGURED), (429, TraceOutcome.RATE_LIMITED), (400, TraceOutcome.ERROR)],
)
def test_an_error_without_a_code_is_mapped_by_its_status(
    httpserver: HTTPServer, prospeo: Prospeo, status: int, outcome: TraceOutcome
) -> None:
    reply = call(httpserver, prospeo, CannedResponse(status=status, body={"error": True}))

    assert reply.outcome is outcome


@pytest.mark.parametrize(
    ("remaining", "wait"),
    [
        ({"x-minute-request-left": "12", "x-daily-request-left": "800"}, 1),
        ({"x-minute-request-left": "0", "x-daily-request-left": "800"}, 42),
        ({"x-minute-request-left": "0", "x-daily-request-left": "0"}, 3600),
        ({"x-minute-request-left": "0", "Retry-After": "7"}, 7),
    ],
)
def test_a_rate_limit_lasts_until_the_exhausted_window_resets(
    httpserver: HTTPServer, prospeo: Prospeo, remaining: dict[str, str], wait: float
) -> None:
    resets = {
        "x-second-reset-seconds": "1",
        "x-minute-reset-seconds": "42",
        "x-daily-reset-seconds": "3600",
    }
    limited = dataclasses.replace(error(429, "RATE_LIMITED"), headers=resets | remaining)

    reply = call(httpserver, prospeo, limited)

    assert (reply.outcome, reply.retry_after) == (TraceOutcome.RATE_LIMITED, wait)


def test_a_person_has_the_current_job(httpserver: HTTPServer, prospeo: Prospeo) -> None:
    contact = call(httpserver, prospeo, record(), FOR_PERSON).contact

    assert contact is not None
    assert (contact.full_name, contact.first_name, contact.last_name) == ("Ada Lovelace", "Ada", "Lovelace")
    assert (contact.title, contact.seniority) == ("Chief Technology Officer", "c_suite")
    assert contact.linkedin_url == "https://www.linkedin.com/in/ada-lovelace"
    assert (contact.city, contact.country, contact.emails, contact.phones) == ("Lyon", "FR", (), ())
    assert contact.company is not None
    assert (contact.company.name, contact.company.domain) == ("Acme", "acme.com")


def test_an_email_has_its_person(httpserver: HTTPServer, prospeo: Prospeo) -> None:
    contact = call(httpserver, prospeo, record()).contact

    assert contact is not None
    assert (contact.full_name, contact.emails) == ("Ada Lovelace", ())


def test_all_values_of_a_company_are_parsed(httpserver: HTTPServer, prospeo: Prospeo) -> None:
    company = call(
        httpserver, prospeo, CannedResponse(body={"error": False, "company": COMPANY}), FOR_COMPANY
    ).company

    assert company is not None
    assert (company.name, company.domain, company.industry) == ("Acme", "acme.com", "Machinery")
    assert (company.headcount, company.city, company.country) == ("51-200", "Lyon", "FR")
    assert company.linkedin_url == "https://www.linkedin.com/company/acme"


@pytest.mark.parametrize("question", [FOR_EMAIL, FOR_PHONE, FOR_PERSON])
def test_a_person_with_few_values_is_not_an_error(
    httpserver: HTTPServer, prospeo: Prospeo, question: ProviderRequest
) -> None:
    response = CannedResponse(
        body={"error": False, "person": {"person_id": "a", "job_history": None}, "company": None}
    )

    reply = call(httpserver, prospeo, response, question)

    assert reply.outcome is TraceOutcome.MISS


@pytest.mark.parametrize("question", [FOR_EMAIL, FOR_PHONE, FOR_PERSON, FOR_COMPANY])
def test_success_without_the_requested_record_is_unexpected(
    httpserver: HTTPServer, prospeo: Prospeo, question: ProviderRequest
) -> None:
    with pytest.raises(UnexpectedResponse):
        call(httpserver, prospeo, CannedResponse(body={"error": False}), question)


def test_the_account_reports_the_remaining_credits(httpserver: HTTPServer, prospeo: Prospeo) -> None:
    server = httpserver.expect_request("/account-information", method="GET", headers={"X-KEY": "k"})
    server.respond_with_json(ACCOUNT)

    assert prospeo.check(seconds=3) == CredentialCheck(outcome=TraceOutcome.HIT, remaining={"credits": 99})


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (error(401, "INVALID_API_KEY"), TraceOutcome.UNCONFIGURED),
        (error(429, "RATE_LIMITED"), TraceOutcome.RATE_LIMITED),
        (error(400, "INTERNAL_ERROR"), TraceOutcome.ERROR),
        (NO_MATCH, TraceOutcome.ERROR),
    ],
)
def test_the_account_reports_why_the_key_does_not_work(
    httpserver: HTTPServer, prospeo: Prospeo, response: CannedResponse, outcome: TraceOutcome
) -> None:
    httpserver.expect_request("/account-information").respond_with_json(response.body, response.status)

    assert prospeo.check(seconds=3) == CredentialCheck(outcome=outcome)
