from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from dropcontact_recording import ADA, ECHO, NOT_READY, RECORD, SUBMITTED, TICKET, fetched, marked
from pytest_httpserver import HTTPServer
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
from workers.providers.dropcontact import Dropcontact

EMAIL = ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",))
READY = replace(EMAIL, poll_token=TICKET)
BY_ADDRESS = ProviderRequest(field=ProviderField.PERSON, subject=Subject(email="ada@acme.com"))


@pytest.fixture
def dropcontact(httpserver: HTTPServer) -> Dropcontact:
    return Dropcontact(ProviderSettings(api_key="the-token", base_url=httpserver.url_for("/")))


def test_one_record_is_submitted_in_english_and_pending(
    httpserver: HTTPServer, dropcontact: Dropcontact
) -> None:
    httpserver.expect_request("/enrich/all", "POST").respond_with_json(SUBMITTED.body)

    pending = dropcontact.call(EMAIL, seconds=3)

    request, _response = httpserver.log[0]
    assert pending == Pending(TICKET, 5)
    assert request.headers["X-Access-Token"] == "the-token"
    assert json.loads(request.get_data()) == {
        "data": [{"first_name": "Ada", "last_name": "Lovelace", "company": "Acme", "website": "acme.com"}],
        "language": "en",
    }


def test_a_result_is_polled_by_its_path(httpserver: HTTPServer, dropcontact: Dropcontact) -> None:
    httpserver.expect_request(f"/enrich/all/{TICKET}", "GET").respond_with_json(fetched(RECORD).body)

    reply = dropcontact.call(READY, seconds=3)

    assert isinstance(reply, ProviderResponse)
    assert reply.outcome is TraceOutcome.HIT


def test_a_poll_token_cannot_change_the_path(httpserver: HTTPServer, dropcontact: Dropcontact) -> None:
    httpserver.expect_request("/enrich/all/../../account/credits").respond_with_json(NOT_READY.body)

    pending = dropcontact.call(replace(EMAIL, poll_token="../../account/credits"), seconds=3)

    assert pending == Pending("../../account/credits", 10)
    assert "%2F" in httpserver.log[0][0].environ["RAW_URI"]


def test_a_result_that_is_not_ready_comes_with_200_and_is_pending(
    httpserver: HTTPServer, dropcontact: Dropcontact
) -> None:
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(NOT_READY.body)

    assert dropcontact.call(READY, seconds=3) == Pending(TICKET, 10)


@pytest.mark.parametrize(
    ("status", "headers", "after"), [(429, {"Retry-After": "7"}, 7), (429, {}, 10), (502, {}, 10)]
)
def test_a_submitted_record_survives_a_temporary_error(
    httpserver: HTTPServer, dropcontact: Dropcontact, status: int, headers: dict[str, str], after: float
) -> None:
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_data("Bad gateway", status, headers)

    assert dropcontact.call(READY, seconds=3) == Pending(TICKET, after, POLL_OUTCOMES[status])


@pytest.mark.parametrize(
    ("qualification", "status", "reasons", "kind", "is_verified"),
    [
        ("nominative@pro", EmailStatus.VALID, (), "work", True),
        ("nominative@perso", EmailStatus.VALID, (), "personal", True),
        ("nominative@school", EmailStatus.VALID, (), "work", True),
        ("catch_all@pro", EmailStatus.ACCEPT_ALL, (), "work", True),
        ("catch-all@pro", EmailStatus.ACCEPT_ALL, (), "work", True),
        ("Catch All@Pro", EmailStatus.ACCEPT_ALL, (), "work", True),
        ("generic@pro", EmailStatus.RISKY, ("role",), "work", True),
        ("Générique@pro", EmailStatus.RISKY, ("role",), "work", True),
        ("non_validated@pro", EmailStatus.RISKY, (), "work", False),
        ("random@pro", EmailStatus.RISKY, (), "work", False),
        ("invalid@pro", EmailStatus.INVALID, (), "work", True),
        ("nominative@invalid domain", EmailStatus.INVALID, (), "work", True),
        ("nominative@disposable", EmailStatus.RISKY, ("disposable",), "work", True),
        ("invalid@disposable", EmailStatus.INVALID, ("disposable",), "work", True),
        ("something_new@pro", EmailStatus.UNKNOWN, (), "work", False),
        ("", EmailStatus.UNKNOWN, (), "work", False),
    ],
)
def test_every_qualification_maps_to_a_status(
    *,
    httpserver: HTTPServer,
    dropcontact: Dropcontact,
    qualification: str,
    status: EmailStatus,
    reasons: tuple[str, ...],
    kind: str,
    is_verified: bool,
) -> None:
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(fetched(marked(qualification)).body)

    reply = dropcontact.call(replace(READY, types=()), seconds=3)

    assert isinstance(reply, ProviderResponse)
    (email,) = reply.emails
    assert (email.status, email.reasons, email.type) == (status, reasons, kind)
    assert (email.verified_at is not None) is is_verified


@pytest.mark.parametrize(
    "qualification", ["Do_Not_Contact@pro", "do-not-contact@perso", "DO NOT CONTACT@pro"]
)
def test_a_person_with_a_do_not_contact_flag_is_suppressed_for_every_field(
    httpserver: HTTPServer, dropcontact: Dropcontact, qualification: str
) -> None:
    record = RECORD | {"email": [*RECORD["email"], {"email": "a@acme.com", "qualification": qualification}]}
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(fetched(record).body)

    reply = dropcontact.call(
        ProviderRequest(field=ProviderField.PHONE, subject=ADA, poll_token=TICKET), seconds=3
    )

    assert reply == ProviderResponse(outcome=TraceOutcome.SUPPRESSED)


def test_a_personal_address_for_a_work_request_is_a_paid_miss(
    httpserver: HTTPServer, dropcontact: Dropcontact
) -> None:
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(
        fetched(marked("nominative@perso")).body
    )

    assert dropcontact.call(READY, seconds=3) == ProviderResponse(outcome=TraceOutcome.MISS, cost=1)


def test_an_echoed_record_is_a_free_miss(httpserver: HTTPServer, dropcontact: Dropcontact) -> None:
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(fetched(ECHO).body)

    reply = dropcontact.call(
        ProviderRequest(field=ProviderField.PERSON, subject=ADA, poll_token=TICKET), seconds=3
    )

    assert reply == ProviderResponse(outcome=TraceOutcome.MISS)


def test_a_person_has_a_company_and_no_addresses(httpserver: HTTPServer, dropcontact: Dropcontact) -> None:
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(fetched(RECORD).body)

    stored = replace(ADA, contact_id="con_1")
    reply = dropcontact.call(
        ProviderRequest(field=ProviderField.PERSON, subject=stored, poll_token=TICKET), seconds=3
    )

    assert isinstance(reply, ProviderResponse)
    contact = reply.contact
    assert contact is not None
    assert contact.company is not None
    assert (contact.title, contact.seniority, contact.department) == (
        "Chief Technology Officer",
        "c_suite",
        "engineering",
    )
    assert contact.linkedin_url == "https://www.linkedin.com/in/ada-lovelace"
    assert (contact.company.domain, contact.company.headcount) == ("acme.com", "51-200")
    assert (reply.emails, reply.phones, contact.emails, contact.phones) == ((), (), (), ())


def test_mobile_and_work_numbers_differ_and_are_parsed_in_their_country(
    httpserver: HTTPServer, dropcontact: Dropcontact
) -> None:
    record = RECORD | {"phone": "04 72 00 01 02"}
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(fetched(record).body)

    reply = dropcontact.call(
        ProviderRequest(field=ProviderField.PHONE, subject=ADA, poll_token=TICKET), seconds=3
    )

    assert isinstance(reply, ProviderResponse)
    assert [(value.e164, value.type) for value in reply.phones] == [
        ("+33639980001", "mobile"),
        ("+33472000102", "work"),
    ]


def test_an_address_is_sent_only_without_other_identifiers_and_is_always_charged(
    httpserver: HTTPServer, dropcontact: Dropcontact
) -> None:
    httpserver.expect_request("/enrich/all").respond_with_json(SUBMITTED.body)
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(fetched({}).body)
    known = replace(ADA, email="ada@acme.com")

    dropcontact.call(BY_ADDRESS, seconds=3)
    dropcontact.call(replace(BY_ADDRESS, subject=known), seconds=3)
    reply = dropcontact.call(replace(BY_ADDRESS, poll_token=TICKET), seconds=3)

    sent = [json.loads(request.get_data())["data"][0] for request, _response in httpserver.log[:2]]
    assert sent[0] == {"email": "ada@acme.com"}
    assert "email" not in sent[1]
    assert reply == ProviderResponse(outcome=TraceOutcome.MISS, cost=1)


def test_a_request_for_personal_addresses_is_ineligible() -> None:
    dropcontact = Dropcontact(ProviderSettings(api_key="k"))

    assert dropcontact.unavailability(replace(EMAIL, types=("personal",))) is TraceOutcome.INELIGIBLE
    assert dropcontact.unavailability(replace(EMAIL, types=("personal", "work"))) is None


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (403, {"error": True, "reason": "Not enough credits left for this API key"}, TraceOutcome.NO_CREDITS),
        (403, {"error": True, "reason": "Forbidden"}, TraceOutcome.NO_CREDITS),
        (403, {"error": True, "reason": "Invalid access token"}, TraceOutcome.UNCONFIGURED),
        (400, {"error": True, "reason": "Missing data in JSON", "success": False}, TraceOutcome.ERROR),
        (404, {"detail": "Not Found"}, TraceOutcome.ERROR),
        (422, {"detail": "Unprocessable"}, TraceOutcome.ERROR),
        (200, {"error": True, "reason": "Something else", "success": False}, TraceOutcome.ERROR),
    ],
)
def test_every_error_has_its_outcome(
    httpserver: HTTPServer, dropcontact: Dropcontact, status: int, body: dict[str, Any], outcome: TraceOutcome
) -> None:
    httpserver.expect_request("/enrich/all").respond_with_json(body, status)

    assert dropcontact.call(EMAIL, seconds=3) == ProviderResponse(outcome=outcome)


@pytest.mark.parametrize("body", [{"success": True, "error": False}, {"success": True, "data": []}])
def test_a_response_without_a_request_id_or_record_is_unexpected(
    httpserver: HTTPServer, dropcontact: Dropcontact, body: dict[str, Any]
) -> None:
    httpserver.expect_request("/enrich/all").respond_with_json(body)
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(body)

    with pytest.raises(UnexpectedResponse):
        dropcontact.call(EMAIL, seconds=3)
    with pytest.raises(UnexpectedResponse):
        dropcontact.call(READY, seconds=3)


@pytest.mark.parametrize(
    ("status", "body", "check"),
    [
        (200, {"credits": 15277}, CredentialCheck(outcome=TraceOutcome.HIT, remaining={"credits": 15277})),
        (200, {}, CredentialCheck(outcome=TraceOutcome.HIT)),
        (401, {"detail": "Unauthorized"}, CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)),
        (403, {"detail": "Forbidden"}, CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)),
        (500, {"detail": "Oops"}, CredentialCheck(outcome=TraceOutcome.ERROR)),
    ],
)
def test_the_check_reports_the_balance(
    httpserver: HTTPServer,
    dropcontact: Dropcontact,
    status: int,
    body: dict[str, Any],
    check: CredentialCheck,
) -> None:
    httpserver.expect_request("/account/credits", "GET").respond_with_json(body, status)

    assert dropcontact.check(seconds=3) == check


def test_a_verified_address_has_the_current_time(httpserver: HTTPServer, dropcontact: Dropcontact) -> None:
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(fetched(RECORD).body)
    before = datetime.now(UTC)

    reply = dropcontact.call(READY, seconds=3)

    assert isinstance(reply, ProviderResponse)
    verified_at = reply.emails[0].verified_at
    assert verified_at is not None
    assert before <= verified_at <= datetime.now(UTC)


def test_echoed_values_of_the_caller_are_dropped(httpserver: HTTPServer, dropcontact: Dropcontact) -> None:
    httpserver.expect_request(f"/enrich/all/{TICKET}").respond_with_json(fetched(RECORD).body)

    reply = dropcontact.call(
        ProviderRequest(field=ProviderField.PERSON, subject=ADA, poll_token=TICKET), seconds=3
    )

    assert isinstance(reply, ProviderResponse)
    assert reply.contact is not None
    assert (reply.contact.full_name, reply.contact.linkedin_url) == (
        None,
        "https://www.linkedin.com/in/ada-lovelace",
    )
