"""Responses of RocketReach from its OpenAPI document (v2), with fictitious people."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vendor_recording import CannedResponse, VendorRecording, people_request

from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.rocketreach import RocketReach

ID = 5244
ADA = Subject(linkedin_url="https://www.linkedin.com/in/ada-lovelace")
WORK: dict[str, Any] = {
    "email": "ada.lovelace@acme.com",
    "smtp_valid": "valid",
    "type": "professional",
    "last_validation_check": "2026-10-02T12:00:00Z",
    "grade": "A",
}
OWN: dict[str, Any] = {
    "email": "ada@northwind.example",
    "smtp_valid": "unknown",
    "type": "personal",
    "last_validation_check": None,
    "grade": "B",
}
MOBILE: dict[str, Any] = {
    "number": "+33 6 39 98 00 01",
    "e164": "+33639980001",
    "country_code": "33",
    "extension": None,
    "type": "mobile",
    "grade": "A",
    "recommended": True,
}
PROFILE: dict[str, Any] = {
    "id": ID,
    "status": "complete",
    "profile_list": None,
    "name": "Ada Lovelace",
    "linkedin_url": "https://www.linkedin.com/in/ada-lovelace",
    "linkedin_url_active": True,
    "location": "Lyon, France",
    "current_title": "Chief Technology Officer",
    "current_employer": "Acme",
    "current_employer_id": 77,
    "current_employer_domain": "acme.com",
    "current_employer_website": "http://www.acme.com",
    "current_employer_linkedin_url": "https://www.linkedin.com/company/acme",
    "current_employer_industry": "Machinery",
    "job_history": [
        {
            "title": "Analyst",
            "highest_level": "Staff",
            "department": "Finance",
            "is_current": False,
            "end_date": "2019-01-01",
        },
        {
            "title": "Chief Technology Officer",
            "highest_level": "C-Level",
            "department": "Engineering",
            "is_current": True,
            "end_date": "Present",
        },
    ],
    "skills": None,
    "city": "Lyon",
    "region": "ARA",
    "country": "France",
    "country_code": "FR",
    "recommended_email": None,
    "recommended_professional_email": "ada.lovelace@acme.com",
    "current_work_email": "ada.lovelace@acme.com",
    "emails": [OWN, WORK],
    "phones": [MOBILE],
}
COMPANY: dict[str, Any] = {
    "id": 77,
    "name": "Acme",
    "domain": "acme.com",
    "email_domain": "acme.com",
    "website_domain": "www.acme.com",
    "ticker_symbol": None,
    "links": {"linkedin": "https://www.linkedin.com/company/acme"},
    "year_founded": None,
    "address": {"city": "Lyon", "country": "France", "country_code": "FR"},
    "num_employees": 120,
    "revenue": None,
    "industry": "Machinery",
}
NOBODY = CannedResponse(status=404, body={"detail": "We could not find a match for the given query."})
NO_CREDITS = CannedResponse(status=402, body={"detail": "You have no credits left."})
BAD_KEY = CannedResponse(status=401, body={"detail": "Invalid API key"})
TOO_FAST = CannedResponse(status=429, body={"detail": "Request was throttled."})
UNEXPECTED = CannedResponse(body={"hello": ["world"]})
IN_PROGRESS = CannedResponse(body={**PROFILE, "status": "progress", "emails": [], "phones": []})


def looked_up(**changes: Any) -> CannedResponse:
    return CannedResponse(body={**PROFILE, **changes})


def statuses(**changes: Any) -> CannedResponse:
    return CannedResponse(body=[{**PROFILE, **changes}])


_EMAIL = VendorRecording(
    vendor=RocketReach,
    request=ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",)),
    value="ada.lovelace@acme.com",
    status=EmailStatus.VALID,
    path="/person/lookup",
    sent={
        "linkedin_url": "https://www.linkedin.com/in/ada-lovelace",
        "lookup_type": "standard",
        "return_cached_emails": "false",
    },
    hit=(IN_PROGRESS, statuses(status="searching", emails=[]), statuses()),
    cost=1,
    miss=(IN_PROGRESS, statuses(emails=[], phones=[])),
    no_credits=(NO_CREDITS,),
    bad_key=(BAD_KEY,),
    rate_limited=(TOO_FAST,),
    unexpected=(UNEXPECTED,),
    ineligible=ProviderRequest(
        field=ProviderField.EMAIL, subject=Subject(full_name="Ada Lovelace"), types=("work",)
    ),
    masked=(looked_up(emails=[{**WORK, "email": "a***@acme.com", "grade": "B"}]),),
    never_ready=(IN_PROGRESS, statuses(status="progress", emails=None)),
)
_PHONE = replace(
    _EMAIL,
    request=ProviderRequest(field=ProviderField.PHONE, subject=ADA),
    value="+33639980001",
    sent={"lookup_type": "phone"},
    hit=(looked_up(),),
    miss=(looked_up(phones=None),),
    ineligible=ProviderRequest(field=ProviderField.PHONE, subject=Subject(company_name="Acme")),
    masked=(looked_up(phones=[{**MOBILE, "e164": None, "number": "+33 6XX XX XX 01"}]),),
)
_PERSON = replace(
    _EMAIL,
    request=ProviderRequest(
        field=ProviderField.PERSON,
        subject=Subject(full_name="Ada Lovelace", company_name="Acme", company_domain="acme.com"),
    ),
    value="Ada Lovelace",
    status=None,
    sent={"name": "Ada Lovelace", "current_employer": "Acme", "lookup_type": "enrich"},
    hit=(IN_PROGRESS,),
    miss=(NOBODY,),
    ineligible=ProviderRequest(field=ProviderField.PERSON, subject=Subject(company_domain="acme.com")),
    masked=None,
    never_ready=None,
)
_COMPANY = replace(
    _PERSON,
    request=ProviderRequest(
        field=ProviderField.COMPANY, subject=Subject(company_domain="acme.com", company_name="Acme")
    ),
    value="acme.com",
    path="/company/lookup/",
    sent={"domain": "acme.com"},
    hit=(CannedResponse(body=COMPANY),),
    ineligible=ProviderRequest(field=ProviderField.COMPANY, subject=ADA),
)

_PEOPLE = replace(
    _EMAIL,
    request=people_request(),
    value="Ada Lovelace",
    status=None,
    path="/person/search",
    sent={
        "query": {
            "company_domain": ["acme.com"],
            "current_title": ["head of sales"],
            "management_levels": ["Head"],
            "geo": ["France"],
        },
        "start": 1,
        "page_size": 10,
    },
    hit=[CannedResponse(status=201, body=[PROFILE])],
    cost=0,
    miss=[CannedResponse(status=201, body=[])],
    miss_cost=0,
    ineligible=people_request(departments=("consulting",)),
    masked=[CannedResponse(status=201, body=[PROFILE | {"name": "Ada L***"}])],
    never_ready=None,
)
RECORDINGS: tuple[VendorRecording, ...] = (_EMAIL, _PHONE, _PERSON, _COMPANY, _PEOPLE)
