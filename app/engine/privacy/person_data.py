"""Everything that is stored about a person, with sources, dates and recipients (GDPR, article 15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select

from app.domain.findings import PERSON, PERSON_FIELDS
from app.engine.accounts.workspaces import Workspace
from app.engine.contacts import emails, phones
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.saved.saved_profiles import SavedProfile, saved_object
from app.engine.jobs.jobs import PURPOSE, Job
from app.engine.jobs.provider_calls import ProviderCall
from app.engine.privacy.erasure import ErasurePlan, Recipient
from app.engine.privacy.holdings import Export, all_holdings
from app.infra.clock import rfc3339
from app.infra.database.session import Session


def collect(session: Session, contacts: Sequence[Contact], plan: ErasurePlan) -> dict[str, Any]:
    """Return what is stored about the person as JSON: `plan` is the plan of an erasure of the same person."""
    return {
        "contacts": [_contact(session, contact) for contact in contacts],
        "recipients": [recipient(row) for row in plan.recipients],
        **_of_contacts(session, plan),
        "providers": _providers(session, plan),
        "requests": _requests(session, plan),
        "saved_profiles": _saved_profiles(session, plan),
        **_of_features(session, plan),
    }


def recipient(row: Recipient) -> dict[str, Any]:
    """Return who received a field of the person, when, and for what purpose; null if it was not stated."""
    return {
        "workspace_id": row.workspace_id,
        "workspace": row.workspace,
        "received": row.field,
        "at": rfc3339(row.at),
        "purpose": row.purpose,
    }


def _contact(session: Session, contact: Contact) -> dict[str, Any]:
    company = session.get(Company, contact.company_id) if contact.company_id else None
    stamps = contact.provenance
    values = {name: getattr(contact, name) for name in PERSON_FIELDS}
    values |= {"company": company.name or company.domain if company else None}
    return {
        "id": contact.id,
        "created_at": rfc3339(contact.created_at),
        "updated_at": rfc3339(contact.updated_at),
        "notified_at": rfc3339(contact.notified_at),
        "values": [
            {"field": name, "value": value} | _source(stamps, "company_id" if name == "company" else name)
            for name, value in values.items()
            if value is not None
        ],
        "emails": [
            {"id": row.id, "email": row.email, "type": row.type, "status": row.status} | _dates(row)
            for row in emails.by_contact(session, [contact.id]).get(contact.id, ())
        ],
        "phones": [
            {"id": row.id, "phone": row.e164, "type": row.type, "status": row.status} | _dates(row)
            for row in phones.by_contact(session, [contact.id]).get(contact.id, ())
        ],
    }


def _source(stamps: dict[str, Any], name: str) -> dict[str, Any]:
    found = stamps.get(name) or stamps.get("*") or {"source": None, "at": None}
    source = "you" if found["source"] == PERSON else found["source"]
    before = {"corrected_from": found["source_name"]} if "source_name" in found else {}
    return {"source": source, "at": found["at"]} | before


def _dates(row: Email | Phone) -> dict[str, Any]:
    return {"sources": row.sources, "verified_at": rfc3339(row.verified_at)}


def _of_contacts(session: Session, plan: ErasurePlan) -> Export:
    """Return what features hold about the person's contacts."""
    exported: Export = {}
    for holdings in all_holdings():
        exported |= holdings.export(session, plan.contact_ids)
    return exported


def _of_features(session: Session, plan: ErasurePlan) -> Export:
    """Return what else of features mentions the person."""
    exported: Export = {}
    for held in plan.of_features.values():
        exported |= held.export(session)
    return exported


def _providers(session: Session, plan: ErasurePlan) -> list[dict[str, Any]]:
    asked = func.min(ProviderCall.asked_at).label("first"), func.max(ProviderCall.asked_at).label("last")
    query = select(ProviderCall.provider, *asked).where(ProviderCall.job_id.in_(plan.job_ids))
    rows = session.execute(query.group_by(ProviderCall.provider).order_by(ProviderCall.provider))
    return [
        {"provider": row.provider, "first_asked_at": rfc3339(row.first), "last_asked_at": rfc3339(row.last)}
        for row in rows
    ]


def _requests(session: Session, plan: ErasurePlan) -> list[dict[str, Any]]:
    query = (
        select(Job.kind, Job.outcome, Job.created_at, Job.request, Workspace.name)
        .join(Workspace, Workspace.id == Job.workspace_id)
        .where(Job.id.in_([*plan.job_ids, *plan.lookup_ids]))
        .order_by(Job.created_at, Job.id)
    )
    return [
        {
            "workspace": row.name,
            "kind": row.kind,
            "outcome": row.outcome,
            "at": rfc3339(row.created_at),
            "purpose": row.request.get(PURPOSE),
        }
        for row in session.execute(query)
    ]


def _saved_profiles(session: Session, plan: ErasurePlan) -> list[dict[str, Any]]:
    query = (
        select(SavedProfile, Workspace.name)
        .join(Workspace, Workspace.id == SavedProfile.workspace_id)
        .where(SavedProfile.id.in_(plan.profile_ids))
        .order_by(SavedProfile.id)
    )
    hidden = {"id": None, "saved_by": None}
    return [
        {"workspace": name} | {key: value for key, value in saved_object(row).items() if key not in hidden}
        for row, name in session.execute(query)
    ]
