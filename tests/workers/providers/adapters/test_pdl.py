from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from pdl_recording import BAD_KEY, COMPANY, HEADERS, NO_ONE, PERSON, TOO_FAST, USED_UP, error, record
from pytest_httpserver import HTTPServer
from vendor_recording import CannedResponse

from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.infra import clock
from app.settings import ProviderSettings
from workers.providers.base import CredentialCheck, ProviderField, ProviderRequest, ProviderResponse
from workers.providers.pdl import PeopleDataLabs

PROFILE = Subject(linkedin_url="https://www.linkedin.com/in/ada-lovelace")
FOR_EMAIL = ProviderRequest(field=ProviderField.EMAIL, subject=PROFILE, types=("work",))
FOR_PHONE = ProviderRequest(
    field=ProviderField.PHONE, subject=PROFILE, types=("mobile", "direct", "work", "hq")
)
FOR_PERSON = ProviderRequest(field=ProviderField.PERSON, subject=PROFILE)
FOR_COMPANY = ProviderRequest(field=ProviderField.COMPANY, subject=Subject(company_domain="acme.com"))
NOTHING_SOUGHT = error(400, "invalid_request_error", "Request contained either missing or invalid parameters")


@pytest.fixture
def pdl(httpserver: HTTPServer) -> PeopleDataLabs:
    return PeopleDataLabs(ProviderSettings(api_key="k", base_url=httpserver.url_for("/v5")))


def call(
    httpserver: HTTPServer,
    pdl: PeopleDataLabs,
    response: CannedResponse,
    question: ProviderRequest = FOR_EMAIL,
) -> ProviderResponse:
    for path in ("/v5/person/enrich", "/v5/company/enrich"):
        httpserver.expect_request(path).respond_with_json(response.body, response.status, response.headers)
    return pdl.call(question, seconds=3)


def sent(httpserver: HTTPServer) -> dict[str, str]:
    request, _response = httpserver.log[0]
    return request.args.to_dict()


def test_the_request_is_a_get_with_the_key_in_its_header(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    call(httpserver, pdl, record())

    request, _response = httpserver.log[0]
    assert (request.method, request.path, request.get_data()) == ("GET", "/v5/person/enrich", b"")
    assert request.headers["X-Api-Key"] == "k"


@pytest.mark.parametrize(
    ("types", "required"),
    [
        (("work",), "work_email"),
        (("personal",), "personal_emails"),
        (("work", "personal"), "work_email OR personal_emails"),
        ((), "work_email OR personal_emails"),
    ],
)
def test_a_record_without_an_email_of_the_type_is_not_requested(
    httpserver: HTTPServer, pdl: PeopleDataLabs, types: tuple[str, ...], required: str
) -> None:
    call(httpserver, pdl, record(), dataclasses.replace(FOR_EMAIL, types=types))

    assert sent(httpserver) == {
        "profile": "https://www.linkedin.com/in/ada-lovelace",
        "required": required,
        "min_likelihood": "6",
        "titlecase": "true",
    }


def test_a_record_without_a_mobile_is_not_requested(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    call(httpserver, pdl, record(), FOR_PHONE)

    assert sent(httpserver)["required"] == "mobile_phone"


def test_a_person_is_requested_without_required_fields(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    call(httpserver, pdl, record(), FOR_PERSON)

    assert "required" not in sent(httpserver)


def test_all_known_identifiers_are_sent(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    known = Subject(
        email="ada@acme.com",
        phone="+12025550143",
        first_name="Ada",
        last_name="Lovelace",
        company_name="Acme",
        contact_id="c1",
    )

    call(httpserver, pdl, record(), dataclasses.replace(FOR_PERSON, subject=known))

    assert sent(httpserver) == {
        "email": "ada@acme.com",
        "phone": "+12025550143",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "company": "Acme",
        "min_likelihood": "6",
        "titlecase": "true",
    }


@pytest.mark.parametrize(
    ("field", "subject", "refusal"),
    [
        (ProviderField.EMAIL, Subject(email="ada@acme.com"), None),
        (ProviderField.EMAIL, Subject(phone="+12025550143"), None),
        (ProviderField.EMAIL, Subject(full_name="Ada Lovelace", company_name="Acme"), None),
        (ProviderField.EMAIL, Subject(first_name="Ada", company_name="Acme"), TraceOutcome.INELIGIBLE),
        (ProviderField.PERSON, Subject(contact_id="c1"), TraceOutcome.INELIGIBLE),
        (ProviderField.COMPANY, Subject(company_name="Acme"), None),
        (ProviderField.VERIFICATION, Subject(email="ada@acme.com"), TraceOutcome.INELIGIBLE),
    ],
)
def test_a_request_needs_enough_identifiers(
    pdl: PeopleDataLabs, field: ProviderField, subject: Subject, refusal: TraceOutcome | None
) -> None:
    assert pdl.unavailability(ProviderRequest(field=field, subject=subject)) is refusal


def test_phone_types_that_it_does_not_return_are_ineligible(pdl: PeopleDataLabs) -> None:
    assert (
        pdl.unavailability(dataclasses.replace(FOR_PHONE, types=("direct", "hq"))) is TraceOutcome.INELIGIBLE
    )
    assert pdl.unavailability(dataclasses.replace(FOR_PHONE, types=("mobile",))) is None


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (("work",), [("ada.lovelace@acme.com", "work")]),
        (("personal",), [("ada@home.example", "personal"), ("countess@lovelace.example", "personal")]),
    ],
)
def test_emails_have_the_requested_type_and_are_unverified(
    httpserver: HTTPServer, pdl: PeopleDataLabs, types: tuple[str, ...], expected: list[tuple[str, str]]
) -> None:
    reply = call(httpserver, pdl, record(), dataclasses.replace(FOR_EMAIL, types=types))

    assert [(found.email, found.type) for found in reply.emails] == expected
    assert {(found.status, found.verified_at) for found in reply.emails} == {(EmailStatus.UNKNOWN, None)}
    assert {found.confidence for found in reply.emails} == {0.9}


def test_emails_of_former_jobs_are_ignored(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    reply = call(httpserver, pdl, record(work_email=None))

    assert (reply.outcome, reply.emails) == (TraceOutcome.MISS, ())


def test_a_work_email_at_a_mail_provider_is_personal(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    reply = call(httpserver, pdl, record(work_email="ada.l@gmail.com"))

    assert (reply.outcome, reply.emails) == (TraceOutcome.MISS, ())


def test_the_mobile_comes_first_and_every_number_once(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    reply = call(httpserver, pdl, record(), FOR_PHONE)

    assert [(found.e164, found.type) for found in reply.phones] == [
        ("+12025550143", "mobile"),
        ("+12025550187", "other"),
    ]
    assert (reply.emails, reply.cost) == ((), 1)


@pytest.mark.parametrize("is_available", [True, False])
@pytest.mark.parametrize("question", [FOR_EMAIL, FOR_PHONE])
def test_a_boolean_in_place_of_a_value_is_none(
    httpserver: HTTPServer, pdl: PeopleDataLabs, *, question: ProviderRequest, is_available: bool
) -> None:
    free = record(
        work_email=is_available,
        personal_emails=is_available,
        mobile_phone=is_available,
        phone_numbers=is_available,
    )

    reply = call(httpserver, pdl, free, question)

    assert (reply.outcome, reply.emails, reply.phones, reply.cost) == (TraceOutcome.MISS, (), (), 1)


@pytest.mark.parametrize(
    ("headers", "cost"),
    [({"x-call-credits-spent": "0"}, 0), ({"x-call-credits-spent": "1.5"}, 1.5), ({}, 1)],
)
def test_the_cost_is_that_of_the_header(
    httpserver: HTTPServer, pdl: PeopleDataLabs, headers: dict[str, str], cost: float
) -> None:
    reply = call(httpserver, pdl, dataclasses.replace(record(), headers=headers))

    assert (reply.outcome, reply.cost) == (TraceOutcome.HIT, cost)


def test_a_charged_miss_has_its_cost(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    charged = dataclasses.replace(NO_ONE, headers={"x-call-credits-spent": "1"})

    reply = call(httpserver, pdl, charged)

    assert (reply.outcome, reply.cost) == (TraceOutcome.MISS, 1)


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (NO_ONE, TraceOutcome.MISS),
        (USED_UP, TraceOutcome.NO_CREDITS),
        (BAD_KEY, TraceOutcome.UNCONFIGURED),
        (TOO_FAST, TraceOutcome.RATE_LIMITED),
        (NOTHING_SOUGHT, TraceOutcome.ERROR),
        (error(405, "invalid_request_error", "Request method is not allowed"), TraceOutcome.ERROR),
        (error(500, "api_error", "The server encountered an unexpected condition"), TraceOutcome.ERROR),
    ],
)
def test_each_documented_error(
    httpserver: HTTPServer, pdl: PeopleDataLabs, response: CannedResponse, outcome: TraceOutcome
) -> None:
    reply = call(httpserver, pdl, response)

    assert (reply.outcome, reply.cost) == (outcome, 0)


def test_a_rate_limit_lasts_until_the_reset_in_a_header(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    reset = (clock.now() + timedelta(seconds=40)).strftime("%Y-%m-%dT%H:%M:%SZ")

    reply = call(httpserver, pdl, dataclasses.replace(TOO_FAST, headers={"x-ratelimit-reset": reset}))

    assert reply.retry_after == pytest.approx(40, abs=5)


@pytest.mark.parametrize("reset", ["2020-01-01T00:00:00Z", "soon"])
def test_a_past_or_invalid_reset_causes_no_delay(
    httpserver: HTTPServer, pdl: PeopleDataLabs, reset: str
) -> None:
    reply = call(httpserver, pdl, dataclasses.replace(TOO_FAST, headers={"x-ratelimit-reset": reset}))

    assert not reply.retry_after


@pytest.mark.parametrize("question", [FOR_EMAIL, FOR_PHONE, FOR_PERSON])
def test_a_person_has_the_time_of_the_last_job_confirmation(
    httpserver: HTTPServer, pdl: PeopleDataLabs, question: ProviderRequest
) -> None:
    contact = call(httpserver, pdl, record(), question).contact

    assert contact is not None
    assert contact.company is not None
    assert {contact.source.at, contact.company.source.at} == {datetime(2026, 5, 12, tzinfo=UTC)}


def test_a_person_without_a_confirmation_date_has_the_current_time(
    httpserver: HTTPServer, pdl: PeopleDataLabs
) -> None:
    before = clock.now()

    contact = call(httpserver, pdl, record(job_last_updated=None), FOR_PERSON).contact

    assert contact is not None
    assert contact.source.at >= before


def test_all_values_of_a_person_are_parsed(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    contact = call(httpserver, pdl, record(), FOR_PERSON).contact

    assert contact is not None
    assert (contact.full_name, contact.first_name, contact.last_name) == ("Ada Lovelace", "Ada", "Lovelace")
    assert (contact.title, contact.seniority) == ("Chief Technology Officer", "c_suite")
    assert (contact.department, contact.city, contact.country) == ("engineering", "Lyon", "FR")
    assert contact.linkedin_url == "https://www.linkedin.com/in/ada-lovelace"
    assert (contact.emails, contact.phones) == ((), ())
    assert contact.company is not None
    assert (contact.company.domain, contact.company.headcount) == ("acme.com", "51-200")
    assert contact.company.linkedin_url == "https://www.linkedin.com/company/acme"


def test_a_person_with_only_null_values_is_a_miss(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    nobody = CannedResponse(
        body={"status": 200, "likelihood": None, "data": dict.fromkeys(PERSON)}, headers=HEADERS
    )

    reply = call(httpserver, pdl, nobody, FOR_PERSON)

    assert (reply.outcome, reply.contact, reply.cost) == (TraceOutcome.MISS, None, 1)


@pytest.mark.parametrize(
    ("size", "count", "headcount"),
    [("1-10", 134, "1-10"), (None, 134, "51-200"), ("1-10", None, "1-10"), (None, None, None)],
)
def test_the_size_of_a_company_is_preferred_to_its_employee_count(
    httpserver: HTTPServer, pdl: PeopleDataLabs, size: str | None, count: int | None, headcount: str | None
) -> None:
    body = COMPANY | {"size": size, "employee_count": count}

    company = call(httpserver, pdl, CannedResponse(body=body), FOR_COMPANY).company

    assert company is not None
    assert company.headcount == headcount


def test_a_company_is_the_whole_response(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    company = call(httpserver, pdl, CannedResponse(body=COMPANY), FOR_COMPANY).company

    assert company is not None
    assert (company.name, company.domain, company.industry) == ("Acme", "acme.com", "machinery")
    assert (company.headcount, company.country) == ("51-200", "FR")
    assert company.linkedin_url == "https://www.linkedin.com/company/acme"


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (Subject(company_domain="acme.com"), {"website": "acme.com"}),
        (Subject(company_name="Acme"), {"name": "Acme", "min_likelihood": "6"}),
        (
            Subject(company_domain="acme.com", company_name="Acme"),
            {"website": "acme.com", "name": "Acme"},
        ),
    ],
)
def test_a_company_found_by_name_alone_must_be_likely(
    httpserver: HTTPServer, pdl: PeopleDataLabs, subject: Subject, expected: dict[str, str]
) -> None:
    call(httpserver, pdl, CannedResponse(body=COMPANY), dataclasses.replace(FOR_COMPANY, subject=subject))

    assert sent(httpserver) == expected


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (
            dataclasses.replace(NOTHING_SOUGHT, headers=HEADERS),
            CredentialCheck(outcome=TraceOutcome.HIT, remaining={"enrich": 1342}),
        ),
        (NOTHING_SOUGHT, CredentialCheck(outcome=TraceOutcome.HIT)),
        (BAD_KEY, CredentialCheck(outcome=TraceOutcome.UNCONFIGURED)),
        (USED_UP, CredentialCheck(outcome=TraceOutcome.NO_CREDITS)),
        (TOO_FAST, CredentialCheck(outcome=TraceOutcome.RATE_LIMITED)),
        (error(500, "api_error", "Oh"), CredentialCheck(outcome=TraceOutcome.ERROR)),
    ],
)
def test_a_check_without_a_person_shows_whether_the_key_works(
    httpserver: HTTPServer, pdl: PeopleDataLabs, response: CannedResponse, expected: CredentialCheck
) -> None:
    server = httpserver.expect_request("/v5/person/enrich", query_string="")
    server.respond_with_json(response.body, response.status, response.headers)

    assert pdl.check(seconds=3) == expected


def test_an_html_error_is_not_a_bad_key(httpserver: HTTPServer, pdl: PeopleDataLabs) -> None:
    httpserver.expect_request("/v5/person/enrich").respond_with_data("<h1>Bad Request</h1>", 400)

    assert pdl.check(seconds=3) == CredentialCheck(outcome=TraceOutcome.ERROR)
