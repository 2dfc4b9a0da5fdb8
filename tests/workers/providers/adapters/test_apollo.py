from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from apollo_recording import (
    ADA,
    NUMBER,
    ORGANIZATION,
    PENDING,
    PERSON,
    REQUEST_ID,
    matched,
    result,
)
from pytest_httpserver import HTTPServer
from vendor_recording import POLL_OUTCOMES, CannedResponse

from app.domain.findings import EmailStatus, FoundPhone
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.providers.apollo import Apollo
from workers.providers.base import (
    CredentialCheck,
    Pending,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    UnexpectedResponse,
)

EMAIL = ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",))
PHONE = ProviderRequest(field=ProviderField.PHONE, subject=ADA)
MATCH = "/people/match"
TICKET = str(REQUEST_ID)
RESULT = f"/webhook_result/{TICKET}"


@pytest.fixture
def apollo(httpserver: HTTPServer) -> Apollo:
    return Apollo(ProviderSettings(api_key="the-key", base_url=httpserver.url_for("/")))


def comes(server: HTTPServer, response: CannedResponse, path: str = MATCH) -> None:
    server.expect_request(path).respond_with_json(response.body, response.status, response.headers)


def asked(apollo: Apollo, request: ProviderRequest = EMAIL) -> ProviderResponse:
    reply = apollo.call(request, seconds=3)
    assert isinstance(reply, ProviderResponse)
    return reply


def number(apollo: Apollo, server: HTTPServer, **changes: Any) -> FoundPhone:
    comes(server, result(NUMBER | changes, credits_consumed=9), RESULT)
    (found,) = asked(apollo, replace(PHONE, poll_token=TICKET)).phones
    return found


@pytest.mark.parametrize(
    ("provider_request", "switches"),
    [
        (EMAIL, {}),
        (replace(EMAIL, types=("personal",)), {"reveal_personal_emails": "true"}),
        (replace(EMAIL, types=("work", "personal")), {"reveal_personal_emails": "true"}),
        (PHONE, {"reveal_phone_number": "true", "webhook_url": "https://apollo.invalid/"}),
        (ProviderRequest(field=ProviderField.PERSON, subject=ADA), {}),
    ],
)
def test_the_query_has_the_identifiers_and_only_the_requested_reveal(
    httpserver: HTTPServer, apollo: Apollo, provider_request: ProviderRequest, switches: dict[str, str]
) -> None:
    httpserver.expect_request(MATCH, "POST").respond_with_json(matched().body)

    apollo.call(provider_request, seconds=3)

    request, _response = httpserver.log[0]
    assert request.headers["x-api-key"] == "the-key"
    assert request.get_data() == b""
    assert request.args.to_dict() == switches | {
        "first_name": "Ada",
        "last_name": "Lovelace",
        "domain": "acme.com",
        "linkedin_url": "https://www.linkedin.com/in/ada-lovelace",
    }


def test_full_name_email_and_company_name_are_sent_unchanged(httpserver: HTTPServer, apollo: Apollo) -> None:
    comes(httpserver, matched())
    subject = Subject(full_name="Ada Lovelace", email="ada@acme.com", company_name="Acme")

    apollo.call(replace(EMAIL, subject=subject), seconds=3)

    assert httpserver.log[0][0].args.to_dict() == {
        "name": "Ada Lovelace",
        "email": "ada@acme.com",
        "organization_name": "Acme",
    }


@pytest.mark.parametrize(
    ("email_status", "status", "reasons", "is_verified"),
    [
        ("verified", EmailStatus.VALID, (), True),
        ("unverified", EmailStatus.RISKY, (), False),
        ("extrapolated", EmailStatus.RISKY, ("guessed",), False),
        ("guessed", EmailStatus.RISKY, ("guessed",), False),
        ("bounced", EmailStatus.INVALID, (), True),
        ("pending", EmailStatus.UNKNOWN, (), False),
        ("something_new", EmailStatus.UNKNOWN, (), False),
        (None, EmailStatus.UNKNOWN, (), False),
    ],
)
def test_every_vendor_status_maps_to_a_status(
    *,
    httpserver: HTTPServer,
    apollo: Apollo,
    email_status: str | None,
    status: EmailStatus,
    reasons: tuple[str, ...],
    is_verified: bool,
) -> None:
    comes(httpserver, matched(email_status=email_status))

    (email,) = asked(apollo).emails

    assert (email.status, email.reasons) == (status, reasons)
    assert (email.verified_at is not None) is is_verified


def test_a_valid_address_at_a_catch_all_domain_is_accept_all(httpserver: HTTPServer, apollo: Apollo) -> None:
    comes(httpserver, matched(email_domain_catchall=True))

    assert asked(apollo).emails[0].status is EmailStatus.ACCEPT_ALL


@pytest.mark.parametrize(("confidence_value", "confidence"), [(0.82, 0.82), (None, None), (82, None)])
def test_an_extrapolated_address_has_its_confidence(
    httpserver: HTTPServer, apollo: Apollo, confidence_value: float | None, confidence: float | None
) -> None:
    comes(httpserver, matched(email_status="extrapolated", extrapolated_email_confidence=confidence_value))

    assert asked(apollo).emails[0].confidence == confidence


def test_personal_addresses_are_unverified_and_the_work_one_is_omitted(
    httpserver: HTTPServer, apollo: Apollo
) -> None:
    comes(httpserver, matched(personal_emails=["ada@northwind.example"]))

    reply = asked(apollo, replace(EMAIL, types=("personal",)))

    assert [(value.email, value.type, value.status, value.verified_at) for value in reply.emails] == [
        ("ada@northwind.example", "personal", EmailStatus.UNKNOWN, None)
    ]


def test_data_from_the_teams_crm_is_ignored(httpserver: HTTPServer, apollo: Apollo) -> None:
    comes(httpserver, matched(email=None, email_status=None))

    assert asked(apollo) == ProviderResponse(outcome=TraceOutcome.MISS, cost=1)


@pytest.mark.parametrize(
    "body", [{"person": None}, {"person": PERSON, "match_confidence": "none"}, {"match_confidence": "none"}]
)
@pytest.mark.parametrize("provider_request", [EMAIL, PHONE, replace(PHONE, field=ProviderField.PERSON)])
def test_an_unmatched_person_is_a_free_miss(
    httpserver: HTTPServer, apollo: Apollo, body: dict[str, Any], provider_request: ProviderRequest
) -> None:
    comes(httpserver, CannedResponse(body=body | {"request_id": REQUEST_ID}))

    assert apollo.call(provider_request, seconds=3) == ProviderResponse(outcome=TraceOutcome.MISS)


def test_a_person_has_a_company_and_no_addresses(httpserver: HTTPServer, apollo: Apollo) -> None:
    comes(httpserver, matched())

    reply = asked(apollo, ProviderRequest(field=ProviderField.PERSON, subject=ADA))

    contact = reply.contact
    assert contact is not None
    assert contact.company is not None
    assert (contact.full_name, contact.title, contact.seniority) == (
        "Ada Lovelace",
        "Chief Technology Officer",
        "c_suite",
    )
    assert (contact.city, contact.country) == ("Lyon", "FR")
    assert (contact.company.domain, contact.company.headcount) == ("acme.com", "51-200")
    assert (reply.emails, reply.phones, contact.emails, contact.phones) == ((), (), (), ())


@pytest.mark.parametrize("request_id", [REQUEST_ID, TICKET, -REQUEST_ID])
def test_a_request_id_keeps_all_its_digits(
    httpserver: HTTPServer, apollo: Apollo, request_id: int | str
) -> None:
    comes(httpserver, CannedResponse(body={"person": PERSON, "request_id": request_id}))

    assert apollo.call(PHONE, seconds=3) == Pending(str(request_id), 10)


@pytest.mark.parametrize("request_id", [None, "", True, 1.5])
def test_a_phone_request_without_an_id_is_unexpected(
    httpserver: HTTPServer, apollo: Apollo, request_id: Any
) -> None:
    comes(httpserver, CannedResponse(body={"person": PERSON, "request_id": request_id}))

    with pytest.raises(UnexpectedResponse):
        apollo.call(PHONE, seconds=3)


@pytest.mark.parametrize(
    ("response", "after"),
    [
        (PENDING, 12),
        (CannedResponse(status=404, body={"error_code": "result_pending"}), 10),
        (
            CannedResponse(
                status=404, body={"error_details": {"code": "result_pending"}, "retry_after_seconds": 3}
            ),
            3,
        ),
        (CannedResponse(status=429, body={"message": "…"}, headers={"Retry-After": "40"}), 40),
        (CannedResponse(status=502, body={}), 10),
    ],
)
def test_a_pending_result_is_polled_after_the_given_delay(
    httpserver: HTTPServer, apollo: Apollo, response: CannedResponse, after: float
) -> None:
    comes(httpserver, response, RESULT)

    assert apollo.call(replace(PHONE, poll_token=TICKET), seconds=3) == Pending(
        TICKET, after, POLL_OUTCOMES[response.status]
    )


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, "request_id_unknown"), (410, "request_id_expired"), (400, "invalid_request_id")],
)
def test_an_unknown_result_is_an_error_and_not_a_miss(
    httpserver: HTTPServer, apollo: Apollo, status: int, code: str
) -> None:
    comes(httpserver, CannedResponse(status=status, body={"error_code": code}), RESULT)

    assert asked(apollo, replace(PHONE, poll_token=TICKET)) == ProviderResponse(outcome=TraceOutcome.ERROR)


@pytest.mark.parametrize(
    ("type_cd", "kind"),
    [
        ("mobile", "mobile"),
        ("work_direct", "direct"),
        ("work_direct_phone", "direct"),
        ("work_hq", "hq"),
        ("work", "work"),
        ("home", "other"),
        ("something_new", "other"),
        (None, "other"),
    ],
)
def test_every_phone_type_is_mapped(
    httpserver: HTTPServer, apollo: Apollo, type_cd: str | None, kind: str
) -> None:
    assert number(apollo, httpserver, type_cd=type_cd).type == kind


@pytest.mark.parametrize(
    ("status_cd", "status", "is_verified"),
    [
        ("valid_number", "valid", True),
        ("invalid_number", "invalid", True),
        ("no_status", "unknown", False),
        (None, "unknown", False),
    ],
)
def test_every_phone_status_is_mapped(
    *,
    httpserver: HTTPServer,
    apollo: Apollo,
    status_cd: str | None,
    status: str,
    is_verified: bool,
) -> None:
    found = number(apollo, httpserver, status_cd=status_cd)

    assert found.status == status
    assert (found.verified_at is not None) is is_verified


@pytest.mark.parametrize(
    ("changes", "do_not_call"),
    [
        ({"dnc_status_cd": "not_found"}, False),
        ({"dnc_status_cd": "found"}, True),
        ({"dnc_status_cd": "something_new"}, True),
        ({"dnc_status_cd": None, "dnc_status": "found"}, True),
        ({"dnc_status_cd": None}, None),
        ({"dnc_status_cd": "no_status"}, None),
    ],
)
def test_a_do_not_call_entry_has_its_date(
    *, httpserver: HTTPServer, apollo: Apollo, changes: dict[str, Any], do_not_call: bool | None
) -> None:
    found = number(apollo, httpserver, **changes)

    day = None if do_not_call is None else datetime(2026, 9, 1, 8, tzinfo=UTC)
    assert (found.do_not_call, found.do_not_call_at) == (do_not_call, day)


@pytest.mark.parametrize(
    ("confidence_text", "confidence"), [("high", 0.9), ("medium", 0.6), ("low", 0.3), (None, None)]
)
def test_the_confidence_of_a_phone_is_a_number(
    httpserver: HTTPServer, apollo: Apollo, confidence_text: str | None, confidence: float | None
) -> None:
    assert number(apollo, httpserver, confidence_cd=confidence_text).confidence == confidence


@pytest.mark.parametrize(
    ("numbers", "charged", "outcome", "cost"),
    [
        ([NUMBER], 9, TraceOutcome.HIT, 9),
        ([NUMBER], None, TraceOutcome.HIT, 9),
        ([NUMBER | {"type_cd": "work_hq"}], None, TraceOutcome.HIT, 1),
        ([], 0, TraceOutcome.MISS, 0),
        ([], None, TraceOutcome.MISS, 1),
    ],
)
def test_phones_have_the_reported_or_the_documented_cost(
    *,
    httpserver: HTTPServer,
    apollo: Apollo,
    numbers: list[dict[str, Any]],
    charged: int | None,
    outcome: TraceOutcome,
    cost: float,
) -> None:
    comes(httpserver, result(*numbers, credits_consumed=charged), RESULT)

    reply = asked(apollo, replace(PHONE, poll_token=TICKET))

    assert (reply.outcome, reply.cost) == (outcome, cost)


def test_an_undelivered_result_is_still_read(httpserver: HTTPServer, apollo: Apollo) -> None:
    response = result(NUMBER, credits_consumed=9)
    comes(
        httpserver,
        CannedResponse(body=response.body | {"webhook_status": "failed", "failure_reason": "405"}),
        RESULT,
    )

    reply = asked(apollo, replace(PHONE, poll_token=TICKET))

    assert [value.e164 for value in reply.phones] == ["+33639980001"]


@pytest.mark.parametrize(
    ("subject", "sent"),
    [
        (Subject(company_domain="acme.com", company_name="Acme"), {"domain": "acme.com"}),
        (Subject(company_name="Acme"), {"name": "Acme"}),
    ],
)
def test_a_company_is_requested_by_domain_rather_than_name(
    httpserver: HTTPServer, apollo: Apollo, subject: Subject, sent: dict[str, str]
) -> None:
    httpserver.expect_request("/organizations/enrich", "GET", query_string=sent).respond_with_json(
        {"organization": ORGANIZATION}
    )

    reply = asked(apollo, ProviderRequest(field=ProviderField.COMPANY, subject=subject))

    assert reply.company is not None
    assert (reply.company.name, reply.company.domain, reply.company.country) == ("Acme", "acme.com", "FR")
    assert reply.cost == 1


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (401, {"error_details": {"code": "AUTH.AUTHENTICATION.API_KEY_INVALID"}}, TraceOutcome.UNCONFIGURED),
        (403, {"error_details": {"code": "AUTH.AUTHORIZATION.FORBIDDEN"}}, TraceOutcome.UNCONFIGURED),
        (403, {"error": "…", "error_code": "API_INACCESSIBLE"}, TraceOutcome.UNCONFIGURED),
        (403, {"error": "…"}, TraceOutcome.UNCONFIGURED),
        (
            422,
            {"error_details": {"code": "USAGE.RATE_LIMIT.API_RATE_LIMIT_EXCEEDED"}},
            TraceOutcome.RATE_LIMITED,
        ),
        (429, {"message": "The maximum number of api calls …"}, TraceOutcome.RATE_LIMITED),
        (402, {"error": "Payment required"}, TraceOutcome.NO_CREDITS),
        (422, {"error": "You have insufficient credits."}, TraceOutcome.NO_CREDITS),
        (422, {"error_details": {"message": "Out of credits"}}, TraceOutcome.NO_CREDITS),
        (403, {"error_details": {"code": "USAGE.CREDITS.EXHAUSTED"}}, TraceOutcome.NO_CREDITS),
        (422, {"error": "Required parameter 'domain' missing"}, TraceOutcome.ERROR),
        (500, {"error": "The credit service is down"}, TraceOutcome.ERROR),
        (400, {"error_details": "…"}, TraceOutcome.ERROR),
    ],
)
def test_every_error_has_its_outcome_by_code_first(
    httpserver: HTTPServer, apollo: Apollo, status: int, body: dict[str, Any], outcome: TraceOutcome
) -> None:
    comes(httpserver, CannedResponse(status=status, body=body))

    assert asked(apollo) == ProviderResponse(outcome=outcome)


def test_a_bad_key_in_plain_text_is_recognized(httpserver: HTTPServer, apollo: Apollo) -> None:
    httpserver.expect_request(MATCH).respond_with_data("Invalid access credentials.", 401)

    assert asked(apollo).outcome is TraceOutcome.UNCONFIGURED


@pytest.mark.parametrize(
    ("health", "usage", "check"),
    [
        (
            CannedResponse(body={"healthy": True, "is_logged_in": True}),
            CannedResponse(
                body={
                    "credit_usage_stats": {
                        "lead_credit": {"limit": 19290, "consumed": 1668, "left_over": 17622},
                        "direct_dial_credit": {"limit": 160, "consumed": 0, "left_over": 160},
                        "note": "…",
                    },
                    "current_credit_cycle": {},
                }
            ),
            CredentialCheck(
                outcome=TraceOutcome.HIT, remaining={"lead_credit": 17622, "direct_dial_credit": 160}
            ),
        ),
        (
            CannedResponse(body={"healthy": True, "is_logged_in": True}),
            CannedResponse(status=403, body={"error_code": "API_INACCESSIBLE"}),
            CredentialCheck(outcome=TraceOutcome.HIT),
        ),
        (
            CannedResponse(body={"healthy": True, "is_logged_in": False}),
            CannedResponse(body={}),
            CredentialCheck(outcome=TraceOutcome.UNCONFIGURED),
        ),
        (
            CannedResponse(status=401, body={"error": "…"}),
            CannedResponse(body={}),
            CredentialCheck(outcome=TraceOutcome.UNCONFIGURED),
        ),
        (
            CannedResponse(status=503, body={"error": "…"}),
            CannedResponse(body={}),
            CredentialCheck(outcome=TraceOutcome.ERROR),
        ),
    ],
)
def test_the_check_reports_the_key_and_the_balance_if_permitted(
    httpserver: HTTPServer,
    apollo: Apollo,
    health: CannedResponse,
    usage: CannedResponse,
    check: CredentialCheck,
) -> None:
    httpserver.expect_request("/auth/health", "GET").respond_with_json(health.body, health.status)
    httpserver.expect_request("/usage_stats/credit_usage_stats", "POST").respond_with_json(
        usage.body, usage.status
    )

    assert apollo.check(seconds=3) == check
