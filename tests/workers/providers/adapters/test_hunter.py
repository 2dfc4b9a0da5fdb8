from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hunter_recording import COMPANY, FINDER, PERSON, VERIFIER, error
from pytest_httpserver import HTTPServer
from vendor_recording import CannedResponse, people_request

from app.domain.findings import EmailStatus, FoundEmail
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.infra import clock
from app.settings import ProviderSettings
from workers.providers.base import (
    Pending,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    UnexpectedResponse,
)
from workers.providers.hunter import Hunter

KEY = "key-that-nobody-may-see"
ADA = Subject(full_name="Ada Lovelace", company_domain="acme.com")
PROFILE = Subject(linkedin_url="https://www.linkedin.com/in/ada-lovelace")
QUESTIONS = {
    ProviderField.EMAIL: ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",)),
    ProviderField.VERIFICATION: ProviderRequest(
        field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com")
    ),
    ProviderField.PERSON: ProviderRequest(field=ProviderField.PERSON, subject=PROFILE),
    ProviderField.COMPANY: ProviderRequest(
        field=ProviderField.COMPANY, subject=Subject(company_domain="acme.com")
    ),
}
SEARCH: dict[str, Any] = {
    "domain": "acme.com",
    "disposable": False,
    "webmail": False,
    "accept_all": True,
    "pattern": "{first}.{last}",
    "organization": "Acme",
    "country": "FR",
    "linked_domains": [],
    "emails": [
        {
            "value": "ada.lovelace@acme.com",
            "type": "personal",
            "confidence": 92,
            "sources": [],
            "first_name": "Ada",
            "last_name": "Lovelace",
            "position": "Support Engineer",
            "position_raw": "Support Engineer",
            "seniority": "senior",
            "department": "it",
            "linkedin": "https://www.linkedin.com/in/ada-lovelace",
            "twitter": None,
            "phone_number": None,
            "verification": {"date": "2026-06-10", "status": "accept_all"},
        },
        {"value": "contact@acme.com", "type": "generic", "first_name": "Acme", "last_name": "Team"},
        {"value": "someone@acme.com", "type": "personal", "first_name": None, "last_name": None},
    ],
}


@pytest.fixture
def hunter(httpserver: HTTPServer) -> Hunter:
    return Hunter(ProviderSettings(api_key=KEY, base_url=httpserver.url_for("/v2")))


def answer(
    hunter: Hunter,
    server: HTTPServer,
    question: ProviderRequest,
    response: CannedResponse,
    *,
    seconds: float = 8,
) -> Any:
    path = {
        ProviderField.EMAIL: "/v2/email-finder",
        ProviderField.VERIFICATION: "/v2/email-verifier",
        ProviderField.PERSON: "/v2/people/find",
        ProviderField.COMPANY: "/v2/companies/find",
    }[question.field]
    server.expect_request(path, method="GET", headers={"X-API-KEY": KEY}).respond_with_json(
        response.body, status=response.status, headers=dict(response.headers)
    )
    return hunter.call(question, seconds=seconds)


def sent(server: HTTPServer) -> dict[str, str]:
    ((request, _response),) = server.log
    return request.args.to_dict()


def found(reply: ProviderResponse) -> FoundEmail:
    (email,) = reply.emails
    return email


@pytest.mark.parametrize(
    ("subject", "parameters"),
    [
        (ADA, {"full_name": "Ada Lovelace", "domain": "acme.com"}),
        (
            Subject(first_name="Ada", last_name="Lovelace", company_domain="acme.com", company_name="Acme"),
            {"first_name": "Ada", "last_name": "Lovelace", "domain": "acme.com"},
        ),
        (
            Subject(full_name="Ada Lovelace", company_name="Acme"),
            {"full_name": "Ada Lovelace", "company": "Acme"},
        ),
        (PROFILE, {"linkedin_handle": "ada-lovelace"}),
        (
            Subject(full_name="Ada Lovelace", company_name="Acme", linkedin_url=PROFILE.linkedin_url),
            {"linkedin_handle": "ada-lovelace"},
        ),
        (
            Subject(full_name="Ada Lovelace", company_domain="acme.com", linkedin_url=PROFILE.linkedin_url),
            {"full_name": "Ada Lovelace", "domain": "acme.com"},
        ),
    ],
)
def test_the_strongest_identifiers_of_a_person_are_sent(
    hunter: Hunter, httpserver: HTTPServer, subject: Subject, parameters: dict[str, str]
) -> None:
    question = ProviderRequest(field=ProviderField.EMAIL, subject=subject, types=("work",))

    answer(hunter, httpserver, question, CannedResponse(body=FINDER))

    assert sent(httpserver) == {**parameters, "max_duration": "7"}


@pytest.mark.parametrize(("seconds", "duration"), [(8, "7"), (1.5, "3"), (60, "20")])
def test_the_maximum_duration_is_shorter_than_the_timeout(
    hunter: Hunter, httpserver: HTTPServer, seconds: float, duration: str
) -> None:
    answer(hunter, httpserver, QUESTIONS[ProviderField.EMAIL], CannedResponse(body=FINDER), seconds=seconds)

    assert sent(httpserver)["max_duration"] == duration


@pytest.mark.parametrize(
    ("question", "parameters"),
    [
        (QUESTIONS[ProviderField.VERIFICATION], {"email": "ada@acme.com"}),
        (QUESTIONS[ProviderField.COMPANY], {"domain": "acme.com"}),
        (QUESTIONS[ProviderField.PERSON], {"linkedin_handle": "ada-lovelace"}),
        (
            ProviderRequest(field=ProviderField.PERSON, subject=Subject(email="ada@acme.com")),
            {"email": "ada@acme.com"},
        ),
    ],
)
def test_other_requests_send_only_their_identifier(
    hunter: Hunter, httpserver: HTTPServer, question: ProviderRequest, parameters: dict[str, str]
) -> None:
    answer(hunter, httpserver, question, CannedResponse(body={"data": {"status": "unknown"}}))

    assert sent(httpserver) == parameters


@pytest.mark.parametrize(
    ("question", "takes"),
    [
        (ProviderRequest(field=ProviderField.EMAIL, subject=ADA), True),
        (ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work", "personal")), True),
        (ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("personal",)), False),
        (ProviderRequest(field=ProviderField.EMAIL, subject=PROFILE, types=("work",)), True),
        (
            ProviderRequest(
                field=ProviderField.EMAIL, subject=Subject(full_name="Ada Lovelace"), types=("work",)
            ),
            False,
        ),
        (
            ProviderRequest(
                field=ProviderField.EMAIL, subject=Subject(email="ada@acme.com"), types=("work",)
            ),
            False,
        ),
        (ProviderRequest(field=ProviderField.PERSON, subject=ADA), False),
        (ProviderRequest(field=ProviderField.COMPANY, subject=Subject(company_name="Acme")), False),
        (ProviderRequest(field=ProviderField.VERIFICATION, subject=ADA), False),
        (ProviderRequest(field=ProviderField.PHONE, subject=PROFILE), False),
    ],
)
def test_a_request_needs_identifiers_that_hunter_supports(
    hunter: Hunter, question: ProviderRequest, *, takes: bool
) -> None:
    assert hunter.unavailability(question) is (None if takes else TraceOutcome.INELIGIBLE)


@pytest.mark.parametrize(
    ("word", "status", "reasons"),
    [
        ("valid", EmailStatus.VALID, ()),
        ("accept_all", EmailStatus.ACCEPT_ALL, ()),
        ("invalid", EmailStatus.INVALID, ()),
        ("webmail", EmailStatus.RISKY, ("webmail",)),
        ("disposable", EmailStatus.RISKY, ("disposable",)),
        ("unknown", EmailStatus.UNKNOWN, ()),
        ("something new", EmailStatus.UNKNOWN, ()),
        (None, EmailStatus.UNKNOWN, ()),
    ],
)
def test_a_found_address_has_the_status_of_its_verification(
    hunter: Hunter, httpserver: HTTPServer, word: str | None, status: EmailStatus, reasons: tuple[str, ...]
) -> None:
    body = {"data": FINDER["data"] | {"verification": {"date": "2026-06-10", "status": word}}}

    reply = answer(hunter, httpserver, QUESTIONS[ProviderField.EMAIL], CannedResponse(body=body))

    is_verified = status in {EmailStatus.VALID, EmailStatus.ACCEPT_ALL, EmailStatus.INVALID}
    assert (found(reply).status, found(reply).reasons, found(reply).confidence) == (status, reasons, 0.97)
    assert found(reply).verified_at == (datetime(2026, 6, 10, tzinfo=UTC) if is_verified else None)


@pytest.mark.parametrize("date", [None, "someday", "2999-01-01"])
def test_a_verification_without_a_valid_date_has_the_current_time(
    hunter: Hunter, httpserver: HTTPServer, date: str | None
) -> None:
    body = {"data": FINDER["data"] | {"verification": {"date": date, "status": "valid"}}}
    before = clock.now()

    reply = answer(hunter, httpserver, QUESTIONS[ProviderField.EMAIL], CannedResponse(body=body))

    verified_at = found(reply).verified_at
    assert verified_at is not None
    assert before <= verified_at <= clock.now()


def test_an_address_has_the_job_in_its_response(hunter: Hunter, httpserver: HTTPServer) -> None:
    reply = answer(hunter, httpserver, QUESTIONS[ProviderField.EMAIL], CannedResponse(body=FINDER))

    contact = reply.contact
    assert (contact.full_name, contact.title, contact.linkedin_url, contact.emails) == (
        "Ada Lovelace",
        "Chief Technology Officer",
        "https://www.linkedin.com/in/ada-lovelace",
        (),
    )
    assert (contact.company.name, contact.company.domain) == ("Acme", "acme.com")


def test_an_address_of_another_type_is_a_paid_miss(hunter: Hunter, httpserver: HTTPServer) -> None:
    body = {"data": FINDER["data"] | {"email": "ada@gmail.com"}}

    reply = answer(hunter, httpserver, QUESTIONS[ProviderField.EMAIL], CannedResponse(body=body))

    assert (reply.outcome, reply.emails, reply.cost) == (TraceOutcome.MISS, (), 1)


@pytest.mark.parametrize("data", [{"email": "ada@acme.com"}, FINDER["data"] | {"unheard_of": {"a": [1]}}])
def test_missing_optional_and_unknown_values_are_ignored(
    hunter: Hunter, httpserver: HTTPServer, data: dict[str, Any]
) -> None:
    reply = answer(hunter, httpserver, QUESTIONS[ProviderField.EMAIL], CannedResponse(body={"data": data}))

    assert reply.outcome is TraceOutcome.HIT


@pytest.mark.parametrize(
    ("word", "verdict", "cost"),
    [
        ("valid", (EmailStatus.VALID, ()), 1),
        ("accept_all", (EmailStatus.ACCEPT_ALL, ()), 1),
        ("invalid", (EmailStatus.INVALID, ()), 1),
        ("webmail", (EmailStatus.RISKY, ("webmail",)), 0),
        ("disposable", (EmailStatus.RISKY, ("disposable",)), 0),
    ],
)
def test_a_verdict_costs_what_hunter_charges_for(
    hunter: Hunter,
    httpserver: HTTPServer,
    word: str,
    verdict: tuple[EmailStatus, tuple[str, ...]],
    cost: float,
) -> None:
    body = {"data": VERIFIER["data"] | {"status": word, "score": 50}}

    reply = answer(hunter, httpserver, QUESTIONS[ProviderField.VERIFICATION], CannedResponse(body=body))

    assert found(reply).email == "ada@acme.com"
    assert (found(reply).status, found(reply).reasons) == verdict
    assert (found(reply).confidence, reply.cost) == (0.5, cost)
    assert (found(reply).verified_at is not None) == (cost == 1)


@pytest.mark.parametrize("word", ["unknown", "something new"])
def test_an_undecided_verdict_is_a_miss(hunter: Hunter, httpserver: HTTPServer, word: str) -> None:
    body = {"data": VERIFIER["data"] | {"status": word}}

    reply = answer(hunter, httpserver, QUESTIONS[ProviderField.VERIFICATION], CannedResponse(body=body))

    assert reply == ProviderResponse(outcome=TraceOutcome.MISS)


def test_flags_of_a_verdict_become_reasons(hunter: Hunter, httpserver: HTTPServer) -> None:
    signs = {"status": "invalid", "disposable": True, "webmail": None, "mx_records": False}

    reply = answer(
        hunter,
        httpserver,
        QUESTIONS[ProviderField.VERIFICATION],
        CannedResponse(body={"data": VERIFIER["data"] | signs}),
    )

    assert found(reply).reasons == ("disposable", "no_mx")


@pytest.mark.parametrize(
    ("ticket", "pending"),
    [
        (None, Pending("1", 2)),
        ("1", Pending("2", 4)),
        ("2", Pending("3", 8)),
        ("7", Pending("8", 30)),
        ("12345", Pending("12346", 30)),
        ("what?", Pending("1", 2)),
    ],
)
def test_an_unfinished_verification_is_polled_with_growing_delays(
    hunter: Hunter, httpserver: HTTPServer, ticket: str | None, pending: Pending
) -> None:
    question = ProviderRequest(
        field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com"), poll_token=ticket
    )

    reply = answer(hunter, httpserver, question, CannedResponse(status=202, body={"data": {}}))

    assert reply == pending
    assert sent(httpserver) == {"email": "ada@acme.com"}


def test_an_unexpected_mail_server_reply_is_a_retryable_error(hunter: Hunter, httpserver: HTTPServer) -> None:
    response = CannedResponse(status=222, body=error(222, "smtp_error", "Retry later.").body)

    reply = answer(hunter, httpserver, QUESTIONS[ProviderField.VERIFICATION], response)

    assert reply == ProviderResponse(outcome=TraceOutcome.ERROR)


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (error(400, "wrong_params", "You are missing the domain parameter"), TraceOutcome.ERROR),
        (error(400, "invalid_domain", "The domain has no MX record."), TraceOutcome.MISS),
        (error(400, "invalid_email", "The email is invalid."), TraceOutcome.MISS),
        (error(400, "invalid_first_name", "The first name is invalid."), TraceOutcome.INELIGIBLE),
        (error(400, "invalid_last_name", "The last name is invalid."), TraceOutcome.INELIGIBLE),
        (error(400, "invalid_full_name", "The full name is invalid."), TraceOutcome.INELIGIBLE),
        (error(400, "invalid_max_duration", "Between 3 and 20."), TraceOutcome.ERROR),
        (error(401, "authentication_failed", "No user found for the API key"), TraceOutcome.UNCONFIGURED),
        (error(402, "payment_required", "No credits."), TraceOutcome.NO_CREDITS),
        (error(403, "too_many_requests", "You have reached the rate limit."), TraceOutcome.RATE_LIMITED),
        (error(403, "restricted_account", "Your account is restricted."), TraceOutcome.UNCONFIGURED),
        (error(403, "forbidden", "This account has been blocked."), TraceOutcome.UNCONFIGURED),
        (error(404, "not_found", "No such resource."), TraceOutcome.MISS),
        (error(422, "invalid", "It could not be made."), TraceOutcome.ERROR),
        (
            error(
                429,
                "too_many_requests",
                "You've reached the limit for the number of searches per billing period",
            ),
            TraceOutcome.NO_CREDITS,
        ),
        (error(429, "too_many_requests", "You have no credits left."), TraceOutcome.NO_CREDITS),
        (error(429, "usage_limit", "You've reached your usage limit; upgrade."), TraceOutcome.NO_CREDITS),
        (error(429, "too_many_requests", "Too many requests."), TraceOutcome.NO_CREDITS),
        (error(429, "too_many_requests", "Slow down."), TraceOutcome.RATE_LIMITED),
        (error(451, "claimed_email", "The owner asked us to stop."), TraceOutcome.SUPPRESSED),
        (error(403, "claimed_email", "The owner asked us to stop."), TraceOutcome.SUPPRESSED),
        (error(500, "server_error", "Something went wrong."), TraceOutcome.ERROR),
    ],
)
@pytest.mark.parametrize("field", list(QUESTIONS))
def test_every_hunter_error_has_its_outcome(
    hunter: Hunter,
    httpserver: HTTPServer,
    field: ProviderField,
    response: CannedResponse,
    outcome: TraceOutcome,
) -> None:
    reply = answer(hunter, httpserver, QUESTIONS[field], response)

    assert reply == ProviderResponse(outcome=outcome)


@pytest.mark.parametrize(
    "errors", [{"id": "claimed_email", "code": 451}, [{"id": "claimed_email"}], [], {}, None, ["451"]]
)
def test_an_error_is_parsed_from_a_list_or_an_object(
    hunter: Hunter, httpserver: HTTPServer, errors: Any
) -> None:
    reply = answer(
        hunter,
        httpserver,
        QUESTIONS[ProviderField.EMAIL],
        CannedResponse(status=451, body={"errors": errors}),
    )

    assert reply == ProviderResponse(outcome=TraceOutcome.SUPPRESSED)


def test_a_person_has_a_job_and_a_company(hunter: Hunter, httpserver: HTTPServer) -> None:
    reply = answer(hunter, httpserver, QUESTIONS[ProviderField.PERSON], CannedResponse(body=PERSON))

    contact = reply.contact
    assert (contact.full_name, contact.first_name, contact.last_name) == ("Ada Lovelace", "Ada", "Lovelace")
    assert (contact.title, contact.seniority, contact.department) == (
        "Chief Technology Officer",
        "executive",
        "engineering",
    )
    assert (contact.linkedin_url, contact.city, contact.country) == (
        "https://www.linkedin.com/in/ada-lovelace",
        "Lyon",
        "FR",
    )
    assert (contact.company.name, contact.company.domain, reply.emails, reply.phones) == (
        "Acme",
        "acme.com",
        (),
        (),
    )


def test_a_company_is_parsed(hunter: Hunter, httpserver: HTTPServer) -> None:
    company = answer(
        hunter, httpserver, QUESTIONS[ProviderField.COMPANY], CannedResponse(body=COMPANY)
    ).company

    assert (company.name, company.domain, company.linkedin_url, company.industry) == (
        "Acme",
        "acme.com",
        "https://www.linkedin.com/company/acme",
        "Machinery",
    )
    assert (company.headcount, company.city, company.country) == ("51-200", "Lyon", "FR")


@pytest.mark.parametrize(
    ("metrics", "headcount"),
    [
        ({"employees": 120, "employeesRange": None}, "51-200"),
        ({"employees": 120, "employeesRange": "201-500"}, "201-500"),
        ({"employees": None}, None),
        (None, None),
    ],
)
def test_employees_may_have_clearbits_format(
    hunter: Hunter, httpserver: HTTPServer, metrics: Any, headcount: str | None
) -> None:
    data = COMPANY["data"] | {
        "metrics": metrics,
        "linkedin": {"handle": "acme"},
        "geo": {"country": "France"},
    }

    company = answer(
        hunter, httpserver, QUESTIONS[ProviderField.COMPANY], CannedResponse(body={"data": data})
    ).company

    assert (company.headcount, company.linkedin_url, company.country) == (
        headcount,
        "https://www.linkedin.com/company/acme",
        "FR",
    )


@pytest.mark.parametrize("field", [ProviderField.EMAIL, ProviderField.PERSON, ProviderField.COMPANY])
@pytest.mark.parametrize("data", [None, {}])
def test_an_empty_record_is_a_miss(
    hunter: Hunter, httpserver: HTTPServer, field: ProviderField, data: Any
) -> None:
    assert answer(
        hunter, httpserver, QUESTIONS[field], CannedResponse(body={"data": data})
    ) == ProviderResponse(outcome=TraceOutcome.MISS)


@pytest.mark.parametrize("field", list(QUESTIONS))
def test_a_response_without_data_is_unexpected(
    hunter: Hunter, httpserver: HTTPServer, field: ProviderField
) -> None:
    with pytest.raises(UnexpectedResponse):
        answer(hunter, httpserver, QUESTIONS[field], CannedResponse(body={"meta": {}}))


def search(hunter: Hunter, server: HTTPServer, response: CannedResponse, **criteria: Any) -> ProviderResponse:
    server.expect_request("/v2/domain-search", headers={"X-API-KEY": KEY}).respond_with_json(
        response.body, status=response.status
    )
    request = people_request(**({"titles": (), "seniorities": (), "countries": ()} | criteria))
    reply = hunter.call(request, seconds=3)
    assert isinstance(reply, ProviderResponse)
    return reply


def test_a_search_returns_people_with_addresses(hunter: Hunter, httpserver: HTTPServer) -> None:
    reply = search(hunter, httpserver, CannedResponse(body={"data": SEARCH, "meta": {"results": 3}}))

    (contact,) = reply.people
    (email,) = contact.emails
    assert sent(httpserver) == {"domain": "acme.com", "limit": "10", "type": "personal"}
    assert (contact.full_name, contact.title, contact.department) == (
        "Ada Lovelace",
        "Support Engineer",
        "information_technology",
    )
    assert (email.email, email.status, email.confidence, email.verified_at) == (
        "ada.lovelace@acme.com",
        EmailStatus.ACCEPT_ALL,
        0.92,
        datetime(2026, 6, 10, tzinfo=UTC),
    )
    assert contact.company is not None
    assert (contact.company.name, contact.company.domain) == ("Acme", "acme.com")


def test_a_search_by_name_sends_no_website(hunter: Hunter, httpserver: HTTPServer) -> None:
    body = {"data": SEARCH}

    search(hunter, httpserver, CannedResponse(body=body), company_domain=None, company_name="Acme")

    assert sent(httpserver) == {"company": "Acme", "limit": "10", "type": "personal"}


@pytest.mark.parametrize(("count", "cost"), [(0, 0), (1, 1), (10, 1), (11, 2), (100, 10)])
def test_a_search_costs_a_credit_for_every_ten_addresses(
    hunter: Hunter, httpserver: HTTPServer, count: int, cost: int
) -> None:
    lines = [SEARCH["emails"][0] | {"value": f"ada{number}@acme.com"} for number in range(count)]

    reply = search(hunter, httpserver, CannedResponse(body={"data": SEARCH | {"emails": lines}}))

    assert (len(reply.people), reply.cost) == (min(count, 10), cost)
    assert reply.outcome is (TraceOutcome.HIT if count else TraceOutcome.MISS)
    assert reply.has_more is (count >= 10)


def test_a_search_can_be_refused(hunter: Hunter, httpserver: HTTPServer) -> None:
    reply = search(hunter, httpserver, error(429, "too_many_requests", "per billing period"))

    assert reply == ProviderResponse(outcome=TraceOutcome.NO_CREDITS)


@pytest.mark.parametrize(
    ("requests", "remaining"),
    [
        (
            {
                "searches": {"used": 500, "available": 10000},
                "verifications": {"used": 20, "available": 10},
                "credits": {"used": 0.5, "available": 100.0},
            },
            {"searches": 9500, "verifications": 0, "credits": 99.5},
        ),
        ({"searches": {"available": 25}, "verifications": None, "note": "text"}, {"searches": 25}),
        (None, {}),
    ],
)
def test_a_check_reports_the_balance_of_every_pool(
    hunter: Hunter, httpserver: HTTPServer, requests: Any, remaining: dict[str, float]
) -> None:
    body = {"data": {"plan_name": "Growth", "requests": requests, "calls": {"used": 1, "available": 2}}}
    httpserver.expect_request("/v2/account", headers={"X-API-KEY": KEY}).respond_with_json(body)

    check = hunter.check(seconds=3)

    assert (check.outcome, dict(check.remaining)) == (TraceOutcome.HIT, remaining)


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (error(401, "authentication_failed", "No user"), TraceOutcome.UNCONFIGURED),
        (error(403, "too_many_requests", "Rate limit"), TraceOutcome.RATE_LIMITED),
        (error(404, "not_found", "No such resource."), TraceOutcome.ERROR),
        (error(500, "server_error", "Something went wrong."), TraceOutcome.ERROR),
    ],
)
def test_a_check_reports_why_the_key_does_not_work(
    hunter: Hunter, httpserver: HTTPServer, response: CannedResponse, outcome: TraceOutcome
) -> None:
    httpserver.expect_request("/v2/account").respond_with_json(response.body, status=response.status)

    assert hunter.check(seconds=3).outcome is outcome
