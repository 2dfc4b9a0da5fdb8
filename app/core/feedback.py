"""Feedback: what callers say became of an address they own; a bounce within 30 days is refunded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core import credits, owners, reveals
from app.core.companies import Company
from app.core.contacts import Contact
from app.core.emails import Email
from app.core.people import Field
from app.core.reveals import Reveal
from app.core.workspaces import foreign_key
from app.domain.countries import country_of
from app.domain.errors import ContactNotFound
from app.domain.findings import EmailStatus, SourceKind
from app.domain.ids import is_id, new_id
from app.infra.db import Base, insert

REFUND_WITHIN = timedelta(days=30)
BOUNCED = "bounced"
_TRUSTED = frozenset({EmailStatus.VALID.value, EmailStatus.ACCEPT_ALL.value})


class FeedbackKind(StrEnum):
    """What can be said of an address: a hard bounce, somebody else's mailbox, or that it answered."""

    BOUNCE = "bounce"
    WRONG_PERSON = "wrong_person"
    VALID = "valid"


class Refund(StrEnum):
    """What became of the credits."""

    GIVEN = "given"
    GIVEN_BEFORE = "given_before"
    TOO_LATE = "too_late"
    NOTHING_PAID = "nothing_paid"
    NOT_DUE = "not_due"


class Feedback(Base):
    """What a workspace said of one address, once for each kind.

    `providers` are those that gave the address by then, `country` is the ISO country where the person likely
    is, `refunded` the credits that were given back for this.
    """

    __tablename__ = "feedback"
    __table_args__ = (
        UniqueConstraint("email_id", "workspace_id", "kind"),
        Index("ix_feedback_kind_created_at", "kind", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    account_id: Mapped[str | None]
    contact_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("contacts.id", ondelete="CASCADE"), index=True
    )
    email_id: Mapped[str] = mapped_column(String(28), ForeignKey("emails.id", ondelete="CASCADE"))
    kind: Mapped[str]
    providers: Mapped[list[Any]]
    country: Mapped[str | None]
    refunded: Mapped[int]
    created_at: Mapped[datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a workspace says of an address, which is in normal form."""

    workspace_id: str
    account_id: str | None
    contact_id: str
    email: str
    kind: FeedbackKind


@dataclass(frozen=True, slots=True)
class Recorded:
    """Feedback as it is kept, the credits that this request gave back, and why so many."""

    feedback: Feedback
    refunded: int
    refund: Refund


def record(session: Session, said: Said, *, now: datetime) -> Recorded:
    """Write down what the workspace says of the address; the second time changes nothing.

    After a bounce the address is at best risky for everybody and wants verifying again; what the workspace
    paid for it comes back, once per reveal, if that was at most 30 days ago. It stays owned in any case.

    Raises:
        ContactNotFound: the workspace does not own the e-mails of such a contact, or this is none of them.

    """
    address = _owned_address(session, said)
    feedback_id = _add(session, said, address, now)
    if feedback_id is None:
        known = _same(session, said, address)
        refund = _refund(session, known)
        return Recorded(known, 0, Refund.GIVEN_BEFORE if refund is Refund.GIVEN else refund)
    feedback = session.get_one(Feedback, feedback_id)
    if said.kind is FeedbackKind.BOUNCE:
        _distrust(address, now)
        owners.touch(session, [said.contact_id], now)
        feedback.refunded = _give_back(session, said, now)
        session.flush()
    return Recorded(feedback, feedback.refunded, _refund(session, feedback))


def get(session: Session, workspace_id: str, feedback_id: str) -> Recorded | None:
    """Read the workspace's feedback as it was recorded; None if it is gone with its contact."""
    query = select(Feedback).where(Feedback.id == feedback_id, Feedback.workspace_id == workspace_id)
    feedback = session.scalar(query)
    return None if feedback is None else Recorded(feedback, feedback.refunded, _refund(session, feedback))


def _owned_address(session: Session, said: Said) -> Email:
    """Find the address, and let nobody else write the contact's addresses meanwhile."""
    query = (
        select(Email)
        .join(Reveal, Reveal.contact_id == Email.contact_id)
        .where(
            Reveal.workspace_id == said.workspace_id,
            Reveal.field == Field.EMAIL.value,
            Email.contact_id == said.contact_id,
            Email.email == said.email,
        )
        .execution_options(populate_existing=True)
    )
    if not is_id(said.contact_id, "con") or session.scalar(query) is None:
        raise ContactNotFound
    owners.lock_name(session, said.contact_id)
    return session.scalars(query).one()


def _add(session: Session, said: Said, address: Email, now: datetime) -> str | None:
    """Insert the row; None if it is there already."""
    values: dict[str, Any] = {
        "id": new_id("fdb"),
        "workspace_id": said.workspace_id,
        "account_id": said.account_id,
        "contact_id": said.contact_id,
        "email_id": address.id,
        "kind": said.kind.value,
        "providers": _givers(address),
        "country": _country(session, address),
        "refunded": 0,
        "created_at": now,
    }
    added = insert(session, Feedback).values(**values).on_conflict_do_nothing().returning(Feedback.id)
    return session.scalar(added)


def _same(session: Session, said: Said, address: Email) -> Feedback:
    query = select(Feedback).where(
        Feedback.email_id == address.id,
        Feedback.workspace_id == said.workspace_id,
        Feedback.kind == said.kind.value,
    )
    return session.scalars(query).one()


def _givers(address: Email) -> list[str]:
    """Give the providers that gave the address, the first first; a list somebody imported is none."""
    outside = (sight for sight in address.sources if sight["kind"] != SourceKind.IMPORT)
    return list(dict.fromkeys(sight["provider"] for sight in outside))


def _country(session: Session, address: Email) -> str | None:
    """Give where the person likely is, as the calls to providers have it."""
    contact = session.get_one(Contact, address.contact_id)
    company = session.get(Company, contact.company_id) if contact.company_id else None
    domain = company.domain if company else address.domain
    return contact.country or (company.country if company else None) or country_of(domain)


def _distrust(address: Email, now: datetime) -> None:
    address.reported_at = now
    if address.status in _TRUSTED:
        address.status = EmailStatus.RISKY.value
    if BOUNCED not in address.status_reasons:
        address.status_reasons = [*address.status_reasons, BOUNCED]


def _give_back(session: Session, said: Said, now: datetime) -> int:
    """Refund the reveal if that is due; give the credits."""
    paid = reveals.give_back(
        session,
        workspace_id=said.workspace_id,
        contact_id=said.contact_id,
        field=Field.EMAIL.value,
        since=now - REFUND_WITHIN,
        now=now,
    )
    if paid is None:
        return 0
    credits.refund(session, said.workspace_id, paid.job_id, paid.credits, reason=BOUNCED, now=now)
    return paid.credits


def _refund(session: Session, feedback: Feedback) -> Refund:
    """Tell why the feedback gave back what it did."""
    if feedback.kind != FeedbackKind.BOUNCE:
        return Refund.NOT_DUE
    if feedback.refunded:
        return Refund.GIVEN
    reveal = session.get_one(Reveal, (feedback.workspace_id, feedback.contact_id, Field.EMAIL.value))
    if not reveal.credits:
        return Refund.NOTHING_PAID
    late = feedback.created_at - reveal.created_at > REFUND_WITHIN
    return Refund.TOO_LATE if late else Refund.GIVEN_BEFORE
