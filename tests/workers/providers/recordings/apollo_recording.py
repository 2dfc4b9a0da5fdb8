"""Responses of Apollo from its OpenAPI document, with fictitious people."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vendor_recording import CannedResponse, VendorRecording, people_request

from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from workers.providers.apollo import Apollo
from workers.providers.base import ProviderField, ProviderRequest

REQUEST_ID = 1039995589705121901
"""Greater than 2^53: a parser that reads it as a float returns 1039995589705121920."""
ADA = Subject(
    first_name="Ada",
    last_name="Lovelace",
    company_domain="acme.com",
    linkedin_url="https://www.linkedin.com/in/ada-lovelace",
)
ORGANIZATION: dict[str, Any] = {
    "id": "5e66b6381e05b4008c8331b8",
    "name": "Acme",
    "website_url": "http://www.acme.com",
    "primary_domain": "acme.com",
    "linkedin_url": "http://www.linkedin.com/company/acme",
    "industry": "machinery",
    "estimated_num_employees": 120,
    "primary_phone": {},
    "city": "Lyon",
    "state": "Rhône",
    "country": "France",
    "founded_year": 1949,
    "technology_names": [],
}
PERSON: dict[str, Any] = {
    "id": "64a7ff0cc4dfae00013df1a5",
    "first_name": "Ada",
    "last_name": "Lovelace",
    "name": "Ada Lovelace",
    "linkedin_url": "http://www.linkedin.com/in/ada-lovelace",
    "title": "Chief Technology Officer",
    "headline": "CTO at Acme",
    "email": "ada.lovelace@acme.com",
    "email_status": "verified",
    "extrapolated_email_confidence": None,
    "organization_id": "5e66b6381e05b4008c8331b8",
    "employment_history": [],
    "city": "Lyon",
    "state": "Rhône",
    "country": "France",
    "seniority": "c_suite",
    "departments": ["master_engineering_technical"],
    "revealed_for_current_team": True,
    "contact": {
        "name": "Somebody Else",
        "contact_emails": [{"email": "somebody@northwind.example", "email_status": "verified"}],
        "phone_numbers": [{"sanitized_number": "+12025550199", "status": "valid_number"}],
    },
    "organization": ORGANIZATION,
}
NUMBER: dict[str, Any] = {
    "raw_number": "+33 6 39 98 00 01",
    "sanitized_number": "+33639980001",
    "type_cd": "mobile",
    "status_cd": "valid_number",
    "confidence_cd": "high",
    "dnc_status_cd": "not_found",
    "dnc_status_updated_at": "2026-09-01T08:00:00.000+00:00",
}
NOBODY = CannedResponse(body={"person": None, "request_id": REQUEST_ID})
PENDING = CannedResponse(
    status=404,
    body={"error_code": "result_pending", "error": "Result is pending", "retry_after_seconds": 12},
)
BAD_KEY = CannedResponse(
    status=401,
    body={
        "error": "Invalid access credentials.",
        "error_details": {
            "code": "AUTH.AUTHENTICATION.API_KEY_INVALID",
            "message": "The API key is invalid.",
            "suggestions": [],
            "context": {},
        },
    },
)
NO_CREDITS = CannedResponse(
    status=422,
    body={
        "error": "Insufficient credits",
        "error_details": {"code": "USAGE.CREDITS.INSUFFICIENT", "message": "Your team is out of credits."},
    },
)
TOO_FAST = CannedResponse(
    status=429,
    body={
        "message": "The maximum number of api calls allowed for people/match is 600 times per hour.",
        "error_details": {"code": "USAGE.RATE_LIMIT.API_RATE_LIMIT_EXCEEDED", "message": "Too many."},
    },
)
UNEXPECTED = CannedResponse(body={"people": []})


def matched(**changes: Any) -> CannedResponse:
    return CannedResponse(
        body={"person": {**PERSON, **changes}, "request_id": REQUEST_ID, "match_confidence": "high"}
    )


def result(*numbers: dict[str, Any], credits_consumed: int | None) -> CannedResponse:
    people = [{"id": PERSON["id"], "status": "success", "phone_numbers": list(numbers)}]
    webhook_result = {"status": "success", "total_requested_enrichments": 1, "people": people}
    webhook_result |= {} if credits_consumed is None else {"credits_consumed": credits_consumed}
    return CannedResponse(
        body={
            "request_id": str(REQUEST_ID),
            "webhook_status": "success",
            "request_type": "phone",
            "webhook_result": webhook_result,
        }
    )


_EMAIL = VendorRecording(
    vendor=Apollo,
    request=ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",)),
    value="ada.lovelace@acme.com",
    status=EmailStatus.VALID,
    path="/people/match",
    sent={
        "first_name": "Ada",
        "last_name": "Lovelace",
        "domain": "acme.com",
        "linkedin_url": "https://www.linkedin.com/in/ada-lovelace",
    },
    hit=(matched(),),
    cost=1,
    miss=(NOBODY,),
    no_credits=(NO_CREDITS,),
    bad_key=(BAD_KEY,),
    rate_limited=(TOO_FAST,),
    unexpected=(UNEXPECTED,),
    ineligible=ProviderRequest(
        field=ProviderField.EMAIL, subject=Subject(full_name="Ada Lovelace"), types=("work",)
    ),
    masked=(matched(email="email_not_unlocked@domain.com", email_status="unavailable"),),
)
_PHONE = replace(
    _EMAIL,
    request=ProviderRequest(field=ProviderField.PHONE, subject=ADA),
    value="+33639980001",
    sent={"reveal_phone_number": "true", "webhook_url": "https://apollo.invalid/"},
    hit=(matched(), PENDING, result(NUMBER, credits_consumed=9)),
    cost=9,
    ineligible=ProviderRequest(field=ProviderField.PHONE, subject=Subject(phone="+33639980001")),
    masked=(
        matched(),
        result({**NUMBER, "sanitized_number": None, "raw_number": "+33 6 ** ** ** 01"}, credits_consumed=1),
    ),
    never_ready=(matched(), PENDING),
)
_PERSON = replace(
    _EMAIL,
    request=ProviderRequest(field=ProviderField.PERSON, subject=ADA),
    value="Ada Lovelace",
    status=None,
    ineligible=ProviderRequest(field=ProviderField.PERSON, subject=Subject(company_domain="acme.com")),
    masked=None,
)
_COMPANY = replace(
    _PERSON,
    request=ProviderRequest(
        field=ProviderField.COMPANY, subject=Subject(company_domain="acme.com", company_name="Acme")
    ),
    value="acme.com",
    path="/organizations/enrich",
    sent={"domain": "acme.com"},
    hit=(CannedResponse(body={"organization": ORGANIZATION}),),
    miss=(CannedResponse(body={"organization": None}),),
    ineligible=ProviderRequest(field=ProviderField.COMPANY, subject=Subject(email="ada@acme.com")),
)

FOUND = CannedResponse(
    body={
        "total_entries": 1,
        "people": [
            {
                "id": "67bdafd0c3a4c50001bbd7c2",
                "first_name": "Ada",
                "last_name_obfuscated": "Lo***e",
                "title": "Head of Sales",
                "has_email": True,
                "organization": {"name": "Acme", "has_industry": True},
            }
        ],
    }
)


def matches(*people: dict[str, Any] | None) -> CannedResponse:
    """Return the response to a bulk request."""
    named = sum(person is not None for person in people)
    return CannedResponse(
        body={
            "status": "success",
            "total_requested_enrichments": len(people),
            "unique_enriched_records": named,
            "missing_records": len(people) - named,
            "credits_consumed": named,
            "matches": list(people),
        }
    )


_PEOPLE = replace(
    _EMAIL,
    request=people_request(),
    value="Ada Lovelace",
    status=None,
    path="/mixed_people/api_search",
    sent={
        "q_organization_domains_list[]": "acme.com",
        "person_titles[]": "head of sales",
        "person_seniorities[]": "head",
        "person_locations[]": "France",
        "page": "1",
        "per_page": "10",
    },
    hit=[FOUND, matches(PERSON)],
    cost=1,
    miss=[CannedResponse(body={"total_entries": 0, "people": []})],
    miss_cost=0,
    unexpected=[CannedResponse(body={"contacts": []})],
    ineligible=people_request(departments=("sales",)),
    suppressed=None,
    masked=[FOUND, matches(PERSON | {"name": "Ada L***", "last_name": "L***"})],
    never_ready=None,
)
RECORDINGS: tuple[VendorRecording, ...] = (_EMAIL, _PHONE, _PERSON, _COMPANY, _PEOPLE)
