from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from fullenrich_recording import ADA, IN_PROGRESS, ORDERED, OWN, TICKET, WORK, result
from pytest_httpserver import HTTPServer
from vendor_recording import POLL_OUTCOMES, CannedResponse

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
from workers.providers.fullenrich import FullEnrich

EMAIL = ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",))
PHONE = ProviderRequest(field=ProviderField.PHONE, subject=ADA)
ORDER = "/contact/enrich/bulk"
RESULT = f"{ORDER}/{TICKET}"
NUMBER = {"number": "+33 6 39 98 00 01", "region": "FR"}


@pytest.fixture
def fullenrich(httpserver: HTTPServer) -> FullEnrich:
    return FullEnrich(ProviderSettings(api_key="the-key", base_url=httpserver.url_for("/")))


def comes(server: HTTPServer, response: CannedResponse) -> None:
    server.expect_request(RESULT, "GET").respond_with_json(response.body, response.status, response.headers)


def fetch(fullenrich: FullEnrich, request: ProviderRequest = EMAIL) -> ProviderResponse | Pending:
    return fullenrich.call(replace(request, poll_token=TICKET), seconds=3)


@pytest.mark.parametrize(
    ("provider_request", "fields"),
    [
        (EMAIL, ["contact.work_emails"]),
        (replace(EMAIL, types=()), ["contact.work_emails"]),
        (replace(EMAIL, types=("personal",)), ["contact.personal_emails"]),
        (replace(EMAIL, types=("personal", "work")), ["contact.work_emails", "contact.personal_emails"]),
        (PHONE, ["contact.phones"]),
        (replace(PHONE, types=("direct", "mobile")), ["contact.phones"]),
    ],
)
def test_only_the_requested_fields_are_ordered(
    httpserver: HTTPServer, fullenrich: FullEnrich, provider_request: ProviderRequest, fields: list[str]
) -> None:
    httpserver.expect_request(ORDER, "POST").respond_with_json(ORDERED.body)

    pending = fullenrich.call(provider_request, seconds=3)

    request, _response = httpserver.log[0]
    assert pending == Pending(TICKET, 30)
    assert request.headers["Authorization"] == "Bearer the-key"
    assert json.loads(request.get_data()) == {
        "name": "contact lookup",
        "data": [
            {
                "first_name": "Ada",
                "last_name": "Lovelace",
                "domain": "acme.com",
                "linkedin_url": "https://www.linkedin.com/in/ada-lovelace",
                "enrich_fields": fields,
            }
        ],
    }


@pytest.mark.parametrize(
    ("provider_request", "refusal"),
    [
        (EMAIL, None),
        (replace(PHONE, types=("direct", "hq")), TraceOutcome.INELIGIBLE),
        (replace(EMAIL, subject=Subject(linkedin_url=ADA.linkedin_url)), None),
        (replace(EMAIL, subject=Subject(full_name="Ada Lovelace", company_name="Acme")), None),
        (replace(EMAIL, subject=Subject(full_name="Ada Lovelace")), TraceOutcome.INELIGIBLE),
        (replace(EMAIL, subject=Subject(full_name="Ada", company_name="Acme")), TraceOutcome.INELIGIBLE),
        (replace(EMAIL, subject=Subject(full_name="…", company_name="Acme")), TraceOutcome.INELIGIBLE),
    ],
)
def test_a_profile_or_name_and_company_is_required_and_landlines_are_ineligible(
    provider_request: ProviderRequest, refusal: TraceOutcome | None
) -> None:
    assert FullEnrich(ProviderSettings(api_key="k")).unavailability(provider_request) is refusal


def test_a_result_in_progress_comes_with_400_and_is_pending(
    httpserver: HTTPServer, fullenrich: FullEnrich
) -> None:
    comes(httpserver, IN_PROGRESS)

    assert fetch(fullenrich) == Pending(TICKET, 30)


@pytest.mark.parametrize("state", ["CREATED", "IN_PROGRESS", "UNKNOWN"])
def test_an_unfinished_enrichment_is_pending(
    httpserver: HTTPServer, fullenrich: FullEnrich, state: str
) -> None:
    comes(httpserver, result({}, credits_spent=0, state=state))

    assert fetch(fullenrich) == Pending(TICKET, 30)


@pytest.mark.parametrize(
    ("response", "after"),
    [
        (CannedResponse(status=429, body={"code": "error.rate.limit", "message": "Try again in 1m"}), 60),
        (CannedResponse(status=429, body={}, headers={"Retry-After": "9"}), 9),
        (CannedResponse(status=503, body={}), 30),
    ],
)
def test_an_enrichment_survives_a_temporary_error(
    httpserver: HTTPServer, fullenrich: FullEnrich, response: CannedResponse, after: float
) -> None:
    comes(httpserver, response)

    assert fetch(fullenrich) == Pending(TICKET, after, POLL_OUTCOMES[response.status])


@pytest.mark.parametrize(
    ("vendor_status", "status", "is_verified"),
    [
        ("DELIVERABLE", EmailStatus.VALID, True),
        ("CATCH_ALL", EmailStatus.ACCEPT_ALL, True),
        ("HIGH_PROBABILITY", EmailStatus.RISKY, False),
        ("INVALID", EmailStatus.INVALID, True),
        ("INVALID_DOMAIN", EmailStatus.INVALID, True),
        ("SOMETHING_NEW", EmailStatus.UNKNOWN, False),
        (None, EmailStatus.UNKNOWN, False),
    ],
)
def test_every_vendor_status_maps_to_a_status(
    *,
    httpserver: HTTPServer,
    fullenrich: FullEnrich,
    vendor_status: str | None,
    status: EmailStatus,
    is_verified: bool,
) -> None:
    comes(httpserver, result({"work_emails": [WORK | {"status": vendor_status}]}, credits_spent=1))

    reply = fetch(fullenrich)

    assert isinstance(reply, ProviderResponse)
    assert reply.emails[0].status is status
    assert (reply.emails[0].verified_at is not None) is is_verified


def test_the_most_probable_address_comes_first_and_once(
    httpserver: HTTPServer, fullenrich: FullEnrich
) -> None:
    other = {"email": "ada@acme.com", "status": "CATCH_ALL"}
    comes(
        httpserver,
        result({"most_probable_work_email": WORK, "work_emails": [other, WORK]}, credits_spent=1),
    )

    reply = fetch(fullenrich)

    assert isinstance(reply, ProviderResponse)
    assert [value.email for value in reply.emails] == ["ada.lovelace@acme.com", "ada@acme.com"]


def test_an_address_has_the_requested_type(httpserver: HTTPServer, fullenrich: FullEnrich) -> None:
    comes(httpserver, result({"work_emails": [WORK], "personal_emails": [OWN]}, credits_spent=3))

    reply = fetch(fullenrich, replace(EMAIL, types=("personal",)))

    assert isinstance(reply, ProviderResponse)
    assert [(value.email, value.type) for value in reply.emails] == [("ada@northwind.example", "personal")]


def test_numbers_are_mobiles_and_the_profile_fills_gaps(
    httpserver: HTTPServer, fullenrich: FullEnrich
) -> None:
    comes(httpserver, result({"phones": [NUMBER]}, credits_spent=10))

    reply = fetch(fullenrich, PHONE)

    assert isinstance(reply, ProviderResponse)
    assert [(value.e164, value.type) for value in reply.phones] == [("+33639980001", "mobile")]
    contact = reply.contact
    assert contact is not None
    assert contact.company is not None
    assert (contact.full_name, contact.title, contact.city, contact.country) == (
        "Ada Lovelace",
        "Chief Technology Officer",
        "Lyon",
        "FR",
    )
    assert contact.linkedin_url == "https://www.linkedin.com/in/ada-lovelace"
    assert (contact.company.domain, contact.company.headcount, contact.company.industry) == (
        "acme.com",
        "51-200",
        "Machinery",
    )
    assert contact.company.linkedin_url == "https://www.linkedin.com/company/acme"


def test_an_exact_headcount_is_preferred_to_the_range(httpserver: HTTPServer, fullenrich: FullEnrich) -> None:
    response = copy.deepcopy(result({"work_emails": [WORK]}, credits_spent=1))
    response.body["data"][0]["profile"]["employment"]["current"]["company"]["headcount"] = 250
    comes(httpserver, response)

    reply = fetch(fullenrich)

    assert isinstance(reply, ProviderResponse)
    assert reply.contact is not None
    assert reply.contact.company is not None
    assert reply.contact.company.headcount == "201-500"


@pytest.mark.parametrize(
    ("provider_request", "found", "cost"),
    [
        (EMAIL, {"work_emails": [WORK]}, 1),
        (replace(EMAIL, types=("personal", "work")), {"work_emails": [WORK], "personal_emails": [OWN]}, 4),
        (PHONE, {"phones": [NUMBER]}, 10),
        (EMAIL, {}, 0),
    ],
)
def test_the_documented_cost_applies_if_none_is_reported(
    httpserver: HTTPServer,
    fullenrich: FullEnrich,
    provider_request: ProviderRequest,
    found: dict[str, Any],
    cost: float,
) -> None:
    comes(httpserver, result(found, credits_spent=None))

    reply = fetch(fullenrich, provider_request)

    assert isinstance(reply, ProviderResponse)
    assert reply.cost == cost


def test_a_repeated_enrichment_that_was_free_counts_as_free(
    httpserver: HTTPServer, fullenrich: FullEnrich
) -> None:
    comes(httpserver, result({"work_emails": [WORK]}, credits_spent=0))

    reply = fetch(fullenrich)

    assert isinstance(reply, ProviderResponse)
    assert (reply.outcome, reply.cost) == (TraceOutcome.HIT, 0)


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        ("FINISHED", TraceOutcome.MISS),
        ("CREDITS_INSUFFICIENT", TraceOutcome.NO_CREDITS),
        ("RATE_LIMIT", TraceOutcome.RATE_LIMITED),
        ("CANCELED", TraceOutcome.ERROR),
    ],
)
def test_every_final_status_without_a_value_has_its_outcome(
    httpserver: HTTPServer, fullenrich: FullEnrich, state: str, outcome: TraceOutcome
) -> None:
    comes(httpserver, result({}, credits_spent=0, state=state))

    assert fetch(fullenrich) == ProviderResponse(outcome=outcome)


def test_values_found_before_the_credits_ran_out_are_kept(
    httpserver: HTTPServer, fullenrich: FullEnrich
) -> None:
    comes(
        httpserver,
        result({"work_emails": [WORK]}, credits_spent=1, state="CREDITS_INSUFFICIENT", status=402),
    )

    reply = fetch(fullenrich)

    assert isinstance(reply, ProviderResponse)
    assert (reply.outcome, reply.emails[0].email) == (TraceOutcome.HIT, "ada.lovelace@acme.com")


@pytest.mark.parametrize(
    ("status", "code", "reply"),
    [
        (401, "error.api.key", ProviderResponse(outcome=TraceOutcome.UNCONFIGURED)),
        (400, "error.api.key", ProviderResponse(outcome=TraceOutcome.UNCONFIGURED)),
        (401, "error.authorization.not_set", ProviderResponse(outcome=TraceOutcome.UNCONFIGURED)),
        (401, "error.authorization.not_bearer", ProviderResponse(outcome=TraceOutcome.UNCONFIGURED)),
        (402, "", ProviderResponse(outcome=TraceOutcome.NO_CREDITS)),
        (429, "error.rate.limit", ProviderResponse(outcome=TraceOutcome.RATE_LIMITED, retry_after=60)),
        (400, "error.enrichment.first_name.empty", ProviderResponse(outcome=TraceOutcome.INELIGIBLE)),
        (400, "error.enrichment.last_name.empty", ProviderResponse(outcome=TraceOutcome.INELIGIBLE)),
        (400, "error.enrichment.domain.empty", ProviderResponse(outcome=TraceOutcome.INELIGIBLE)),
        (400, "error.enrichment.name.empty", ProviderResponse(outcome=TraceOutcome.ERROR)),
        (404, "error.enrichment.not_found", ProviderResponse(outcome=TraceOutcome.ERROR)),
        (500, "", ProviderResponse(outcome=TraceOutcome.ERROR)),
    ],
)
def test_every_error_code_has_its_outcome(
    httpserver: HTTPServer, fullenrich: FullEnrich, status: int, code: str, reply: ProviderResponse
) -> None:
    httpserver.expect_request(ORDER).respond_with_json({"code": code, "message": "…"}, status)

    assert fullenrich.call(EMAIL, seconds=3) == reply


def test_an_enrichment_unknown_to_the_vendor_is_an_error_and_not_a_miss(
    httpserver: HTTPServer, fullenrich: FullEnrich
) -> None:
    comes(httpserver, CannedResponse(status=404, body={"code": "error.enrichment.not_found", "message": "…"}))

    assert fetch(fullenrich) == ProviderResponse(outcome=TraceOutcome.ERROR)


def test_an_unknown_state_is_unexpected(httpserver: HTTPServer, fullenrich: FullEnrich) -> None:
    comes(httpserver, result({"work_emails": [WORK]}, credits_spent=1, state="SOMETHING_NEW"))

    with pytest.raises(UnexpectedResponse):
        fetch(fullenrich)


@pytest.mark.parametrize(
    ("status", "body", "check"),
    [
        (200, {"balance": 4999.5}, CredentialCheck(outcome=TraceOutcome.HIT, remaining={"credits": 4999.5})),
        (401, {"code": "error.api.key", "message": "…"}, CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)),
        (
            404,
            {"code": "…", "message": "Workspace ID not found"},
            CredentialCheck(outcome=TraceOutcome.ERROR),
        ),
    ],
)
def test_the_check_reports_the_balance(
    httpserver: HTTPServer, fullenrich: FullEnrich, status: int, body: dict[str, Any], check: CredentialCheck
) -> None:
    httpserver.expect_request("/account/credits", "GET").respond_with_json(body, status)

    assert fullenrich.check(seconds=3) == check
