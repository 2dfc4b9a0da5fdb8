"""E-mails and phones that a regional rule hides: they are stored, and no caller is shown that they are.

The country of a person is the country of the contact or, if it is not stored, of their company.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, SQLColumnExpression, and_, func, or_, select, true
from sqlalchemy.orm import aliased

from app.domain.regional_rules import (
    EVERYWHERE,
    MOBILE,
    PERSONAL,
    UNKNOWN,
    RegionalRules,
    is_maybe_mobile,
)
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.stored_rows import StoredEmail, StoredPhone
from app.infra.database.session import Session

ANSWERED_ABOUT = "answered_about"
"""The key in the request of an enrichment's item with the id of the contact whose values were disclosed."""


def is_hidden(rules: RegionalRules, row: StoredEmail | StoredPhone, country: str | None) -> bool:
    """Return whether the rules hide a stored e-mail or phone of a person in this country."""
    if row.kind == "phone":
        return rules.hides_phone(row.type, row.line_type, country, row.country)
    return rules.hides_email(row.type, country)


def is_shown(rules: RegionalRules, table: type[Email | Phone]) -> ColumnElement[bool]:
    """Return the SQL condition that the rules do not hide an e-mail or a phone."""
    places = rules.personal_emails if table is Email else rules.mobiles
    if not places:
        return true()
    if EVERYWHERE in places:
        return ~_is_maybe_hidden(table)
    is_hidden_here = _is_in(_country_of(table), places)
    if table is Phone:
        is_hidden_here = or_(is_hidden_here, _is_in(Phone.country, places - {UNKNOWN}))
    return ~and_(_is_maybe_hidden(table), is_hidden_here)


def in_answers(
    session: Session, answers: Iterable[tuple[Mapping[str, Any] | None, Mapping[str, Any]]]
) -> frozenset[str]:
    """Return the addresses and numbers that the rules hide in answers of jobs, each given with its request.

    They are hidden in answers from before the rules, too. An answer whose person is not known any more is
    treated as one about a person in a hidden country.
    """
    rules = session.settings.regional_rules
    if not rules:
        return frozenset()
    found = [
        (_contact_id(result) or request.get(ANSWERED_ABOUT, ""), entry)
        for result, request in answers
        if result is not None
        for entry in _restricted(rules, result)
    ]
    countries = _countries(session, {contact_id for contact_id, _entry in found})
    return frozenset(
        entry.get("email") or entry["e164"]
        for contact_id, entry in found
        if contact_id not in countries or _is_entry_hidden(rules, entry, countries[contact_id])
    )


def without(answer: dict[str, Any] | None, hidden: Collection[str]) -> dict[str, Any] | None:
    """Return the result of a job without the hidden addresses and numbers."""
    if not answer or not hidden:
        return answer
    kept = {
        name: [entry for entry in answer[name] if entry[key] not in hidden]
        for name, key in (("emails", "email"), ("phones", "e164"))
        if name in answer
    }
    return answer | kept


def _restricted(rules: RegionalRules, answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the e-mails and phones that are hidden somewhere."""
    if rules.personal_emails:
        yield from (entry for entry in answer.get("emails", ()) if entry["type"] == PERSONAL)
    if rules.mobiles:
        phones = answer.get("phones", ())
        yield from (entry for entry in phones if is_maybe_mobile(entry["type"], entry["line_type"]))


def _is_entry_hidden(rules: RegionalRules, entry: Mapping[str, Any], country: str | None) -> bool:
    if "email" in entry:
        return rules.hides_email(entry["type"], country)
    return rules.hides_phone(entry["type"], entry["line_type"], country, entry["country"])


def _contact_id(answer: Mapping[str, Any]) -> str:
    contact_id: str = answer.get("contact_id") or (answer.get("contact") or {}).get("id") or ""
    return contact_id


def _countries(session: Session, contact_ids: Collection[str]) -> dict[str, str | None]:
    """Return the country of each stored contact, None if it is not known."""
    if not contact_ids:
        return {}
    query = select(Contact.id, func.coalesce(Contact.country, Company.country))
    query = query.outerjoin(Company, Company.id == Contact.company_id)
    return {row[0]: row[1] for row in session.execute(query.where(Contact.id.in_(contact_ids)))}


def _is_maybe_hidden(table: type[Email | Phone]) -> ColumnElement[bool]:
    if table is Email:
        return Email.type == PERSONAL
    is_unclear = and_(Phone.type == "other", Phone.line_type == "unknown")
    return or_(Phone.type == MOBILE, Phone.line_type == MOBILE, is_unclear)


def _country_of(table: type[Email | Phone]) -> ScalarSelect[str | None]:
    person, employer = aliased(Contact), aliased(Company)
    return (
        select(func.coalesce(person.country, employer.country))
        .outerjoin(employer, employer.id == person.company_id)
        .where(person.id == table.contact_id)
        .scalar_subquery()
    )


def _is_in(country: SQLColumnExpression[str | None], places: Collection[str]) -> ColumnElement[bool]:
    return func.coalesce(country, UNKNOWN).in_(sorted(places))
