from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from rocketreach_recording import ADA, COMPANY, ID, IN_PROGRESS, MOBILE, OWN, PROFILE, WORK
from vendor_recording import POLL_OUTCOMES

from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.providers.base import (
    CredentialCheck,
    Pending,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    UnexpectedResponse,
)
from workers.providers.rocketreach import RocketReach

EMAIL = ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",))
PHONE = ProviderRequest(field=ProviderField.PHONE, subject=ADA)
PERSON = ProviderRequest(field=ProviderField.PERSON, subject=ADA)
LOOKUP = "/person/lookup"
STATUS = "/person/checkStatus"


@pytest.fixture
def rocketreach(httpserver: HTTPServer) -> RocketReach:
    return RocketReach(ProviderSettings(api_key="the-key", base_url=httpserver.url_for("/")))


def knows(server: HTTPServer, **changes: Any) -> None:
    server.expect_request(LOOKUP, "GET").respond_with_json(PROFILE | changes)


def look_up(rocketreach: RocketReach, request: ProviderRequest = EMAIL) -> ProviderResponse:
    reply = rocketreach.call(request, seconds=3)
    assert isinstance(reply, ProviderResponse)
    return reply


@pytest.mark.parametrize(
    ("subject", "sent"),
    [
        (
            Subject(
                linkedin_url=ADA.linkedin_url,
                email="ada@acme.com",
                full_name="Ada Lovelace",
                company_name="Acme",
            ),
            {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"},
        ),
        (Subject(email="ada@acme.com", full_name="Ada Lovelace"), {"email": "ada@acme.com"}),
        (
            Subject(first_name="Ada", last_name="Lovelace", company_name="Acme", company_domain="acme.com"),
            {"name": "Ada Lovelace", "current_employer": "Acme"},
        ),
        (
            Subject(full_name="Ada Lovelace", company_domain="acme.com"),
            {"name": "Ada Lovelace", "current_employer": "acme.com"},
        ),
        (Subject(phone="+33639980001"), {"phone": "+33639980001"}),
    ],
)
@pytest.mark.parametrize(
    ("field", "lookup_type"),
    [(ProviderField.EMAIL, "standard"), (ProviderField.PHONE, "phone"), (ProviderField.PERSON, "enrich")],
)
def test_one_identifier_and_the_requested_pool_are_sent(
    *,
    httpserver: HTTPServer,
    rocketreach: RocketReach,
    subject: Subject,
    sent: dict[str, str],
    field: ProviderField,
    lookup_type: str,
) -> None:
    knows(httpserver)

    rocketreach.call(ProviderRequest(field=field, subject=subject), seconds=3)

    request, _response = httpserver.log[0]
    assert request.args.to_dict() == sent | {"lookup_type": lookup_type, "return_cached_emails": "false"}
    assert request.headers["Api-Key"] == "the-key"


@pytest.mark.parametrize("status", ["progress", "searching", "not queued"])
def test_an_incomplete_lookup_is_polled(
    httpserver: HTTPServer, rocketreach: RocketReach, status: str
) -> None:
    knows(httpserver, status=status, emails=None)

    assert rocketreach.call(EMAIL, seconds=3) == Pending(str(ID), 3)


def test_a_lookup_is_polled_by_id_and_returns_a_list(
    httpserver: HTTPServer, rocketreach: RocketReach
) -> None:
    others = PROFILE | {"id": 1, "emails": [OWN]}
    httpserver.expect_request(STATUS, "GET", query_string={"ids": str(ID)}).respond_with_json(
        [others, PROFILE]
    )

    reply = look_up(rocketreach, replace(EMAIL, poll_token=str(ID)))

    assert [value.email for value in reply.emails] == ["ada.lovelace@acme.com"]


@pytest.mark.parametrize("body", [[], [PROFILE | {"id": 1}], {"detail": "…"}, ["ada"], 7])
def test_a_status_without_the_profile_is_unexpected(
    httpserver: HTTPServer, rocketreach: RocketReach, body: Any
) -> None:
    httpserver.expect_request(STATUS).respond_with_json(body)

    with pytest.raises(UnexpectedResponse):
        rocketreach.call(replace(EMAIL, poll_token=str(ID)), seconds=3)


@pytest.mark.parametrize(
    ("status", "headers", "after"), [(429, {"Retry-After": "7"}, 7), (429, {}, 3), (503, {}, 3)]
)
def test_a_paid_lookup_survives_a_temporary_error(
    httpserver: HTTPServer, rocketreach: RocketReach, status: int, headers: dict[str, str], after: float
) -> None:
    httpserver.expect_request(STATUS).respond_with_json({"detail": "…"}, status, headers)

    assert rocketreach.call(replace(EMAIL, poll_token=str(ID)), seconds=3) == Pending(
        str(ID), after, POLL_OUTCOMES[status]
    )


def test_a_lookup_unknown_to_the_vendor_is_an_error_and_not_a_miss(
    httpserver: HTTPServer, rocketreach: RocketReach
) -> None:
    httpserver.expect_request(STATUS).respond_with_json({"detail": "Not found."}, 404)

    assert look_up(rocketreach, replace(EMAIL, poll_token=str(ID))) == ProviderResponse(
        outcome=TraceOutcome.ERROR
    )


def test_a_person_is_returned_before_the_lookup_is_complete(
    httpserver: HTTPServer, rocketreach: RocketReach
) -> None:
    httpserver.expect_request(LOOKUP).respond_with_json(IN_PROGRESS.body)

    contact = look_up(rocketreach, PERSON).contact

    assert contact is not None
    assert contact.company is not None
    assert (contact.full_name, contact.title) == ("Ada Lovelace", "Chief Technology Officer")
    assert (contact.seniority, contact.department) == ("c_suite", "engineering")
    assert (contact.city, contact.country) == ("Lyon", "FR")
    assert (contact.company.name, contact.company.domain) == ("Acme", "acme.com")
    assert (contact.emails, contact.phones) == ((), ())


@pytest.mark.parametrize(
    ("smtp_valid", "status"),
    [
        ("valid", EmailStatus.VALID),
        ("invalid", EmailStatus.INVALID),
        ("accept-all", EmailStatus.ACCEPT_ALL),
        ("unknown", EmailStatus.UNKNOWN),
        (None, EmailStatus.UNKNOWN),
        ("something new", EmailStatus.UNKNOWN),
    ],
)
def test_every_smtp_result_maps_to_a_status(
    httpserver: HTTPServer, rocketreach: RocketReach, smtp_valid: str | None, status: EmailStatus
) -> None:
    knows(httpserver, emails=[WORK | {"smtp_valid": smtp_valid}])

    (email,) = look_up(rocketreach).emails

    assert email.status is status
    assert (email.verified_at is None) is (status is EmailStatus.UNKNOWN)


@pytest.mark.parametrize(
    ("label", "kind", "reasons"),
    [
        ("professional", "work", ()),
        ("personal", "personal", ()),
        ("role-based", "work", ("role",)),
        ("disposable", "work", ("disposable",)),
        (None, "work", ()),
    ],
)
def test_every_email_type_is_mapped(
    httpserver: HTTPServer,
    rocketreach: RocketReach,
    label: str | None,
    kind: str,
    reasons: tuple[str, ...],
) -> None:
    knows(httpserver, emails=[WORK | {"type": label}])

    (email,) = look_up(rocketreach, replace(EMAIL, types=())).emails

    assert (email.type, email.reasons) == (kind, reasons)


def test_an_email_has_the_time_of_its_last_check_but_never_a_future_one(
    httpserver: HTTPServer, rocketreach: RocketReach
) -> None:
    later = WORK | {"email": "ada@acme.com", "last_validation_check": "2999-01-01T00:00:00Z"}
    knows(httpserver, emails=[WORK, later])

    first, second = look_up(rocketreach).emails

    assert first.verified_at == datetime(2026, 10, 2, 12, tzinfo=UTC)
    assert second.verified_at is not None
    assert second.verified_at <= datetime.now(UTC)


def test_the_recommended_address_comes_first(httpserver: HTTPServer, rocketreach: RocketReach) -> None:
    knows(httpserver, emails=[WORK | {"email": "old@northwind.example"}, WORK])

    reply = look_up(rocketreach)

    assert [value.email for value in reply.emails] == ["ada.lovelace@acme.com", "old@northwind.example"]


@pytest.mark.parametrize(
    ("emails", "reply"),
    [
        ([OWN | {"grade": "A-"}], ProviderResponse(outcome=TraceOutcome.MISS, cost=1)),
        ([OWN | {"grade": None}], ProviderResponse(outcome=TraceOutcome.MISS, cost=1)),
        ([OWN | {"grade": "B"}], ProviderResponse(outcome=TraceOutcome.MISS, cost=0)),
        ([], ProviderResponse(outcome=TraceOutcome.MISS, cost=0)),
        (None, ProviderResponse(outcome=TraceOutcome.MISS, cost=0)),
    ],
)
def test_emails_of_another_type_are_a_miss_at_the_price_of_their_grade(
    httpserver: HTTPServer,
    rocketreach: RocketReach,
    emails: list[dict[str, Any]] | None,
    reply: ProviderResponse,
) -> None:
    knows(httpserver, emails=emails)

    assert look_up(rocketreach) == reply


@pytest.mark.parametrize(
    ("label", "grade", "kind", "status"),
    [
        ("mobile", "A", "mobile", "valid"),
        ("direct dial", "A-", "direct", "valid"),
        ("other", "B", "other", "unknown"),
        ("unknown", None, "other", "unknown"),
    ],
)
def test_every_phone_type_and_grade_is_mapped(
    *,
    httpserver: HTTPServer,
    rocketreach: RocketReach,
    label: str,
    grade: str | None,
    kind: str,
    status: str,
) -> None:
    knows(httpserver, phones=[MOBILE | {"type": label, "grade": grade, "extension": "12"}])

    (phone,) = look_up(rocketreach, PHONE).phones

    assert (phone.type, phone.status, phone.extension) == (kind, status, "12")
    assert (phone.verified_at is not None) is (status == "valid")


def test_the_recommended_phone_comes_first_and_one_without_e164_is_parsed(
    httpserver: HTTPServer, rocketreach: RocketReach
) -> None:
    other = MOBILE | {"e164": None, "number": "+1 202-555-0143", "recommended": False}
    knows(httpserver, phones=[other, MOBILE])

    reply = look_up(rocketreach, PHONE)

    assert [value.e164 for value in reply.phones] == ["+33639980001", "+12025550143"]


@pytest.mark.parametrize(
    ("subject", "sent"),
    [
        (Subject(company_domain="acme.com", company_name="Acme"), {"domain": "acme.com"}),
        (Subject(company_name="Acme"), {"name": "Acme"}),
    ],
)
def test_a_company_is_requested_by_its_domain_rather_than_its_name(
    httpserver: HTTPServer, rocketreach: RocketReach, subject: Subject, sent: dict[str, str]
) -> None:
    httpserver.expect_request("/company/lookup/", "GET", query_string=sent).respond_with_json(COMPANY)

    company = look_up(rocketreach, ProviderRequest(field=ProviderField.COMPANY, subject=subject)).company

    assert company is not None
    assert (company.name, company.domain, company.headcount) == ("Acme", "acme.com", "51-200")
    assert (company.linkedin_url, company.industry) == (
        "https://www.linkedin.com/company/acme",
        "Machinery",
    )
    assert (company.city, company.country) == ("Lyon", "FR")


@pytest.mark.parametrize(
    ("status", "detail", "outcome"),
    [
        (404, "No match.", TraceOutcome.MISS),
        (402, "You have no credits left.", TraceOutcome.NO_CREDITS),
        (403, "You have run out of lookups.", TraceOutcome.NO_CREDITS),
        (403, "API Key lacks permission to perform this action.", TraceOutcome.UNCONFIGURED),
        (401, "Invalid API key", TraceOutcome.UNCONFIGURED),
        (400, "Specify one of …", TraceOutcome.ERROR),
        (500, "Oops", TraceOutcome.ERROR),
    ],
)
def test_every_error_has_its_outcome(
    httpserver: HTTPServer, rocketreach: RocketReach, status: int, detail: str, outcome: TraceOutcome
) -> None:
    httpserver.expect_request(LOOKUP).respond_with_json({"detail": detail}, status)

    assert look_up(rocketreach) == ProviderResponse(outcome=outcome)


@pytest.mark.parametrize(
    ("status", "body", "check"),
    [
        (
            200,
            {
                "credit_usage": [
                    {"credit_type": "standard_lookup", "allocated": 100, "used": 3, "remaining": 97},
                    {"credit_type": "person_search", "allocated": "inf", "used": 3, "remaining": "inf"},
                    {"credit_type": "phone_lookup"},
                ]
            },
            CredentialCheck(
                outcome=TraceOutcome.HIT, remaining={"standard_lookup": 97, "person_search": inf}
            ),
        ),
        (200, {}, CredentialCheck(outcome=TraceOutcome.HIT)),
        (401, {"detail": "Invalid API key"}, CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)),
        (403, {"detail": "Forbidden"}, CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)),
    ],
)
def test_the_check_reports_the_balance_of_each_credit_type(
    httpserver: HTTPServer,
    rocketreach: RocketReach,
    status: int,
    body: dict[str, Any],
    check: CredentialCheck,
) -> None:
    httpserver.expect_request("/account/", "GET").respond_with_json(body, status)

    assert rocketreach.check(seconds=3) == check
