"""Responses of Dropcontact from https://developer.dropcontact.com, with fictitious people."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vendor_recording import CannedResponse, VendorRecording

from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.dropcontact import Dropcontact

TICKET = "qzmxkpvlrtdnhwa"
ADA = Subject(first_name="Ada", last_name="Lovelace", company_name="Acme", company_domain="acme.com")
RECORD: dict[str, Any] = {
    "civility": "Mrs",
    "first_name": "Ada",
    "last_name": "Lovelace",
    "full_name": "Ada Lovelace",
    "email": [{"email": "Ada.Lovelace@acme.com", "qualification": "nominative@pro"}],
    "phone": "+33 4 72 00 01 02",
    "mobile_phone": "+33 6 39 98 00 01",
    "linkedin": "https://www.linkedin.com/in/ada-lovelace/",
    "company": "Acme",
    "website": "acme.com",
    "company_linkedin": "https://www.linkedin.com/company/acme/",
    "country": "FR",
    "siren": "000000000",
    "nb_employees": "51-200",
    "siret_city": "Lyon",
    "naf5_des": "Manufacture of anvils",
    "job": "Chief Technology Officer",
    "job_level": "C-Level",
    "job_function": "Engineering",
    "custom_fields": {},
}
ECHO: dict[str, Any] = {
    "first_name": "Ada",
    "last_name": "Lovelace",
    "full_name": "Ada Lovelace",
    "company": "Acme",
    "website": "acme.com",
}
SUBMITTED = CannedResponse(
    body={"credits_left": 15277, "request_id": TICKET, "error": False, "success": True}
)
NOT_READY = CannedResponse(
    body={
        "success": False,
        "error": False,
        "reason": "Request not ready yet, try again in 30 seconds",
    }
)
NO_CREDITS = CannedResponse(
    status=403, body={"error": True, "reason": "You don't have enough credits", "success": False}
)
BAD_KEY = CannedResponse(status=401, body={"error": True, "reason": "Invalid token", "success": False})
TOO_FAST = CannedResponse(status=429, body={"error": True, "reason": "Too many requests", "success": False})


def fetched(record: dict[str, Any]) -> CannedResponse:
    return CannedResponse(body={"success": True, "error": False, "credits_left": 15276, "data": [record]})


def marked(qualification: str, email: str = "ada.lovelace@acme.com") -> dict[str, Any]:
    return {**ECHO, "email": [{"email": email, "qualification": qualification}]}


_EMAIL = VendorRecording(
    vendor=Dropcontact,
    request=ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",)),
    value="ada.lovelace@acme.com",
    status=EmailStatus.VALID,
    path="/enrich/all",
    sent={
        "data": [
            {"first_name": "Ada", "last_name": "Lovelace", "company": "Acme", "website": "acme.com"},
        ],
        "language": "en",
    },
    hit=(SUBMITTED, NOT_READY, fetched(RECORD)),
    cost=1,
    miss=(SUBMITTED, fetched(ECHO)),
    no_credits=(NO_CREDITS,),
    bad_key=(BAD_KEY,),
    rate_limited=(TOO_FAST,),
    unexpected=(SUBMITTED, CannedResponse(body={"success": True, "data": {"email": "ada"}})),
    ineligible=ProviderRequest(
        field=ProviderField.EMAIL, subject=Subject(email="ada@acme.com"), types=("work",)
    ),
    suppressed=(SUBMITTED, fetched(marked("Do_Not_Contact@pro"))),
    masked=(SUBMITTED, fetched({**marked("nominative@pro", "a***@acme.com"), "phone": "+33 4 72 ** ** **"})),
    miss_cost=0,
    never_ready=(SUBMITTED, NOT_READY),
)
_PHONE = replace(
    _EMAIL,
    request=ProviderRequest(field=ProviderField.PHONE, subject=ADA),
    value="+33639980001",
    status=EmailStatus.UNKNOWN,
    ineligible=ProviderRequest(field=ProviderField.PHONE, subject=Subject(full_name="Ada Lovelace")),
)
_PERSON = replace(
    _EMAIL,
    request=ProviderRequest(field=ProviderField.PERSON, subject=replace(ADA, contact_id="con_1")),
    value="Ada Lovelace",
    status=None,
    ineligible=ProviderRequest(field=ProviderField.PERSON, subject=Subject(phone="+33639980001")),
    masked=None,
)

RECORDINGS: tuple[VendorRecording, ...] = (_EMAIL, _PHONE, _PERSON)
