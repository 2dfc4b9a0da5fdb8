"""Responses of Prospeo from https://prospeo.io/api-docs, with fictitious people."""

from __future__ import annotations

from typing import Any

from vendor_recording import CannedResponse, VendorRecording, people_request

from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.prospeo import Prospeo


def error(status: int, code: str) -> CannedResponse:
    return CannedResponse(status=status, body={"error": True, "error_code": code})


COMPANY: dict[str, Any] = {
    "company_id": "cccc7c7da6116a8830a07100",
    "name": "Acme",
    "website": "https://www.acme.com",
    "domain": "acme.com",
    "other_websites": [],
    "description": "Acme makes anvils.",
    "type": "Private",
    "industry": "Machinery",
    "employee_count": 134,
    "employee_count_on_prospeo": 120,
    "employee_range": "101-200",
    "location": {
        "country": "France",
        "country_code": "FR",
        "state": "Auvergne-Rhône-Alpes",
        "city": "Lyon",
        "raw_address": "1 Rue de la République, Lyon, France",
    },
    "sic_codes": [],
    "naics_codes": [],
    "email_tech": {"domain": "acme.com", "mx_provider": "Google", "catch_all_domain": False},
    "linkedin_url": "https://www.linkedin.com/company/acme",
    "twitter_url": None,
    "phone_hq": None,
    "linkedin_id": "1234",
    "founded": 1949,
    "revenue_range": {"min": 1000000, "max": 10000000},
    "keywords": ["anvils"],
    "funding": None,
    "technology": {"count": 0, "technology_names": [], "technology_list": []},
}
EMAIL: dict[str, Any] = {
    "status": "VERIFIED",
    "revealed": True,
    "email": "ada.lovelace@acme.com",
    "verification_method": "SMTP",
    "email_mx_provider": "Google",
}
MOBILE: dict[str, Any] = {
    "status": "VERIFIED",
    "revealed": True,
    "mobile": "+12025550143",
    "mobile_national": "(202) 555-0143",
    "mobile_international": "+1 202-555-0143",
    "mobile_country": "United States",
    "mobile_country_code": "US",
}
PERSON: dict[str, Any] = {
    "person_id": "aaaacd817619fba3d254cd64",
    "first_name": "Ada",
    "last_name": "Lovelace",
    "full_name": "Ada Lovelace",
    "linkedin_url": "https://www.linkedin.com/in/ada-lovelace",
    "current_job_title": "Chief Technology Officer",
    "current_job_key": None,
    "headline": "Making engines think",
    "linkedin_member_id": None,
    "last_job_change_detected_at": None,
    "job_history": [
        {
            "title": "Analyst",
            "company_name": "Northwind",
            "current": False,
            "start_year": 2015,
            "start_month": 1,
            "end_year": 2020,
            "end_month": 6,
            "departments": ["Finance"],
            "seniority": "Senior",
        },
        {
            "title": "Chief Technology Officer",
            "company_name": "Acme",
            "current": True,
            "start_year": 2020,
            "start_month": 7,
            "end_year": None,
            "end_month": None,
            "departments": ["Engineering & Technical"],
            "seniority": "C-Suite",
        },
    ],
    "mobile": {
        "status": "VERIFIED",
        "revealed": False,
        "mobile": "+1 202-***-****",
        "mobile_national": "(202) ***-****",
        "mobile_international": "+1 202-***-****",
        "mobile_country": "United States",
        "mobile_country_code": "US",
    },
    "email": EMAIL,
    "location": {
        "country": "France",
        "country_code": "FR",
        "state": "Auvergne-Rhône-Alpes",
        "city": "Lyon",
        "time_zone": "Europe/Paris",
    },
    "skills": ["Mathematics"],
}
NO_MATCH = error(400, "NO_MATCH")
USED_UP = error(400, "INSUFFICIENT_CREDITS")
BAD_KEY = error(401, "INVALID_API_KEY")
TOO_FAST = error(429, "RATE_LIMITED")
UNEXPECTED = CannedResponse(
    body={"error": False, "free_enrichment": False, "person": "ada", "company": ["acme"]}
)
NAMED = Subject(first_name="Ada", last_name="Lovelace", company_domain="acme.com")
PROFILE = Subject(linkedin_url="https://www.linkedin.com/in/ada-lovelace")
NAME_ONLY = Subject(first_name="Ada", last_name="Lovelace")


def found(*results: dict[str, Any], total: int | None = None) -> CannedResponse:
    """Return a page of a search."""
    count = len(results) if total is None else total
    pagination = {"current_page": 1, "per_page": 25, "total_page": 1, "total_count": count}
    return CannedResponse(body={"error": False, "results": list(results), "pagination": pagination})


def record(**parts: Any) -> CannedResponse:
    """Return a response with the person, changed in these values."""
    body = {"error": False, "free_enrichment": False, "person": PERSON | parts, "company": COMPANY}
    return CannedResponse(body=body)


RECORDINGS: tuple[VendorRecording, ...] = (
    VendorRecording(
        vendor=Prospeo,
        request=ProviderRequest(field=ProviderField.EMAIL, subject=NAMED, types=("work",)),
        value="ada.lovelace@acme.com",
        status=EmailStatus.VALID,
        path="/enrich-person",
        sent={
            "only_verified_email": True,
            "enrich_mobile": False,
            "only_verified_mobile": False,
            "data": {"first_name": "Ada", "last_name": "Lovelace", "company_website": "acme.com"},
        },
        hit=[record()],
        cost=1,
        miss=[NO_MATCH],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.EMAIL, subject=NAME_ONLY, types=("work",)),
        masked=[record(email=EMAIL | {"revealed": False, "email": "ada.********@acme.com"})],
    ),
    VendorRecording(
        vendor=Prospeo,
        request=ProviderRequest(
            field=ProviderField.PHONE, subject=PROFILE, types=("mobile", "direct", "work", "hq")
        ),
        value="+12025550143",
        status=EmailStatus.VALID,
        path="/enrich-person",
        sent={
            "only_verified_email": False,
            "enrich_mobile": True,
            "only_verified_mobile": True,
            "data": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"},
        },
        hit=[record(mobile=MOBILE)],
        cost=10,
        miss=[NO_MATCH],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.PHONE, subject=NAME_ONLY, types=("mobile",)),
        masked=[record()],
    ),
    VendorRecording(
        vendor=Prospeo,
        request=ProviderRequest(field=ProviderField.PERSON, subject=PROFILE),
        value="Ada Lovelace",
        path="/enrich-person",
        sent={
            "only_verified_email": False,
            "enrich_mobile": False,
            "only_verified_mobile": False,
            "data": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"},
        },
        hit=[record()],
        cost=1,
        miss=[NO_MATCH],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.PERSON, subject=NAME_ONLY),
        masked=[record(full_name="Ada L*******", last_name="L*******", linkedin_url=None)],
    ),
    VendorRecording(
        vendor=Prospeo,
        request=ProviderRequest(
            field=ProviderField.COMPANY, subject=Subject(company_domain="acme.com", company_name="Acme")
        ),
        value="acme.com",
        path="/enrich-company",
        sent={"data": {"company_website": "acme.com", "company_name": "Acme"}},
        hit=[CannedResponse(body={"error": False, "free_enrichment": False, "company": COMPANY})],
        cost=1,
        miss=[NO_MATCH],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.COMPANY, subject=PROFILE),
    ),
    VendorRecording(
        vendor=Prospeo,
        request=people_request(),
        value="Ada Lovelace",
        path="/search-person",
        sent={
            "page": 1,
            "filters": {
                "company": {"websites": {"include": ["acme.com"]}},
                "person_job_title": {"include": ["head of sales"]},
                "person_seniority": {"include": ["Head"]},
                "person_location_search": {"include": ["France"]},
            },
        },
        hit=[found({"person": PERSON, "company": COMPANY})],
        cost=1,
        miss=[found()],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[CannedResponse(body={"error": False, "person": PERSON})],
        ineligible=people_request(departments=("legal",)),
        masked=[found({"person": PERSON | {"full_name": "A*** L***"}, "company": COMPANY})],
    ),
)
