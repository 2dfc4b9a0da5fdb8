"""Whether people of a company have e-mail addresses at a domain."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from app.core.contacts.emails import Email
from app.core.contacts.learned_patterns import PEOPLE
from app.domain.normal.emails import email_domain

_ANY = (
    select(Email.id)
    .where(
        Email.contact_id.in_(PEOPLE),
        Email.type == "work",
        or_(Email.domain == bindparam("domain"), Email.domain.endswith(bindparam("below"), autoescape=False)),
    )
    .limit(1)
)


def any_at(session: Session, company_id: str, domain: str) -> bool:
    """Return whether a stored work address of one of the company's people is at the domain or below it."""
    values = {"company_id": company_id, "domain": domain, "below": f".{domain}"}
    return session.scalar(_ANY, values) is not None


def is_at(addresses: Iterable[str], domain: str) -> bool:
    """Return whether one of the addresses is at the domain or below it."""
    hosts = map(email_domain, addresses)
    return any(host == domain or host.endswith(f".{domain}") for host in hosts)
