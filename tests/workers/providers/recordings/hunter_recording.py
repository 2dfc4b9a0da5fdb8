"""Responses of Hunter from https://hunter.io/api-documentation/v2, with fictitious people."""

from __future__ import annotations

from typing import Any

from vendor_recording import CannedResponse, VendorRecording, people_request

from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.hunter import Hunter


def error(status: int, code: str, details: str) -> CannedResponse:
    return CannedResponse(status=status, body={"errors": [{"id": code, "code": status, "details": details}]})


FINDER: dict[str, Any] = {
    "data": {
        "first_name": "Ada",
        "last_name": "Lovelace",
        "email": "ada.lovelace@acme.com",
        "score": 97,
        "domain": "acme.com",
        "accept_all": False,
        "position": "Chief Technology Officer",
        "twitter": None,
        "linkedin_url": "https://www.linkedin.com/in/ada-lovelace",
        "phone_number": None,
        "company": "Acme",
        "sources": [
            {
                "domain": "acme.com",
                "uri": "http://acme.com/team",
                "extracted_on": "2026-02-11",
                "last_seen_on": "2026-06-02",
                "still_on_page": True,
            }
        ],
        "verification": {"date": "2026-06-10", "status": "valid"},
    },
    "meta": {"params": {"full_name": "Ada Lovelace", "domain": "acme.com", "company": None}},
}
NOT_FOUND: dict[str, Any] = {
    "data": {
        "first_name": "Ada",
        "last_name": "Lovelace",
        "email": None,
        "score": None,
        "domain": "acme.com",
        "accept_all": None,
        "position": None,
        "twitter": None,
        "linkedin_url": None,
        "phone_number": None,
        "company": None,
        "sources": [],
        "verification": {"date": None, "status": None},
    },
    "meta": {"params": {}},
}
VERIFIER: dict[str, Any] = {
    "data": {
        "status": "valid",
        "result": "deliverable",
        "score": 100,
        "email": "ada@acme.com",
        "regexp": True,
        "gibberish": False,
        "disposable": False,
        "webmail": False,
        "mx_records": True,
        "smtp_server": True,
        "smtp_check": True,
        "accept_all": False,
        "block": False,
        "sources": [],
    },
    "meta": {"params": {"email": "ada@acme.com"}},
}
PERSON: dict[str, Any] = {
    "data": {
        "id": "b3ae14fb-6725-56d1-ac68-a76f8ce04dec",
        "name": {"fullName": "Ada Lovelace", "givenName": "Ada", "familyName": "Lovelace"},
        "email": "ada@acme.com",
        "location": "Lyon, Rhône, France",
        "timeZone": "Europe/Paris",
        "utcOffset": 1,
        "geo": {
            "city": "Lyon",
            "state": None,
            "country": "France",
            "countryCode": "FR",
            "lat": 45.7,
            "lng": 4.8,
        },
        "employment": {
            "domain": "acme.com",
            "name": "Acme",
            "title": "Chief Technology Officer",
            "role": "engineering",
            "subRole": None,
            "seniority": "executive",
        },
        "twitter": {"handle": None},
        "linkedin": {"handle": "ada-lovelace"},
        "fuzzy": False,
        "emailProvider": "google.com",
        "indexedAt": "2026-08-30",
        "phone": None,
        "activeAt": "2026-09-03",
        "inactiveAt": None,
    },
    "meta": {"email": "ada@acme.com"},
}
COMPANY: dict[str, Any] = {
    "data": {
        "id": "95ca56a8-a019-5c41-881e-293d9ca4741a",
        "name": "Acme",
        "legalName": "Acme SAS",
        "domain": "acme.com",
        "domainAliases": [],
        "category": {"sector": "Industrials", "industryGroup": "Capital Goods", "industry": "Machinery"},
        "tags": ["anvils"],
        "description": "Acme makes anvils.",
        "foundedYear": 1949,
        "location": "Lyon, Rhône, France",
        "linkedin": {"handle": "company/acme"},
        "type": "private",
        "metrics": {"employees": "51-200", "trafficRank": "high"},
        "tech": ["ruby"],
        "fundingRounds": [],
    },
    "meta": {"domain": "acme.com"},
}
PEOPLE: dict[str, Any] = {
    "data": {
        "domain": "acme.com",
        "disposable": False,
        "webmail": False,
        "accept_all": False,
        "pattern": "{first}.{last}",
        "organization": "Acme",
        "linked_domains": [],
        "emails": [
            {
                "value": "ada.lovelace@acme.com",
                "type": "personal",
                "confidence": 92,
                "sources": [],
                "first_name": "Ada",
                "last_name": "Lovelace",
                "position": "Head of Sales",
                "seniority": "executive",
                "department": "sales",
                "linkedin": "https://www.linkedin.com/in/ada-lovelace",
                "twitter": None,
                "phone_number": None,
                "verification": {"date": "2026-06-10", "status": "valid"},
            }
        ],
    },
    "meta": {"results": 1, "limit": 10, "offset": 0},
}
USED_UP = error(
    429,
    "too_many_requests",
    "You've reached the limit for the number of searches per billing period included in your plan.",
)
BAD_KEY = error(401, "authentication_failed", "No user found for the API key supplied")
TOO_FAST = error(403, "too_many_requests", "You have reached the rate limit of the API.")
CLAIMED = error(451, "claimed_email", "The owner of this email address asked us to stop processing it.")
NO_ONE = error(404, "not_found", "The requested resource does not exist.")
UNEXPECTED = CannedResponse(body={"data": ["ada"]})
IN_PROGRESS = CannedResponse(status=202, body={"data": {"email": "ada@acme.com"}, "meta": {}})

RECORDINGS: tuple[VendorRecording, ...] = (
    VendorRecording(
        vendor=Hunter,
        request=ProviderRequest(
            field=ProviderField.EMAIL,
            subject=Subject(full_name="Ada Lovelace", company_domain="acme.com"),
            types=("work",),
        ),
        value="ada.lovelace@acme.com",
        status=EmailStatus.VALID,
        path="/email-finder",
        sent={"full_name": "Ada Lovelace", "domain": "acme.com"},
        hit=[CannedResponse(body=FINDER)],
        cost=1,
        miss=[CannedResponse(body=NOT_FOUND)],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        suppressed=[CLAIMED],
        ineligible=ProviderRequest(
            field=ProviderField.EMAIL, subject=Subject(company_domain="acme.com"), types=("work",)
        ),
        never_ready=[IN_PROGRESS],
    ),
    VendorRecording(
        vendor=Hunter,
        request=ProviderRequest(field=ProviderField.VERIFICATION, subject=Subject(email="ada@acme.com")),
        value="ada@acme.com",
        status=EmailStatus.VALID,
        path="/email-verifier",
        sent={"email": "ada@acme.com"},
        hit=[IN_PROGRESS, CannedResponse(body=VERIFIER)],
        cost=1,
        miss=[CannedResponse(body={"data": VERIFIER["data"] | {"status": "unknown"}})],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[CannedResponse(body={"data": {"email": "ada@acme.com"}})],
        suppressed=[CLAIMED],
        ineligible=ProviderRequest(
            field=ProviderField.VERIFICATION, subject=Subject(full_name="Ada Lovelace")
        ),
        never_ready=[IN_PROGRESS],
    ),
    VendorRecording(
        vendor=Hunter,
        request=ProviderRequest(
            field=ProviderField.PERSON,
            subject=Subject(linkedin_url="https://www.linkedin.com/in/ada-lovelace"),
        ),
        value="Ada Lovelace",
        path="/people/find",
        sent={"linkedin_handle": "ada-lovelace"},
        hit=[CannedResponse(body=PERSON)],
        cost=1,
        miss=[NO_ONE],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        suppressed=[CLAIMED],
        ineligible=ProviderRequest(field=ProviderField.PERSON, subject=Subject(phone="+12025550143")),
        masked=[CannedResponse(body={"data": {"name": {"fullName": "Ada L*******"}}})],
    ),
    VendorRecording(
        vendor=Hunter,
        request=ProviderRequest(field=ProviderField.COMPANY, subject=Subject(company_domain="acme.com")),
        value="acme.com",
        path="/companies/find",
        sent={"domain": "acme.com"},
        hit=[CannedResponse(body=COMPANY)],
        cost=1,
        miss=[NO_ONE],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.COMPANY, subject=Subject(company_name="Acme")),
    ),
    VendorRecording(
        vendor=Hunter,
        request=people_request(departments=("sales",)),
        value="Ada Lovelace",
        path="/domain-search",
        sent={
            "domain": "acme.com",
            "job_titles": "head of sales",
            "seniority": "executive",
            "department": "sales",
            "location": {"include": [{"country": "FR"}]},
            "type": "personal",
            "limit": 10,
        },
        hit=[CannedResponse(body=PEOPLE)],
        cost=1,
        miss=[CannedResponse(body={"data": PEOPLE["data"] | {"emails": []}})],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=people_request(departments=("purchasing",)),
        masked=[
            CannedResponse(
                body={
                    "data": PEOPLE["data"]
                    | {"emails": [PEOPLE["data"]["emails"][0] | {"value": "a***@acme.com"}]}
                }
            )
        ],
    ),
)
