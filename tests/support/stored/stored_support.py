"""Helpers for tests of stored data: contacts, companies, and a recorder of SQL statements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine, event, text

from app.domain.exclusions import Kind, Reason
from app.domain.ids import new_id
from app.domain.normal import hashes
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names import name_keys, names
from app.domain.normal.names.latin_names import family_key
from app.domain.normal.texts.title_words import title_terms
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions import exclusions
from app.engine.exclusions.exclusions import Entry
from app.engine.jobs.provider_calls import ProviderCall
from app.engine.ledger import acquisition
from app.engine.ledger.acquisition import Acquisition
from app.engine.lookups import contact_data, disclosure
from app.engine.lookups.disclosure import Disclosure, Purchase
from app.engine.lookups.field_requests import FieldRequest
from app.infra.database.session import Session

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
STAMP = "2026-11-20T09:30:00.000Z"
ADA_URL = "https://www.linkedin.com/in/ada-lovelace"
PRICES = {"reveal.email": 1, "reveal.phone": 5}
SOURCE = {"provider": "file", "kind": "import", "first_seen_at": STAMP, "last_seen_at": STAMP}


def a_company(session: Session, name: str | None = "Acme Engines", **changes: Any) -> Company:
    """Insert a company with the website acme.com."""
    values: dict[str, Any] = {
        "domain": "acme.com",
        "linkedin_url": None,
        "industry": "Machinery",
        "headcount": "51-200",
        "city": "London",
        "country": "GB",
    } | changes
    page = values["linkedin_url"]
    company = Company(
        id=new_id("com"),
        name=name,
        name_key=company_key(name) if name else None,
        domain_hash=hashes.website_hash(values["domain"]) if values["domain"] else None,
        linkedin_hash=hashes.profile_hash(page) if page else None,
        provenance={},
        created_at=NOW,
        updated_at=NOW,
        **values,
    )
    session.add(company)
    session.flush()
    return company


def a_contact(
    session: Session, company: Company | None = None, full_name: str | None = "Ada Lovelace", **changes: Any
) -> Contact:
    """Insert a contact of the company, without e-mails, phones or a profile."""
    name = names.parse_name(full_name) if full_name else None
    values: dict[str, Any] = {
        "full_name": full_name,
        "first_name": name.first if name else None,
        "last_name": name.last if name else None,
        "name_key": name_keys.person_key(full_name) if full_name else None,
        "last_key": family_key(name.last, name.full) if name else None,
        "title": "Engineer",
        "city": "London",
        "country": "GB",
        "created_at": NOW,
    } | changes
    contact = Contact(
        id=new_id("con"),
        title_terms=title_terms(values["title"] or ""),
        company_id=company.id if company else None,
        provenance={},
        updated_at=NOW,
        **values,
    )
    session.add(contact)
    session.flush()
    return contact


def an_email(session: Session, contact: Contact, email: str, **changes: Any) -> Email:
    values: dict[str, Any] = {"type": "work", "status": "valid", "confidence": 0.9, "verified_at": NOW}
    row = Email(
        id=new_id("eml"),
        contact_id=contact.id,
        email=email,
        domain=email.partition("@")[2],
        status_reasons=[],
        first_seen_at=NOW,
        last_seen_at=NOW,
        sources=[SOURCE],
        **values | changes,
    )
    session.add(row)
    session.flush()
    return row


def a_phone(session: Session, contact: Contact, e164: str, **changes: Any) -> Phone:
    values: dict[str, Any] = {"type": "work", "status": "valid", "confidence": 0.9, "verified_at": None}
    row = Phone(
        id=new_id("pho"),
        contact_id=contact.id,
        e164=e164,
        national=e164[2:],
        country="US",
        line_type="landline",
        do_not_call=False,
        first_seen_at=NOW,
        last_seen_at=NOW,
        sources=[SOURCE],
        **values | changes,
    )
    session.add(row)
    session.flush()
    return row


def own(
    session: Session, workspace_id: str, contact: Contact, field: str, purpose: str | None = None
) -> None:
    """Record that the workspace owns the contact's e-mails or phones."""
    acquisition.acquire_field(
        session,
        Acquisition(
            workspace_id=workspace_id,
            contact_id=contact.id,
            field=field,
            job_id=new_id("job"),
            price=1,
            purpose=purpose,
        ),
        now=NOW,
    )


def disclose(
    session: Session, *, contact: Contact, field_request: FieldRequest, **purchase: Any
) -> Disclosure | None:
    """Disclose the contact's values to a workspace; the budget of its job is the price unless it is given."""
    data = contact_data.load(session, purchase["workspace_id"], [contact])
    paid = Purchase(**{"budget": purchase["price"]} | purchase)
    return disclosure.disclose(session, paid, contact, field_request, data)


def suppress(session: Session, kind: str, value: str) -> None:
    suppressions.suppress(session, [Identifier(kind, value)], reason="asked", now=NOW)


def exclude(session: Session, workspace_id: str, kind: str, value: str, **changes: Any) -> str:
    """Exclude a value for the workspace, as a customer; return the id."""
    entry = Entry(Kind(kind), value, Reason.CUSTOMER)
    arguments = {"created_by": "acc_1", "now": NOW} | changes
    return exclusions.add(session, workspace_id, [entry], **arguments)[0]


@contextmanager
def statements(engine: Engine) -> Iterator[list[tuple[str, Any]]]:
    """Record the SQL statements run in the block, with their parameters."""
    seen: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, sql: str, values: Any, *_rest: Any) -> None:
        if sql.startswith("SELECT"):
            seen.append((sql, values))

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)


def scans(session: Session, seen: list[tuple[str, Any]]) -> list[str]:
    """Return the full table scans in SQLite's query plans; parameters and subqueries do not count."""
    connection = session.connection()
    session.execute(text("SELECT 1"))
    plans = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values) for sql, values in seen]
    details = [row.detail for plan in plans for row in plan]
    subqueries = ("VIRTUAL TABLE", "SCAN anon_", "SCAN (subquery")
    return [
        detail
        for detail in details
        if detail.startswith("SCAN") and not any(name in detail for name in subqueries)
    ]


def a_provider_call(session: Session, **changes: Any) -> None:
    """Insert a call of Hunter that found something ten seconds ago, for 0.2 seconds and one credit."""
    values: dict[str, Any] = {
        "id": new_id("cal"),
        "job_id": "job_x",
        "field": "email",
        "provider": "hunter",
        "subject_digest": b"",
        "attempt": 1,
        "outcome": "hit",
        "cost": 1.0,
        "latency_ms": 200,
        "asked_at": NOW - timedelta(seconds=10),
        "answered_at": NOW - timedelta(seconds=9),
    }
    session.add(ProviderCall(**values | changes))
    session.flush()
