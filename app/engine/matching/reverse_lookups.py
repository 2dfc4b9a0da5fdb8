"""Reverse lookups: which addresses and numbers a workspace may be told about without paying for them.

The one rule for all that answers a caller (`contact_matching`): an address or a number leads to a contact
only if the workspace owns the value, or has tried it within the limits (`admit`). Any other value is treated
as if it were not in the request, whether it is stored or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    CompoundSelect,
    Index,
    LargeBinary,
    String,
    bindparam,
    cast,
    delete,
    literal,
    null,
    select,
    union_all,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.domain import reverse_lookups
from app.domain.records.subjects import Subject
from app.domain.reverse_lookups import WINDOW, Attempt
from app.engine.accounts.workspaces import foreign_key
from app.engine.ledger.reveals import STORED, Reveal, RevealedValue, stored_index
from app.engine.matching.caller_identifiers import CallerIdentifier
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database import advisory_locks, database_clock
from app.infra.database.advisory_locks import AdvisoryLock
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

Value = tuple[str, str]
"""The kind of a value, email or phone, and the value."""


class ReverseLookup(Base):
    """A value that a workspace does not own and has tried: keyed digests, kept for a day (`Attempt`)."""

    __tablename__ = "reverse_lookups"
    __table_args__ = (Index("ix_reverse_lookups_tried_at", "tried_at"),)

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    value_digest: Mapped[bytes] = mapped_column(primary_key=True)
    domain_digest: Mapped[bytes | None]
    person_digest: Mapped[bytes | None]
    tried_at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class _Known:
    """Which of some values the workspace is told about, and of which it remembers what it received."""

    visible: frozenset[Value]
    remembered: frozenset[Value]


_WORKSPACE: BindParameter[Any] = bindparam("workspace_id")
_DIGESTS: BindParameter[Any] = bindparam("digests", expanding=True)
_NO_DIGEST, _NO_INDEX = cast(null(), LargeBinary).label("digest"), cast(null(), String).label("indexed")
_OWNED, _TRIED, _REMEMBERED = "owned", "tried", "remembered"


def visible(session: Session, workspace_id: str, subjects: Sequence[Subject]) -> list[Subject]:
    """Return the subjects without the values about which the workspace is told nothing, in one query.

    The query, and those that follow from the answer, are the same whether a hidden value is stored or not.
    """
    values = {value for subject in subjects for value in reverse_lookups.values_in(subject)}
    if not values:
        return list(subjects)
    hidden = values - _known(session, workspace_id, values).visible
    return [reverse_lookups.without(subject, hidden) for subject in subjects]


def any_admissible(session: Session, workspace_id: str, subjects: Iterable[Subject]) -> bool:
    """Return whether `admit` would count a value; an owned value or a full budget needs no transaction."""
    return bool(_admissible(session, workspace_id, subjects))


def admit(session: Session, workspace_id: str, subjects: Sequence[Subject], *, now: Moment) -> None:
    """Count the new values within the limits; the workspace is told about these for a day.

    Commit before the answer. The transactions of a workspace wait for each other here, so that parallel
    requests do not exceed the limits.
    """
    if not any(map(reverse_lookups.values_in, subjects)):
        return
    advisory_locks.acquire_for(session, AdvisoryLock.REVERSE_LOOKUPS, workspace_id)
    new = _admissible(session, workspace_id, subjects)
    if not new:
        return
    rows = [
        {
            "workspace_id": workspace_id,
            "value_digest": attempt.value,
            "domain_digest": attempt.domain,
            "person_digest": attempt.person,
            "tried_at": now,
        }
        for attempt in new
    ]
    insertion = insert(session, ReverseLookup).values(rows)
    written = {name: insertion.excluded[name] for name in ("domain_digest", "person_digest", "tried_at")}
    session.execute(
        insertion.on_conflict_do_update(index_elements=["workspace_id", "value_digest"], set_=written)
    )


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete the values that are not counted any more."""
    session.execute(delete(ReverseLookup).where(ReverseLookup.tried_at <= now - WINDOW))


def _admissible(session: Session, workspace_id: str, subjects: Iterable[Subject]) -> list[Attempt]:
    """Return the attempts that are to be counted and are within the limits."""
    tried = [(value, subject) for subject in subjects for value in reverse_lookups.values_in(subject)]
    if not tried:
        return []
    known = _known(session, workspace_id, {value for value, _subject in tried})
    new = [pair for pair in tried if pair[0] not in known.visible | known.remembered]
    if not new:
        return []
    since = database_clock.now() - WINDOW
    query = select(ReverseLookup.value_digest, ReverseLookup.domain_digest, ReverseLookup.person_digest)
    query = query.where(ReverseLookup.workspace_id == workspace_id, ReverseLookup.tried_at > since)
    before = [Attempt(*row) for row in session.execute(query)]
    attempts = [_attempt(session, value, subject) for value, subject in new]
    return reverse_lookups.admitted(attempts, before, session.settings.reverse_lookup_limits)


def _known(session: Session, workspace_id: str, values: Iterable[Value]) -> _Known:
    indexes = {form: (kind, value) for kind, value in values for form in stored_forms(session, kind, [value])}
    digests = {_digest(session, value): value for value in values}
    parameters = {"workspace_id": workspace_id, "digests": list(digests), "indexes": list(indexes)}
    rows = session.execute(_known_by(database_clock.now()), parameters).all()
    return _Known(
        visible=frozenset(
            indexes[row.indexed] if row.kind == _OWNED else digests[row.digest]
            for row in rows
            if row.kind != _REMEMBERED
        ),
        remembered=frozenset(digests[row.digest] for row in rows if row.kind == _REMEMBERED),
    )


def _attempt(session: Session, value: Value, subject: Subject) -> Attempt:
    keys = session.keys
    domain, person = reverse_lookups.domain_of(*value), reverse_lookups.person_of(subject)
    return Attempt(
        _digest(session, value),
        keys.suppression_digest("tried at", domain) if domain else None,
        keys.suppression_digest("tried for", person) if person else None,
    )


def _digest(session: Session, value: Value) -> bytes:
    """Return the digest of a value, as `caller_identifiers` has it."""
    return session.keys.suppression_digest(*value)


@lru_cache(maxsize=8)
def _known_by(now: Moment) -> CompoundSelect[*tuple[Any, ...]]:
    """Return the query for which values the workspace owns, has tried since a day before, or remembers."""
    indexes: BindParameter[Any] = bindparam("indexes", expanding=True)
    owned = select(literal(_OWNED).label("kind"), _NO_DIGEST, RevealedValue.value_index.label("indexed"))
    of_owned_fields = (
        select(literal(_OWNED), _NO_DIGEST, stored_index(field))
        .join(Reveal, Reveal.contact_id == stored.c.contact_id)
        .where(
            Reveal.workspace_id == _WORKSPACE,
            Reveal.field == field,
            Reveal.refunded_at.is_(None),
            stored_index(field).in_(indexes),
        )
        for field, stored in STORED.items()
    )
    tried = select(literal(_TRIED), ReverseLookup.value_digest, _NO_INDEX)
    remembered = select(literal(_REMEMBERED), CallerIdentifier.digest, _NO_INDEX)
    return union_all(
        owned.where(
            RevealedValue.workspace_id == _WORKSPACE,
            RevealedValue.field.in_(reverse_lookups.KINDS),
            RevealedValue.value_index.in_(indexes),
        ),
        *of_owned_fields,
        tried.where(
            ReverseLookup.workspace_id == _WORKSPACE,
            ReverseLookup.value_digest.in_(_DIGESTS),
            ReverseLookup.tried_at > now - WINDOW,
        ),
        remembered.where(CallerIdentifier.workspace_id == _WORKSPACE, CallerIdentifier.digest.in_(_DIGESTS)),
    )
