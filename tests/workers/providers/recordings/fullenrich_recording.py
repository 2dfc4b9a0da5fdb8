"""Responses of FullEnrich from its OpenAPI document (v2), with fictitious people."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vendor_recording import CannedResponse, VendorRecording

from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.fullenrich import FullEnrich

TICKET = "2db5ea61-1752-42cf-8ea1-ab1da060cd0a"
ADA = Subject(
    full_name="Ada Lovelace",
    company_domain="acme.com",
    linkedin_url="https://www.linkedin.com/in/ada-lovelace",
)
COMPANY: dict[str, Any] = {
    "id": "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
    "name": "Acme",
    "domain": "acme.com",
    "website": "https://www.acme.com",
    "year_founded": 0,
    "headcount": 0,
    "headcount_range": "51-200",
    "company_type": "Privately Held",
    "locations": {
        "headquarters": {"city": "Lyon", "region": "Rhône", "country": "France", "country_code": "FR"},
        "offices": None,
    },
    "industry": {"main_industry": "Machinery"},
    "social_profiles": {"professional_network": {"url": "https://www.linkedin.com/company/acme"}},
}
PROFILE: dict[str, Any] = {
    "id": "746e4816-19c8-54d8-b558-65a5a52cc85c",
    "full_name": "Ada Lovelace",
    "first_name": "Ada",
    "last_name": "Lovelace",
    "headline": "Chief Technology Officer at Acme",
    "location": {"country": "France", "country_code": "FR", "city": "Lyon", "region": "Rhône"},
    "social_profiles": {
        "professional_network": {"id": 1234, "url": "https://www.linkedin.com/in/ada-lovelace"},
    },
    "educations": [],
    "languages": None,
    "employment": {
        "current": {
            "title": "Chief Technology Officer",
            "is_current": True,
            "start_at": "2022-03-15T00:00:00Z",
            "company": COMPANY,
        },
        "all": [],
    },
}
WORK: dict[str, Any] = {"email": "ada.lovelace@acme.com", "status": "DELIVERABLE"}
OWN: dict[str, Any] = {"email": "ada@northwind.example", "status": "CATCH_ALL"}
ORDERED = CannedResponse(body={"enrichment_id": TICKET})


def error(status: int, code: str, message: str) -> CannedResponse:
    return CannedResponse(status=status, body={"code": code, "message": message})


def result(
    contact_info: dict[str, Any], *, credits_spent: int | None, state: str = "FINISHED", status: int = 200
) -> CannedResponse:
    cost = {} if credits_spent is None else {"cost": {"credits": credits_spent}}
    row = {"input": {"full_name": "Ada Lovelace"}, "contact_info": contact_info, "profile": PROFILE}
    body = {"id": TICKET, "name": "contact lookup", "status": state, "data": [row], **cost}
    return CannedResponse(status=status, body=body)


IN_PROGRESS = error(400, "error.enrichment.in_progress", "Enrichment not ready, try again in 30 seconds")
BAD_KEY = error(401, "error.api.key", "Unknown api key")
TOO_FAST = error(429, "error.rate.limit", "Too many requests. Try again in 1m")
OUT_OF_CREDITS = result({}, credits_spent=0, state="CREDITS_INSUFFICIENT", status=402)

_EMAIL = VendorRecording(
    vendor=FullEnrich,
    request=ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",)),
    value="ada.lovelace@acme.com",
    status=EmailStatus.VALID,
    path="/contact/enrich/bulk",
    sent={
        "name": "contact lookup",
        "data": [
            {
                "first_name": "Ada",
                "last_name": "Lovelace",
                "domain": "acme.com",
                "linkedin_url": "https://www.linkedin.com/in/ada-lovelace",
                "enrich_fields": ["contact.work_emails"],
            }
        ],
    },
    hit=(
        ORDERED,
        IN_PROGRESS,
        result({"most_probable_work_email": WORK, "work_emails": [WORK], "phones": None}, credits_spent=1),
    ),
    cost=1,
    miss=(ORDERED, result({}, credits_spent=0)),
    no_credits=(ORDERED, OUT_OF_CREDITS),
    bad_key=(BAD_KEY,),
    rate_limited=(TOO_FAST,),
    unexpected=(ORDERED, CannedResponse(body={"status": "FINISHED", "data": "ada"})),
    ineligible=ProviderRequest(
        field=ProviderField.EMAIL, subject=Subject(full_name="Ada", company_name="Acme"), types=("work",)
    ),
    masked=(
        ORDERED,
        result({"work_emails": [{"email": "a•••@acme.com", "status": "DELIVERABLE"}]}, credits_spent=0),
    ),
    never_ready=(ORDERED, IN_PROGRESS),
)
_PHONE = replace(
    _EMAIL,
    request=ProviderRequest(field=ProviderField.PHONE, subject=ADA),
    value="+33639980001",
    status=EmailStatus.UNKNOWN,
    sent={"data": [{"enrich_fields": ["contact.phones"]}]},
    hit=(
        ORDERED,
        result(
            {
                "most_probable_phone": {"number": "+33 6 39 98 00 01", "region": "FR"},
                "phones": [
                    {"number": "+1 202-555-0143", "region": "US"},
                    {"number": "+33 6 39 98 00 01", "region": "FR"},
                ],
            },
            credits_spent=10,
        ),
    ),
    cost=10,
    ineligible=ProviderRequest(field=ProviderField.PHONE, subject=Subject(email="ada@acme.com")),
    masked=(ORDERED, result({"phones": [{"number": "+33 6 ** ** ** 01"}]}, credits_spent=0)),
)

RECORDINGS: tuple[VendorRecording, ...] = (_EMAIL, _PHONE)
