"""Erases people again whose data came back with a backup; the list of erasures has only their digests.

Every stored value that may identify a person is digested and compared with the list. What is found is erased
as it was the first time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Select, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.domain.records.identifier_finder import identifiers_in
from app.domain.suppression_lists import forms
from app.engine.contacts.bulk import BATCH_SIZE
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.saved.contact_lists import ContactList
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.suppressions.suppressions import ERASED
from app.engine.events.deliveries import Webhook
from app.engine.jobs.jobs import Job, JobItem
from app.engine.privacy import erasure, erasure_run
from app.engine.privacy.erasure import ErasurePlan
from app.engine.privacy.holdings import Texts, all_holdings
from app.infra.database.db import Base, Database
from app.infra.database.session import Session

_AT_ONCE = 100
"""The identifiers erased together: all that mentions one of them is found in one pass over the jobs."""
_TEXTS: tuple[Texts, ...] = (
    (Email, ("email",)),
    (Phone, ("e164",)),
    (Contact, ("linkedin_url", "member_url")),
    (SavedProfile, ("linkedin_url", "full_name", "headline", "title", "location", "note", "tags")),
    (Job, ("request", "result", "error", "trace")),
    (JobItem, ("request", "result", "error")),
    (ContactList, ("name",)),
    (Webhook, ("url",)),
)
"""The tables of the engine that may name people."""


def erase_again(database: Database) -> Counter[str]:
    """Erase everyone on the list of erasures of whom something is stored.

    Return how many contacts, jobs, saved profiles and rows of features were erased or redacted.
    """
    of_features = [name for holdings in all_holdings() for name in holdings.find]
    erased = Counter(dict.fromkeys(("contacts", "jobs", "saved_profiles", *of_features), 0))
    with database.reading(no_deadline=True) as session:
        if not suppression_checks.has_reason(session, ERASED):
            return erased
        identifiers = sorted(_erased_values(session), key=lambda item: (item.kind, item.value))
        nameless = _erased_names(session)
    for part in _parts(identifiers):
        erased.update(_counts(erasure_run.erase(database, partial(_plan, identifiers=part))))
    for ids in _parts(nameless):
        erased.update(_counts(erasure_run.erase(database, partial(_plan, contact_ids=ids))))
    return erased


def _counts(plan: ErasurePlan) -> dict[str, int]:
    return {
        "contacts": len(plan.contact_ids),
        "jobs": len(plan.job_ids) + len(plan.lookup_ids),
        "saved_profiles": len(plan.profile_ids),
        **{name: held.rows for name, held in plan.of_features.items()},
    }


def _plan(
    session: Session, identifiers: Sequence[Identifier] = (), contact_ids: Sequence[str] = ()
) -> ErasurePlan:
    known = session.scalars(select(Contact.id).where(Contact.id.in_(contact_ids))).all()
    contacts = erasure.find_contacts(session, identifiers, known)
    return erasure.plan(session, contacts, identifiers)


def _erased_values(session: Session) -> set[Identifier]:
    """Return every stored e-mail, phone and profile that was erased."""
    found: set[Identifier] = set()
    for table, columns in (*_TEXTS, *(texts for holdings in all_holdings() for texts in holdings.texts)):
        for rows in _batches(session, table, columns):
            texts = ([getattr(row, name) for name in columns] for row in rows)
            identifiers = {Identifier(*value) for text in texts for value in identifiers_in(text)}
            found |= suppression_checks.with_reason(session, identifiers, ERASED)
    return found


def _erased_names(session: Session) -> list[str]:
    """Return the ids of the contacts that were erased and have no identifier of their own but a name."""
    query = (
        select(Contact.id, Contact.name_key, Company.domain, Company.name_key.label("company_key"))
        .join(Company, Company.id == Contact.company_id)
        .where(
            Contact.linkedin_url.is_(None),
            ~_has_own(Email, "email_index"),
            ~_has_own(Phone, "e164_index"),
        )
    )
    found: list[str] = []
    for rows in _pages(session, query, [Contact.id]):
        names = {
            Identifier("name", forms.employment(row.name_key, employer)): row.id
            for row in rows
            for employer in (row.domain, row.company_key)
            if row.name_key and employer
        }
        found += [names[item] for item in suppression_checks.with_reason(session, names, ERASED)]
    return sorted(set(found))


def _has_own(table: type[Email | Phone], name: str) -> ColumnElement[bool]:
    """Return the condition that the contact has an address or number that no other contact has."""
    mine, others = aliased(table), aliased(table)
    is_same = getattr(others, name) == getattr(mine, name)
    is_shared = select(others.id).where(is_same, others.contact_id != mine.contact_id).exists()
    return select(mine.id).where(mine.contact_id == Contact.id, ~is_shared).exists()


def _batches(session: Session, table: type[Base], columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Yield the rows of a table in the order of its key."""
    keys = [getattr(table, column.name) for column in table.__table__.primary_key]
    return _pages(session, select(*keys, *(getattr(table, name) for name in columns)), keys)


def _pages(
    session: Session, query: Select[*tuple[Any, ...]], keys: Sequence[InstrumentedAttribute[Any]]
) -> Iterator[Sequence[Any]]:
    page = query.order_by(*keys).limit(BATCH_SIZE)
    rows = session.execute(page).all()
    while rows:
        yield rows
        last = tuple(rows[-1][: len(keys)])
        rows = session.execute(page.where(tuple_(*keys) > last)).all()


def _parts(items: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    rest = iter(items)
    while part := tuple(islice(rest, _AT_ONCE)):
        yield part
