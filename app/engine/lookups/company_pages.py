"""A stored company with a page of its people, as a workspace sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, literal, select, tuple_

from app.domain.email_patterns import patterns
from app.domain.email_patterns.patterns import LearnedPattern
from app.domain.errors import NotFound
from app.domain.ids import is_id
from app.engine.contacts import learned_patterns, website_addresses
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.stored_rows import StoredCompany
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.website_addresses import ShownAddress
from app.engine.lookups import company_people, people_search
from app.infra.database.session import Session

MOST_COUNTED = 1000
"""People of a company are counted up to this number."""
_OF_COMPANY = Contact.company_id == bindparam("company_id")
_COMPANY = select(*(getattr(Company, name) for name in StoredCompany._fields))
_PAGE = select(Contact.id).where(_OF_COMPANY).order_by(*company_people.ORDER).limit(bindparam("limit"))
_POSITION = select(*company_people.ORDER).where(_OF_COMPANY, Contact.id == bindparam("after"))
_AFTER = _PAGE.where(
    tuple_(*company_people.ORDER) > tuple_(bindparam("rank"), bindparam("name"), bindparam("after"))
)
_COUNT = select(func.count()).select_from(
    select(literal(1)).where(_OF_COMPANY).limit(MOST_COUNTED + 1).subquery()
)


@dataclass(frozen=True, slots=True)
class CompanyPage:
    """A company, the usual form of its addresses, and a page of its people, most senior first.

    `total` counts at most `MOST_COUNTED` people and one more. A page may be shorter than its limit, because
    suppressed people are left out. `sources` are the names of the company's sources, each with its last date.
    `role_addresses` are those such as info@ that stand on the company's website.
    """

    company: StoredCompany
    pattern: LearnedPattern | None
    total: int
    people: Sequence[dict[str, Any]]
    next_after: str | None
    sources: Mapping[str, str]
    role_addresses: Sequence[ShownAddress]


def read(
    session: Session,
    workspace_id: str,
    key: str,
    *,
    after: str | None = None,
    limit: int,
    prices: Mapping[str, int],
) -> CompanyPage:
    """Return the company with this id or website; `after` is the contact at which the page before ended.

    Raises:
        NotFound: there is no such company, or it has opted out.

    """
    found = Company.id == key if is_id(key, "com") else Company.domain == key
    row = session.execute(_COMPANY.where(found)).first()
    if row is None or _has_opted_out(session, row.domain):
        raise NotFound("No such company is stored. Check the id or the website.")
    company = StoredCompany._make(row)
    ids = _people(session, company.id, after, limit + 1)
    learned = patterns.learn(learned_patterns.pattern_counts(session, company.domain, company.id))
    return CompanyPage(
        company,
        learned,
        session.scalar(_COUNT, {"company_id": company.id}) or 0,
        people_search.by_ids(session, workspace_id, ids[:limit], prices=prices),
        ids[limit - 1] if len(ids) > limit else None,
        _sources(company.provenance),
        website_addresses.shown(session, company.domain) if company.domain else (),
    )


def _has_opted_out(session: Session, domain: str | None) -> bool:
    return domain is not None and bool(suppression_checks.suppressed(session, [Identifier("domain", domain)]))


def _people(session: Session, company_id: str, after: str | None, limit: int) -> Sequence[str]:
    """Return the next contacts; the first ones if the last one before them is no longer at the company."""
    values: dict[str, Any] = {"company_id": company_id, "limit": limit}
    position = session.execute(_POSITION, values | {"after": after}).first() if after else None
    if position is None:
        return session.scalars(_PAGE, values).all()
    rank, name, contact_id = position
    return session.scalars(_AFTER, values | {"rank": rank, "name": name, "after": contact_id}).all()


def _sources(provenance: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    latest: dict[str, str] = {}
    for each in provenance.values():
        name, at = str(each.get("source") or ""), str(each.get("at") or "")
        if name and at > latest.get(name, ""):
            latest[name] = at
    return latest
