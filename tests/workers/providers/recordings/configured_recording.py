"""Responses for the providers of docs/providers.example.toml, so that the example is tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vendor_recording import CannedResponse, VendorRecording

from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from workers.providers.base import ProviderField, ProviderRequest
from workers.providers.configured import provider

EXAMPLE = Path(__file__).parents[4] / "docs" / "providers.example.toml"
CRM, WAREHOUSE = provider.read(str(EXAMPLE), {})
ADA = Subject(
    full_name="Ada Lovelace",
    email="ada@acme.com",
    company_domain="acme.com",
    linkedin_url="https://www.linkedin.com/in/ada-lovelace",
)
NOBODY = Subject(company_name="Acme")
STATEMENTS = "/api/statements"


def _contact(email: str | None) -> dict[str, Any]:
    check = {"result": "Deliverable", "score": 0.9, "checked_at": "2026-10-01T08:00:00Z"}
    return {"work_email": email, "email_kind": "business", "email_check": check, "opted_out": False}


def _refusals() -> dict[str, Any]:
    return {
        "bad_key": [CannedResponse(status=401, body={"error": "unauthorized"})],
        "no_credits": [CannedResponse(status=402, body={"error": "quota"})],
        "rate_limited": [CannedResponse(status=429, body={"error": "slow down"})],
        "suppressed": [CannedResponse(status=451, body={"error": "opted out"})],
    }


RECORDINGS: tuple[VendorRecording, ...] = (
    VendorRecording(
        vendor=CRM,
        request=ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",)),
        value="ada@acme.com",
        status=EmailStatus.VALID,
        path="/contacts",
        sent={"name": "Ada Lovelace", "domain": "acme.com", "profile": ADA.linkedin_url, "limit": "3"},
        hit=[CannedResponse(body={"total": 1, "contacts": [_contact("ada@acme.com")]})],
        cost=0,
        miss=[CannedResponse(body={"total": 0, "contacts": []})],
        unexpected=[CannedResponse(body={"result": "ok"})],
        masked=[CannedResponse(body={"total": 1, "contacts": [_contact("a••@acme.com")]})],
        ineligible=ProviderRequest(
            field=ProviderField.EMAIL, subject=Subject(full_name="Ada Lovelace", company_name="Acme")
        ),
        **_refusals(),
    ),
    VendorRecording(
        vendor=CRM,
        request=ProviderRequest(field=ProviderField.PHONE, subject=ADA),
        value="+12025550123",
        status="unknown",  # type: ignore[arg-type] -- a phone's
        path="/contacts/by-email/ada@acme.com",
        sent={},
        hit=[
            CannedResponse(
                body={"phones": [{"number": "(202) 555-0123", "kind": "cell", "country_code": "US"}]}
            )
        ],
        cost=0,
        miss=[CannedResponse(status=404, body={"error": "no such contact"})],
        unexpected=[CannedResponse(body={"phones": "none"})],
        masked=[CannedResponse(body={"phones": [{"number": "+1202555****", "kind": "cell"}]})],
        ineligible=ProviderRequest(field=ProviderField.PHONE, subject=NOBODY),
        **_refusals(),
    ),
    VendorRecording(
        vendor=WAREHOUSE,
        request=ProviderRequest(field=ProviderField.PERSON, subject=ADA),
        value="Ada Lovelace",
        path=STATEMENTS,
        sent={"parameters": {"email": "ada@acme.com", "profile": ADA.linkedin_url}},
        hit=[
            CannedResponse(
                body={"rows": [{"given_name": "Ada", "family_name": "Lovelace"}], "usage": {"credits": 1}}
            )
        ],
        cost=1,
        miss=[CannedResponse(body={"rows": [], "usage": {"credits": 0.1}})],
        miss_cost=0.1,
        unexpected=[CannedResponse(body={"rows": [{"given_name": {"text": "Ada"}}]})],
        ineligible=ProviderRequest(field=ProviderField.PERSON, subject=NOBODY),
        **_refusals(),
    ),
    VendorRecording(
        vendor=WAREHOUSE,
        request=ProviderRequest(field=ProviderField.COMPANY, subject=ADA),
        value="acme.com",
        path=STATEMENTS,
        sent={"parameters": {"domain": "acme.com"}},
        hit=[
            CannedResponse(
                body={"rows": [{"name": "Acme", "domain": "https://www.acme.com", "headcount": 120}]}
            )
        ],
        cost=1,
        miss=[CannedResponse(body={"rows": []})],
        unexpected=[CannedResponse(body={"rows": {"name": "Acme"}})],
        ineligible=ProviderRequest(field=ProviderField.COMPANY, subject=NOBODY),
        **_refusals(),
    ),
)
