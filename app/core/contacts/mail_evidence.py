"""What shows that a domain is that of a company, such as e-mail addresses of its people."""

from __future__ import annotations

from enum import Enum, auto

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from app.core.contacts.emails import Email
from app.core.contacts.learned_patterns import PEOPLE
from app.domain.findings import FoundContact
from app.domain.normal.emails import email_domain


class Evidence(Enum):
    """What shows that a record's domain is that of the company it names.

    `STATED`: the record has both. `MAIL`: the person of the record has an address at the domain. `ASKED`: the
    company with this domain was asked for.
    """

    STATED = auto()
    MAIL = auto()
    ASKED = auto()


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


def evidence_of(found: FoundContact) -> Evidence:
    """Return what shows that the domain is that of the person's company."""
    domain = found.company.domain if found.company else None
    hosts = [email_domain(email.email) for email in found.emails] if domain else ()
    has_mail = any(host == domain or host.endswith(f".{domain}") for host in hosts)
    return Evidence.MAIL if has_mail else Evidence.STATED
