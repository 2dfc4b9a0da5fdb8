"""The suppression lists: identifiers of people who must not be disclosed or looked up, as keyed digests.

`suppression_digests` makes the digests, `suppression_checks` searches for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, or_, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.suppression_lists import forms
from app.engine.contacts.bulk import BATCH_SIZE
from app.engine.contacts.suppressions import suppression_journal
from app.engine.contacts.suppressions.suppression_digests import Entry, Identifier, entry_of_form, own_digests
from app.engine.contacts.suppressions.suppression_journal import ADD, REMOVE, JournalLine
from app.infra import clock
from app.infra.database.bulk_statements import insert_missing, is_among
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session

ERASED = "erased"
"""The reason of people whose data was erased: it is erased again if a backup brings it back."""
ERASURES, OPT_OUTS, NO_LIST = "erasures", "opt-outs", ""
"""The lists that the service keeps itself: erased people, opt-outs of providers, and single entries."""
ERASURE = {"reason": ERASED, "list_name": ERASURES}
"""The arguments of `suppress` for an erased person."""


class Suppression(Base):
    """A suppressed identifier in one list; the value itself is not stored."""

    __tablename__ = "suppressions"

    digest: Mapped[bytes] = mapped_column(primary_key=True)
    list_name: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    reason: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(index=True)


_DIGEST = Suppression.__table__.c.digest


@dataclass(frozen=True, slots=True)
class Listing:
    """Why identifiers are suppressed, and by which list."""

    reason: str
    list_name: str = NO_LIST


def suppress(
    session: Session,
    identifiers: Iterable[Identifier],
    *,
    reason: str,
    now: Moment,
    list_name: str = NO_LIST,
) -> int:
    """Insert the identifiers; return how many were new."""
    keys = session.keys
    listing = Listing(reason, list_name)
    added = 0
    for item in dict.fromkeys(identifiers):
        entries = [entry_of_form(keys, form) for form in forms.listed(item.kind, item.value)]
        added += bool(suppress_entries(session, entries, listing, now=now))
    return added


def suppress_entries(session: Session, entries: Sequence[Entry], listing: Listing, *, now: Moment) -> int:
    """Insert the entries that the list does not have, and record them in the journal; return how many."""
    added = 0
    for (kind,), digests in _by_group((entry.kind, entry.digest) for entry in entries):
        shared = {
            "list_name": listing.list_name,
            "kind": kind,
            "reason": listing.reason,
            "created_at": now,
        }
        new = insert_missing(session, Suppression, "digest", digests, shared)
        if new:
            group = (listing.list_name, listing.reason, kind)
            _record(session, ADD, suppression_journal.time_of(now), [(*group, digest) for digest in digests])
        added += new
    return added


def remove(session: Session, identifiers: Iterable[Identifier]) -> int:
    """Delete the identifiers from all lists; return how many were suppressed by entries of their own."""
    keys = session.keys
    own = [own_digests(keys, identifier) for identifier in identifiers]
    removed = _delete(session, _DIGEST.in_([value for digests in own for value in digests]))
    return sum(not removed.isdisjoint(digests) for digests in own)


def remove_entries(session: Session, digests: Sequence[bytes], *, list_name: str) -> int:
    """Delete these entries from one list; return how many it had."""
    return len(_delete(session, Suppression.list_name == list_name, is_among(session, _DIGEST, digests)))


def remove_digest(session: Session, value: bytes, *, reason: str) -> bool:
    """Delete the entries with this digest and reason; return whether there was one."""
    return bool(_delete(session, _DIGEST.in_([value]), Suppression.reason == reason))


def remove_from_list(session: Session, list_name: str) -> int:
    """Delete up to `BATCH_SIZE` entries of a list; return how many, 0 once it is empty."""
    some = select(_DIGEST).where(Suppression.list_name == list_name).limit(BATCH_SIZE)
    return len(_delete(session, Suppression.list_name == list_name, _DIGEST.in_(some)))


def summary(session: Session) -> Sequence[Any]:
    """Return rows with kind, reason, list_name and the number of entries, the most numerous first."""
    group = (Suppression.kind, Suppression.reason, Suppression.list_name)
    query = select(*group, func.count().label("entries")).group_by(*group)
    return session.execute(query.order_by(func.count().desc(), *group)).all()


def all_lines(session: Session) -> Iterator[JournalLine]:
    """Yield every entry as lines of a journal, in the order of their time."""
    key = session.keys.suppression_fingerprint
    table = Suppression.__table__.c
    order = (table.created_at, table.digest, table.list_name)
    names = ("created_at", "list_name", "reason", "kind", "digest")
    query = select(*(table[name] for name in names)).order_by(*order).limit(BATCH_SIZE)
    after: tuple[Any, ...] = ()
    while rows := session.execute(query.where(*([_is_after(order, after)] if after else []))).all():
        for (at, *group), digests in _by_group(rows):
            yield _line(ADD, key, at, group, digests)
        after = (rows[-1].created_at, rows[-1].digest, rows[-1].list_name)


def _is_after(columns: Sequence[ColumnElement[Any]], values: Sequence[Any]) -> ColumnElement[bool]:
    """Return the condition that a row follows the one with these values in the order of the columns."""
    (column, *others), (value, *rest) = columns, values
    return or_(column > value, and_(column == value, _is_after(others, rest))) if others else column > value


def _delete(session: Session, *conditions: ColumnElement[bool]) -> frozenset[bytes]:
    """Delete the entries, and record them in the journal; return their digests."""
    names = ("list_name", "reason", "kind", "digest")
    deletion = delete(Suppression).where(*conditions).execution_options(synchronize_session=False)
    rows = session.execute(deletion.returning(*(getattr(Suppression, name) for name in names))).all()
    _record(session, REMOVE, clock.now(), rows)
    return frozenset(row.digest for row in rows)


def _record(session: Session, action: str, at: datetime, rows: Iterable[Sequence[Any]]) -> None:
    """Record rows of list_name, reason, kind and digest."""
    key = session.keys.suppression_fingerprint
    lines = (_line(action, key, at, group, digests) for group, digests in _by_group(rows))
    suppression_journal.record(session, lines)


def _line(action: str, key: str, at: datetime, group: Sequence[Any], digests: Sequence[bytes]) -> JournalLine:
    list_name, reason, kind = group
    return JournalLine(action, key, at, list_name, reason, kind, digests)


def _by_group(rows: Iterable[Sequence[Any]]) -> list[tuple[tuple[Any, ...], list[bytes]]]:
    """Return the last values of the rows by all the others, in the order of their first row."""
    groups: dict[tuple[Any, ...], list[bytes]] = {}
    for *group, value in rows:
        groups.setdefault(tuple(group), []).append(value)
    return list(groups.items())
