"""The table of feedback on addresses and numbers, and the state of reported bounces."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint, and_, select
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import foreign_key
from app.engine.contacts import emails
from app.engine.contacts.bulk import batched
from app.engine.contacts.emails import Email
from app.infra.database.db import Base
from app.infra.database.session import Session

BOUNCED = "bounced"


class FeedbackKind(StrEnum):
    """The feedback on a value.

    An address had a hard bounce, or a number is not in service; either is of another person, or of somebody
    who has left the company; or it was confirmed valid.
    """

    BOUNCE = "bounce"
    WRONG_NUMBER = "wrong_number"
    WRONG_PERSON = "wrong_person"
    HAS_LEFT = "has_left"
    VALID = "valid"


class Feedback(Base):
    """A workspace's feedback on an address or a number, at most one of each kind.

    `providers` are the value's providers at that time, `country` is the likely ISO country of the person,
    `refunded` the credits refunded for this feedback. A bounce is open until it is confirmed, by a
    verification or by a report of another workspace, or refuted by a verification. While it is open, only the
    reporting workspace sees the address as risky.
    """

    __tablename__ = "feedback"
    __table_args__ = (
        UniqueConstraint("email_id", "workspace_id", "kind"),
        UniqueConstraint("phone_id", "workspace_id", "kind"),
        CheckConstraint("(email_id IS NULL) <> (phone_id IS NULL)", name="of_one_value"),
        Index("ix_feedback_kind_created_at", "kind", "created_at"),
        Index("ix_feedback_workspace_id_created_at", "workspace_id", "created_at"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    account_id: Mapped[str | None]
    contact_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("contacts.id", ondelete="CASCADE"), index=True
    )
    email_id: Mapped[str | None] = mapped_column(String(28), ForeignKey("emails.id", ondelete="CASCADE"))
    phone_id: Mapped[str | None] = mapped_column(String(28), ForeignKey("phones.id", ondelete="CASCADE"))
    kind: Mapped[str]
    providers: Mapped[list[Any]]
    country: Mapped[str | None]
    refunded: Mapped[int]
    created_at: Mapped[datetime]
    confirmed_at: Mapped[datetime | None]
    refuted_at: Mapped[datetime | None]


IS_OPEN = and_(
    Feedback.kind == FeedbackKind.BOUNCE.value,
    Feedback.confirmed_at.is_(None),
    Feedback.refuted_at.is_(None),
)
"""The condition for a bounce that is neither confirmed nor refuted."""


def open_bounces(session: Session, email_id: str) -> Sequence[Feedback]:
    """Return the open bounce reports on this address, of all workspaces."""
    query = select(Feedback).where(Feedback.email_id == email_id, IS_OPEN).order_by(Feedback.id)
    return session.scalars(query, execution_options={"populate_existing": True}).all()


def any_bounced(session: Session, workspace_id: str, addresses: Collection[str], *, since: datetime) -> bool:
    """Return whether the workspace has reported since then that one of the addresses bounced."""
    query = (
        select(Feedback.id)
        .join(Email, Email.id == Feedback.email_id)
        .where(
            Feedback.workspace_id == workspace_id,
            Feedback.kind == FeedbackKind.BOUNCE.value,
            Feedback.created_at >= since,
        )
        .limit(1)
    )
    return any(
        session.scalar(query.where(emails.has_address(session, part))) is not None
        for part in batched(addresses)
    )


def reasons_with_bounce(reasons: Sequence[str]) -> list[str]:
    """Return the status reasons including `bounced`."""
    return [*reasons] if BOUNCED in reasons else [*reasons, BOUNCED]
