"""Contacts, companies, e-mails and phones as the API returns them, as plain dicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from app.domain import call_registers, kinds
from app.domain.call_registers import Listing
from app.domain.findings import EmailStatus
from app.domain.normal.masks import mask_email, mask_phone
from app.engine.call_registers import listings
from app.engine.contacts.bounce_reports import BOUNCED
from app.engine.contacts.emails import FORMER
from app.engine.contacts.stored_rows import (
    CompanyCard,
    StoredCompany,
    StoredContact,
    StoredEmail,
    StoredPhone,
)
from app.engine.lookups.contact_data import ContactData
from app.infra.clock import rfc3339

_RANK: dict[str, float] = {status.value: rank for rank, status in enumerate(EmailStatus)}
_RANK[EmailStatus.UNKNOWN] = _RANK[EmailStatus.RISKY] + 0.5  # it may be deliverable; an invalid one is not
_OUTDATED = frozenset({BOUNCED, FORMER})
_TYPES = {name: rank for rank, name in enumerate(("work", "mobile", "direct", "personal", "hq"))}


def contact_card(contact: StoredContact) -> dict[str, Any]:
    """Return the contact's public data, without e-mails and phones."""
    return {
        "id": contact.id,
        "full_name": contact.full_name,
        "title": contact.title,
        "seniority": contact.seniority,
        "department": contact.department,
        "linkedin_url": contact.linkedin_url,
        "location": {"city": contact.city, "country": contact.country},
    }


def company_card(company: StoredCompany | CompanyCard) -> dict[str, Any]:
    """Return the company's public data."""
    return {
        "id": company.id,
        "name": company.name,
        "domain": company.domain,
        "linkedin_url": company.linkedin_url,
        "industry": company.industry,
        "headcount": company.headcount,
        "location": {"city": company.city, "country": company.country},
    }


def masked_fields(data: ContactData, contact_id: str, prices: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the best value of each field and type of a contact, masked and with its price.

    Values known to be invalid are omitted.
    """
    entries = []
    for field, rows, mask in (
        ("email", _best_of_type(data.emails.get(contact_id, ())), _masked_email),
        ("phone", _best_of_type(data.phones.get(contact_id, ())), _masked_phone),
    ):
        price = prices[kinds.revealing(field).name]
        entries += [_entry(field, row, mask, owned=data.owns(row), price=price) for row in rows]
    return entries


def revealed(data: ContactData, contact_id: str) -> dict[str, Any]:
    """Return in full the contact's values that the workspace owns, best first."""
    emails = filter(data.owns, data.emails.get(contact_id, ()))
    phones = filter(data.owns, data.phones.get(contact_id, ()))
    return {
        "emails": [
            email_object(row, primary=index == 0) for index, row in enumerate(sorted(emails, key=quality_key))
        ],
        "phones": [phone_object(row) for row in sorted(phones, key=quality_key)],
    }


def email_object(row: StoredEmail, *, primary: bool = False) -> dict[str, Any]:
    """Return the full e-mail; `primary` marks the best one of its list."""
    return {
        "email": row.email,
        "type": row.type,
        "status": row.status,
        "status_reasons": row.status_reasons,
        "confidence": row.confidence,
        "primary": primary,
        **reported(row),
        "verified_at": rfc3339(row.verified_at),
        "sources": row.sources,
    }


def phone_object(row: StoredPhone) -> dict[str, Any]:
    """Return the full phone number."""
    return {
        "e164": row.e164,
        "national": row.national,
        "extension": row.extension,
        "country": row.country,
        "type": row.type,
        "line_type": row.line_type,
        "status": row.status,
        "confidence": row.confidence,
        **called(row.do_not_call, row.do_not_call_at, row.listings or ()),
        **reported(row),
        "verified_at": rfc3339(row.verified_at),
        "sources": row.sources,
    }


def reported(row: StoredEmail | StoredPhone) -> dict[str, Any]:
    """Return the fields of a value that say what the workspace reported of it, and when."""
    return {"reported": row.report_kind, "reported_at": rfc3339(row.report_at)}


def called(
    reported: bool | None,  # noqa: FBT001 -- a value
    reported_at: datetime | None,
    found: Sequence[Listing],
) -> dict[str, Any]:
    """Return the fields of a number that say whether it must not be called, and by which registers."""
    return {
        "do_not_call": call_registers.do_not_call(reported, found),
        "do_not_call_checked_at": rfc3339(call_registers.checked_at(reported_at, found)),
        "call_registers": [listings.to_public(one) for one in found],
    }


def quality_key(row: StoredEmail | StoredPhone) -> tuple[bool, float, int, float, str]:
    """Return the sort key of e-mails or phones: not bounced or former, then status, type, confidence."""
    return (
        not _OUTDATED.isdisjoint(() if isinstance(row, StoredPhone) else row.status_reasons),
        _RANK.get(row.status, len(_RANK)),
        _TYPES.get(row.type, len(_TYPES)),
        -(row.confidence or 0.0),
        row.id,
    )


def _entry(
    field: str, row: StoredEmail | StoredPhone, mask: Callable[[Any], str], *, owned: bool, price: int
) -> dict[str, Any]:
    return {
        "field": field,
        "type": row.type,
        "masked": mask(row),
        **_called(row),
        "status": row.status,
        "last_verified_at": rfc3339(row.verified_at if owned else _day(row.verified_at)),
        "owned": owned,
        **reported(row),
        "credits": 0 if owned else price,
    }


def _called(row: StoredEmail | StoredPhone) -> dict[str, Any]:
    """Return whether a number must not be called and by which registers; nothing of an address."""
    if row.kind == "email":
        return {"do_not_call": None, "call_registers": []}
    shown = called(row.do_not_call, row.do_not_call_at, row.listings or ())
    return {name: shown[name] for name in ("do_not_call", "call_registers")}


def _day(time: datetime | None) -> datetime | None:
    """Return the start of the day (UTC): the exact time would reveal when other workspaces made a request."""
    return None if time is None else time.replace(hour=0, minute=0, second=0, microsecond=0)


def _masked_email(row: StoredEmail) -> str:
    return mask_email(row.email)


def _masked_phone(row: StoredPhone) -> str:
    return mask_phone(row.e164)


def _best_of_type(rows: Sequence[StoredEmail] | Sequence[StoredPhone]) -> list[StoredEmail | StoredPhone]:
    best: dict[str, StoredEmail | StoredPhone] = {}
    for row in sorted(rows, key=quality_key):
        if row.status != EmailStatus.INVALID:
            best.setdefault(row.type, row)
    return list(best.values())
