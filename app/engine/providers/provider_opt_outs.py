"""Provider opt-outs: people whose data a provider refused to disclose, for the operator to review.

An opt-out ends the job that made the request and applies to exactly this request to this provider. The
suppression list hides a person from every workspace, so an opt-out adds at most one value to it: the e-mail
or profile, if the request had no other identifier. Other values, from callers or stored, are never added.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import String, UniqueConstraint, bindparam, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.ids import new_id
from app.domain.records.subjects import EXACT, Subject
from app.engine.contacts.suppressions import suppression_checks, suppression_digests, suppressions
from app.engine.contacts.suppressions.suppression_digests import Entry, Identifier
from app.engine.contacts.suppressions.suppressions import OPT_OUTS, Listing
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

REASON = "a provider said that this person opted out"
_LISTING = Listing(REASON, OPT_OUTS)
_LISTABLE = frozenset({"email", "linkedin_url"})


class OptOutState(StrEnum):
    """The review state of an opt-out."""

    OPEN = "open"
    LISTED = "listed"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"


class ProviderOptOut(Base):
    """One refusal by one provider, without personal data: `subject_digest` and `digest` are keyed digests.

    `asked_by` names the fields of the request. `kind` and `digest` describe its one e-mail or profile,
    None if it had none or several. `state` is `listed` if that value went on the suppression list at once.
    """

    __tablename__ = "provider_opt_outs"
    __table_args__ = (UniqueConstraint("provider", "subject_digest"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    provider: Mapped[str]
    field: Mapped[str]
    subject_digest: Mapped[bytes]
    asked_by: Mapped[list[Any]]
    kind: Mapped[str | None]
    digest: Mapped[bytes | None]
    state: Mapped[str]
    created_at: Mapped[datetime]
    reviewed_at: Mapped[datetime | None]


def record(
    session: Session, *, provider: str, field: str, subject_digest: bytes, subject: Subject, now: datetime
) -> None:
    """Insert the opt-out, and suppress its e-mail or profile if the request had no other identifier.

    An opt-out that is already recorded is not changed, so a dismissed one stays dismissed.
    """
    identifier = _identifier(subject)
    is_alone = identifier is not None and subject.only_identifier == (identifier.kind, identifier.value)
    values: dict[str, Any] = {
        "id": new_id("opt"),
        "provider": provider,
        "field": field,
        "subject_digest": subject_digest,
        "asked_by": sorted(name for name in subject.as_dict() if name != "contact_id"),
        "kind": identifier and identifier.kind,
        "digest": identifier and suppression_digests.digest(session.keys, identifier),
        "state": (OptOutState.LISTED if is_alone else OptOutState.OPEN).value,
        "created_at": now,
    }
    added = insert(session, ProviderOptOut).values(**values).on_conflict_do_nothing()
    is_new = session.scalar(added.returning(ProviderOptOut.id)) is not None
    if is_new and is_alone and identifier is not None:
        entry = Entry(identifier.kind, suppression_digests.digest(session.keys, identifier))
        suppressions.suppress_entries(session, [entry], _LISTING, now=now)


_STANDING = select(ProviderOptOut.id).where(
    ProviderOptOut.provider == bindparam("provider"),
    ProviderOptOut.subject_digest == bindparam("subject_digest"),
    ProviderOptOut.state != OptOutState.DISMISSED.value,
)


def is_in_effect(session: Session, *, provider: str, subject_digest: bytes) -> bool:
    """Return whether the provider refused exactly this request and the operator has not dismissed that."""
    return session.scalar(_STANDING, {"provider": provider, "subject_digest": subject_digest}) is not None


def latest(session: Session, *, all_states: bool, limit: int) -> Sequence[ProviderOptOut]:
    """Return the opt-outs that await review, or all of them, newest first."""
    query = select(ProviderOptOut).order_by(ProviderOptOut.id.desc()).limit(limit)
    if not all_states:
        query = query.where(ProviderOptOut.state.in_([OptOutState.OPEN.value, OptOutState.LISTED.value]))
    return session.scalars(query).all()


def get(session: Session, opt_out_id: str) -> ProviderOptOut | None:
    """Return the opt-out with this id, locked, or None."""
    query = select(ProviderOptOut).where(ProviderOptOut.id == opt_out_id).with_for_update()
    return session.scalar(query)


def accept(session: Session, opt_out: ProviderOptOut, *, now: datetime) -> bool:
    """Mark the opt-out as accepted and suppress its e-mail or profile; False if it has none."""
    if opt_out.digest is None or opt_out.kind is None:
        return False
    entry = Entry(opt_out.kind, opt_out.digest)
    suppressions.suppress_entries(session, [entry], _LISTING, now=now)
    opt_out.state, opt_out.reviewed_at = OptOutState.ACCEPTED.value, now
    return True


def dismiss(session: Session, opt_out: ProviderOptOut, *, now: datetime) -> bool:
    """Mark the opt-out as dismissed; return whether its value left the suppression list.

    A value that is also listed for another reason, or for another opt-out in effect, stays there.
    """
    opt_out.state, opt_out.reviewed_at = OptOutState.DISMISSED.value, now
    session.flush()
    others = select(ProviderOptOut.id).where(
        ProviderOptOut.digest == opt_out.digest,
        ProviderOptOut.state.in_([OptOutState.LISTED.value, OptOutState.ACCEPTED.value]),
    )
    if opt_out.digest is None or session.scalars(others.limit(1)).first() is not None:
        return False
    removed = suppressions.remove_digest(session, opt_out.digest, reason=REASON)
    return removed and not suppression_checks.is_listed(session, opt_out.digest)


def _identifier(subject: Subject) -> Identifier | None:
    """Return the only exact identifier of the request if it is an e-mail or a profile."""
    exact = [(kind, getattr(subject, kind)) for kind in EXACT if getattr(subject, kind)]
    if len(exact) != 1 or exact[0][0] not in _LISTABLE:
        return None
    return Identifier(*exact[0])
