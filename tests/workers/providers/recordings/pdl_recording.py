"""Responses of People Data Labs from https://docs.peopledatalabs.com, with fictitious people."""

from __future__ import annotations

from typing import Any

from vendor_recording import CannedResponse, VendorRecording, people_request

from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.pdl import PeopleDataLabs

HEADERS = {
    "x-call-credits-spent": "1",
    "x-call-credits-type": "enrich",
    "x-totallimit-remaining": "1342",
    "x-ratelimit-remaining": "{'minute': 99, 'day': None, 'month': None}",
    "x-ratelimit-reset": "2026-11-20T20:19:55Z",
}


def error(status: int, kind: str, message: str) -> CannedResponse:
    return CannedResponse(status=status, body={"status": status, "error": {"type": kind, "message": message}})


PERSON: dict[str, Any] = {
    "id": "qEnOZ5Oh0poWnQ1luFBfVw_0000",
    "full_name": "Ada Lovelace",
    "first_name": "Ada",
    "last_name": "Lovelace",
    "linkedin_url": "Linkedin.com/In/Ada-Lovelace",
    "linkedin_username": "Ada-Lovelace",
    "work_email": "ada.lovelace@acme.com",
    "personal_emails": ["ada@home.example", "countess@lovelace.example"],
    "emails": [
        {"address": "ada.lovelace@acme.com", "type": "current_professional"},
        {"address": "ada@northwind.com", "type": "professional"},
    ],
    "mobile_phone": "+12025550143",
    "phone_numbers": ["+12025550143", "+12025550187"],
    "job_title": "Chief Technology Officer",
    "job_title_role": "Engineering",
    "job_title_sub_role": None,
    "job_title_levels": ["Cxo"],
    "job_company_id": "aKCIYBNF9ey6o5CjHCCO4goHYKlf",
    "job_company_name": "Acme",
    "job_company_website": "acme.com",
    "job_company_size": "51-200",
    "job_company_industry": "Machinery",
    "job_company_linkedin_url": "Linkedin.com/Company/Acme",
    "job_last_updated": "2026-05-12",
    "job_start_date": "2020-07",
    "location_name": "Lyon, Auvergne-Rhone-Alpes, France",
    "location_locality": "Lyon",
    "location_country": "France",
    "experience": [],
    "profiles": [],
}
COMPANY: dict[str, Any] = {
    "status": 200,
    "likelihood": 6,
    "id": "aKCIYBNF9ey6o5CjHCCO4goHYKlf",
    "name": "acme",
    "display_name": "Acme",
    "size": "51-200",
    "employee_count": 134,
    "founded": 1949,
    "industry": "machinery",
    "location": {
        "name": "lyon, auvergne-rhone-alpes, france",
        "locality": "lyon",
        "region": "auvergne-rhone-alpes",
        "country": "france",
        "continent": "europe",
    },
    "linkedin_id": "1234",
    "linkedin_url": "linkedin.com/company/acme",
    "website": "acme.com",
    "ticker": None,
    "type": "private",
    "summary": "acme makes anvils.",
    "tags": ["anvils"],
    "profiles": ["linkedin.com/company/acme"],
}
NO_ONE = error(404, "not_found", "No records were found matching your request")
USED_UP = error(402, "payment_required", "You have hit your account maximum")
BAD_KEY = error(401, "authentication_error", "Request contained a missing or invalid key")
TOO_FAST = error(429, "rate_limit_error", "An error occurred due to requests hitting the API too quickly")
UNEXPECTED = CannedResponse(body={"status": 200, "likelihood": 9, "data": ["ada"]})
NAMED = Subject(full_name="Ada Lovelace", company_domain="acme.com")
PROFILE = Subject(linkedin_url="https://www.linkedin.com/in/ada-lovelace")
NAME_ONLY = Subject(full_name="Ada Lovelace")


def record(**parts: Any) -> CannedResponse:
    """Return a response with the person, changed in these values."""
    return CannedResponse(body={"status": 200, "likelihood": 9, "data": PERSON | parts}, headers=HEADERS)


RECORDINGS: tuple[VendorRecording, ...] = (
    VendorRecording(
        vendor=PeopleDataLabs,
        request=ProviderRequest(field=ProviderField.EMAIL, subject=NAMED, types=("work",)),
        value="ada.lovelace@acme.com",
        status=EmailStatus.UNKNOWN,
        path="/person/enrich",
        sent={
            "name": "Ada Lovelace",
            "company": "acme.com",
            "required": "work_email",
            "min_likelihood": "6",
        },
        hit=[record()],
        cost=1,
        miss=[NO_ONE],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.EMAIL, subject=NAME_ONLY, types=("work",)),
        masked=[record(work_email=True, personal_emails=True)],
    ),
    VendorRecording(
        vendor=PeopleDataLabs,
        request=ProviderRequest(
            field=ProviderField.PHONE, subject=PROFILE, types=("mobile", "direct", "work", "hq")
        ),
        value="+12025550143",
        status=EmailStatus.UNKNOWN,
        path="/person/enrich",
        sent={
            "profile": "https://www.linkedin.com/in/ada-lovelace",
            "required": "mobile_phone",
            "min_likelihood": "6",
        },
        hit=[record()],
        cost=1,
        miss=[NO_ONE],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.PHONE, subject=NAME_ONLY, types=("mobile",)),
        masked=[record(mobile_phone=True, phone_numbers=True)],
    ),
    VendorRecording(
        vendor=PeopleDataLabs,
        request=ProviderRequest(field=ProviderField.PERSON, subject=PROFILE),
        value="Ada Lovelace",
        path="/person/enrich",
        sent={"profile": "https://www.linkedin.com/in/ada-lovelace", "min_likelihood": "6"},
        hit=[record()],
        cost=1,
        miss=[NO_ONE],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=ProviderRequest(field=ProviderField.PERSON, subject=NAME_ONLY),
    ),
    VendorRecording(
        vendor=PeopleDataLabs,
        request=ProviderRequest(field=ProviderField.COMPANY, subject=Subject(company_domain="acme.com")),
        value="acme.com",
        path="/company/enrich",
        sent={"website": "acme.com"},
        hit=[CannedResponse(body=COMPANY, headers=HEADERS | {"x-call-credits-type": "enrich_company"})],
        cost=1,
        miss=[NO_ONE],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[CannedResponse(body={"status": 200, "likelihood": 9})],
        ineligible=ProviderRequest(field=ProviderField.COMPANY, subject=PROFILE),
    ),
    VendorRecording(
        vendor=PeopleDataLabs,
        request=people_request(),
        value="Ada Lovelace",
        path="/person/search",
        sent={
            "query": {
                "bool": {
                    "must": [
                        {"term": {"job_company_website": "acme.com"}},
                        {"terms": {"job_title_levels": ["director"]}},
                        {"terms": {"location_country": ["france"]}},
                        {
                            "bool": {
                                "should": [
                                    {
                                        "bool": {
                                            "must": [
                                                {"match": {"job_title": word}}
                                                for word in ("head", "of", "sales")
                                            ]
                                        }
                                    }
                                ]
                            }
                        },
                    ]
                }
            },
            "size": 10,
            "titlecase": True,
        },
        hit=[CannedResponse(body={"status": 200, "data": [PERSON], "total": 1}, headers=HEADERS)],
        cost=1,
        miss=[NO_ONE],
        no_credits=[USED_UP],
        bad_key=[BAD_KEY],
        rate_limited=[TOO_FAST],
        unexpected=[UNEXPECTED],
        ineligible=people_request(departments=("purchasing",)),
        masked=[
            CannedResponse(body={"status": 200, "data": [PERSON | {"full_name": "A*** L***"}], "total": 1})
        ],
    ),
)
