"""The forms of known addresses by domain, from which the pattern of a company is learned."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import (
    Select,
    SQLColumnExpression,
    bindparam,
    column,
    func,
    literal,
    select,
    table,
    union_all,
)

from app.domain.email_patterns.patterns import PatternStat
from app.domain.normal.emails import email_kind
from app.domain.normal.websites import parent_domains
from app.engine.contacts.emails import LEARNED, Email
from app.engine.contacts.website_readings import WebsiteForm
from app.infra.database.session import Session

PATTERN_SAMPLE = 1000
"""The number of addresses from which the pattern of a domain is learned; more would change it little."""
_CONTACTS = table("contacts", column("id"), column("company_id"))  # the model imports the companies
PEOPLE = select(_CONTACTS.c.id).where(_CONTACTS.c.company_id == bindparam("company_id")).limit(PATTERN_SAMPLE)
"""The query for people of the company `company_id`; it may have a hundred thousand."""

_COMPANIES = table("companies", column("domain"))
_TAKEN = select(_COMPANIES.c.domain).where(_COMPANIES.c.domain.in_(bindparam("domains", expanding=True)))


def newest_forms(domain: SQLColumnExpression[str | None]) -> Select[str | None]:
    """Select the patterns of the newest PATTERN_SAMPLE valid work addresses of the domain."""
    return (
        select(Email.form)
        .where(Email.domain == domain, LEARNED)
        .order_by(Email.id.desc())
        .limit(PATTERN_SAMPLE)
    )


_AT_DOMAIN = newest_forms(bindparam("domain")).subquery()
_ELSEWHERE = (
    select(Email.domain, Email.form)
    .where(Email.contact_id.in_(PEOPLE), Email.domain != bindparam("domain"), LEARNED)
    .limit(PATTERN_SAMPLE)
    .subquery()
)
_NEWEST = union_all(
    select(literal("").label("domain"), _AT_DOMAIN.c.form, literal(1).label("people")),
    select(_ELSEWHERE.c.domain, _ELSEWHERE.c.form, literal(1)),
    select(literal(""), WebsiteForm.form, WebsiteForm.people).where(
        WebsiteForm.domain == bindparam("domain")
    ),
).subquery()
_PEOPLE = func.sum(_NEWEST.c.people)
_FORMS = (
    select(_NEWEST.c.domain, _NEWEST.c.form, _PEOPLE)
    .group_by(_NEWEST.c.domain, _NEWEST.c.form)
    .order_by(_PEOPLE.desc(), _NEWEST.c.domain, _NEWEST.c.form)
)


def pattern_counts(session: Session, domain: str | None, company_id: str | None = None) -> list[PatternStat]:
    """Return the patterns of valid work addresses, most common first.

    They are the newest ones of the domain, those that people of the company have at other domains, and those
    that the company's website shows.
    Guesses do not count, nor addresses at mail providers and at the domains of other companies: people keep
    them when they change the employer.
    """
    rows = session.execute(_FORMS, {"domain": domain or "", "company_id": company_id}).all()
    hosts = {host for host, _form, _count in rows if host}
    usable = hosts - _of_others(session, hosts, domain) | {""}
    return [PatternStat(form, int(count), host) for host, form, count in rows if host in usable and form]


def _of_others(session: Session, hosts: Collection[str], domain: str | None) -> set[str]:
    """Return the hosts of mail providers and of companies with another domain."""
    registered = {host: parent_domains(host)[-1] for host in hosts}
    others = set(registered.values()) - {domain}
    taken = set(session.scalars(_TAKEN, {"domains": sorted(others)})) if others else set()
    return {
        host
        for host in hosts
        if registered[host] in taken
        or "personal" in {email_kind(f"a@{host}"), email_kind(f"a@{registered[host]}")}
    }
