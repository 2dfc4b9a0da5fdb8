"""Responses of LeadMagic from its OpenAPI document 1.4.35, with fictitious people."""

from __future__ import annotations

from typing import Any

from vendor_recording import CannedResponse, VendorRecording, people_request

from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.leadmagic import LeadMagic


def error(status: int, code: str, title: str, **context: float) -> CannedResponse:
    problem = {
        "type": f"https://api.leadmagic.io/errors/{code}",
        "title": title,
        "status": status,
        "code": code,
        "docs": "https://leadmagic.io/docs/v1/making-api-calls#error-handling",
        "context": context,
    }
    meta = {"request_id": "ea6e3248-f4d2-437d-bca3-20881b529129", "timestamp": "2026-02-01T12:00:00.000Z"}
    body = {"success": False, "errors": [problem], "meta": meta}
    return CannedResponse(status=status, body=body, content_type="application/problem+json")


COMPANY: dict[str, Any] = {
    "mx_record": "mx1.acme.com",
    "mx_provider": "Example Mail",
    "mx_security_gateway": False,
    "company_name": "Acme",
    "company_industry": "Machinery",
    "company_size": "51-200",
    "company_founded": 1949,
    "company_type": "private",
    "company_location": {"name": "lyon, france", "locality": "lyon", "country": "france"},
    "company_profile_url": "acme",
}
FINDER: dict[str, Any] = COMPANY | {
    "email": "ada.lovelace@acme.com",
    "status": "valid",
    "credits_consumed": 1,
    "message": "Valid email found.",
    "first_name": "Ada",
    "last_name": "Lovelace",
    "domain": "acme.com",
    "has_mx": True,
    "employment_verified": True,
}
NO_EMAIL: dict[str, Any] = {
    "email": None,
    "status": None,
    "credits_consumed": 0,
    "message": "No email found for this person at this company.",
}
MOBILE: dict[str, Any] = {
    "profile_url": "ada-lovelace",
    "email": None,
    "mobile_number": "12025550143",
    "credits_consumed": 5,
    "message": "Mobile number found.",
}
NO_MOBILE: dict[str, Any] = {
    "profile_url": "ada-lovelace",
    "mobile_number": None,
    "credits_consumed": 0,
    "message": "No mobile number found for this contact.",
}
VALIDATION: dict[str, Any] = COMPANY | {
    "email": "ada@acme.com",
    "email_status": "valid",
    "credits_consumed": 0.25,
    "message": "Email is valid.",
}
UNKNOWN: dict[str, Any] = {
    "email": "ada@acme.com",
    "email_status": "unknown",
    "credits_consumed": 0,
    "message": "Unable to determine email validity.",
}
EMPLOYEE: dict[str, Any] = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "title": "Head of Sales",
    "website": "http://www.acme.com",
    "company_name": "Acme",
}
EMPLOYEES: dict[str, Any] = {
    "message": "Data found for the given company.",
    "total_count": 5000,
    "credits_consumed": 0.05,
    "employees": [EMPLOYEE],
}
NO_EMPLOYEES: dict[str, Any] = {
    "message": "No data found for the given company.",
    "total_count": 0,
    "credits_consumed": 0,
    "employees": [],
}
EVERYBODY = people_request(titles=(), seniorities=(), countries=())
USED_UP = error(402, "insufficient_credits", "Insufficient credits: need 5, have 2.50.", credits_needed=2.5)
BAD_KEY = error(401, "invalid_api_key", "Invalid API key. The key does not exist or is incorrect.")
TOO_FAST = error(429, "rate_limit_exceeded", "Rate limit exceeded: 600 requests per 1 minute.")
UNEXPECTED = CannedResponse(body={"success": True, "data": {"email": "ada.lovelace@acme.com"}})
PROFILE = Subject(linkedin_url="https://www.linkedin.com/in/ada-lovelace")
NAMED = Subject(first_name="Ada", last_name="Lovelace", company_domain="acme.com", company_name="Acme")

RECORDINGS: tuple[VendorRecording, ...] = (
    VendorRecording(
        vendor=LeadMagic,
        request=ProviderRequest(field=ProviderField.EMAIL, subject=NAMED, types=("work",)),
        value="ada.lovelace@acme.com",
        status=EmailStatus.VALID,
        path="/v1/people/email-finder",
        sent={"first_name": "Ada", "last_name": "Lovelace", "domain": "acme.com"},
        hit=[CannedResponse(body=FINDER)],
        cost=1,
        miss=[CannedResponse(body=NO_EMAIL)],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.EMAIL, subject=PROFILE, types=("work",)),
        masked=[CannedResponse(body=FINDER | {"email": "a***@acme.com"})],
    ),
    VendorRecording(
        vendor=LeadMagic,
        request=ProviderRequest(
            field=ProviderField.PHONE, subject=PROFILE, types=("mobile", "direct", "work", "hq")
        ),
        value="+12025550143",
        status=EmailStatus.UNKNOWN,
        path="/v1/people/mobile-finder",
        sent={"profile_url": "https://www.linkedin.com/in/ada-lovelace"},
        hit=[CannedResponse(body=MOBILE)],
        cost=5,
        miss=[CannedResponse(body=NO_MOBILE)],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.PHONE, subject=NAMED, types=("mobile",)),
        masked=[CannedResponse(body=MOBILE | {"mobile_number": "1202555****"})],
    ),
    VendorRecording(
        vendor=LeadMagic,
        request=EVERYBODY,
        value="Ada Lovelace",
        path="/v1/people/employee-finder",
        sent={"company_domain": "acme.com", "limit": 10},
        hit=[CannedResponse(body=EMPLOYEES)],
        cost=0.05,
        miss=[CannedResponse(body=NO_EMPLOYEES)],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=people_request(),
        masked=[
            CannedResponse(
                body=EMPLOYEES | {"employees": [EMPLOYEE | {"first_name": "A***", "last_name": "L***"}]}
            )
        ],
    ),
    VendorRecording(
        vendor=LeadMagic,
        request=ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com")),
        value="ada@acme.com",
        status=EmailStatus.VALID,
        path="/v1/people/email-validation",
        sent={"email": "ada@acme.com"},
        hit=[CannedResponse(body=VALIDATION)],
        cost=0.25,
        miss=[CannedResponse(body=UNKNOWN)],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.VERIFICATION, subject=PROFILE),
    ),
)
