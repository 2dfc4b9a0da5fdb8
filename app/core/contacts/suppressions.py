"""The suppression list: identifiers of people who must not be disclosed or looked up, as keyed digests.

A digest of version 2 is an HMAC of the SHA-256 that others publish of an identifier, so that their lists can
be loaded without the values. Digests of version 1 are HMACs of the value; those that exist stay in effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    LargeBinary,
    Select,
    SmallInteger,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.contacts import suppression_journal
from app.core.contacts.bulk import BATCH_SIZE, batched
from app.core.contacts.suppression_journal import ADD, REMOVE, JournalLine
from app.domain.suppression_lists import forms
from app.domain.suppression_lists.forms import Form
from app.domain.suppression_lists.hashed_values import hash_of
from app.infra import clock
from app.infra.bulk_statements import insert_missing, is_among
from app.infra.database_clock import Moment
from app.infra.db import Base
from app.infra.digest_keys import DigestKeys, digest_keys
from app.infra.statements import Statement

VERSION = 2
ERASED = "erased"
"""The reason of people whose data was erased: it is erased again if a backup brings it back."""
ERASURES, OPT_OUTS, NO_LIST = "erasures", "opt-outs", ""
"""The lists that the service keeps itself: erased people, opt-outs of providers, and single entries."""
ERASURE = {"reason": ERASED, "list_name": ERASURES}
"""The arguments of `suppress` for an erased person."""
_OLD_KINDS = frozenset({"email", "linkedin_url", "phone"})


class Suppression(Base):
    """A suppressed identifier in one list; the value itself is not stored."""

    __tablename__ = "suppressions"

    digest: Mapped[bytes] = mapped_column(primary_key=True)
    list_name: Mapped[str] = mapped_column(primary_key=True, server_default="")
    kind: Mapped[str]
    reason: Mapped[str]
    version: Mapped[int] = mapped_column(SmallInteger, server_default="1")
    created_at: Mapped[datetime] = mapped_column(index=True)


_DIGEST = Suppression.__table__.c.digest


@dataclass(frozen=True, slots=True)
class Identifier:
    """What a person is known by: `value` is in normal form.

    `kind` is email, linkedin_url, phone, domain (of the employer) or name (`forms.employment`).
    """

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A digest to put on a list."""

    kind: str
    digest: bytes
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Listing:
    """Why identifiers are suppressed, and by which list."""

    reason: str
    list_name: str = NO_LIST


def digest(keys: DigestKeys, identifier: Identifier) -> bytes:
    """Return the 32-byte digest of an identifier in normal form."""
    return _of_form(keys, (identifier.kind, identifier.value))


def hashed_entry(keys: DigestKeys, kind: str, sha256: bytes) -> Entry:
    """Return the entry of an identifier of which only the published SHA-256 is known."""
    return Entry(kind, keys.published_digest(kind, sha256))


def entry_of_form(keys: DigestKeys, form: Form) -> Entry:
    """Return the entry of a form in plain text."""
    return Entry(form[0], _of_form(keys, form))


def suppress(
    session: Session,
    identifiers: Iterable[Identifier],
    *,
    reason: str,
    now: Moment,
    list_name: str = NO_LIST,
) -> int:
    """Insert the identifiers; return how many were new."""
    keys = digest_keys(session)
    listing = Listing(reason, list_name)
    added = 0
    for item in dict.fromkeys(identifiers):
        entries = [entry_of_form(keys, form) for form in forms.listed(item.kind, item.value)]
        added += bool(suppress_entries(session, entries, listing, now=now))
    return added


def suppress_entries(session: Session, entries: Sequence[Entry], listing: Listing, *, now: Moment) -> int:
    """Insert the entries that the list does not have, and record them in the journal; return how many."""
    added = 0
    for (kind, version), digests in _by_group((entry.kind, entry.version, entry.digest) for entry in entries):
        shared = {
            "list_name": listing.list_name,
            "kind": kind,
            "reason": listing.reason,
            "version": version,
            "created_at": now,
        }
        new = insert_missing(session, Suppression, "digest", digests, shared)
        if new:
            group = (listing.list_name, listing.reason, kind, version)
            _record(session, ADD, suppression_journal.time_of(now), [(*group, digest) for digest in digests])
        added += new
    return added


def remove(session: Session, identifiers: Iterable[Identifier]) -> int:
    """Delete the identifiers from all lists; return how many were suppressed by entries of their own."""
    keys = digest_keys(session)
    own = [_own_digests(keys, identifier) for identifier in identifiers]
    removed = _delete(session, _DIGEST.in_([value for digests in own for value in digests]))
    return sum(not removed.isdisjoint(digests) for digests in own)


def remove_entries(session: Session, digests: Sequence[bytes], *, list_name: str) -> int:
    """Delete these entries from one list; return how many it had."""
    return len(_delete(session, Suppression.list_name == list_name, is_among(session, _DIGEST, digests)))


def remove_digest(session: Session, value: bytes, *, reason: str) -> bool:
    """Delete the entries with this digest and reason; return whether there was one."""
    return bool(_delete(session, _DIGEST.in_([value]), Suppression.reason == reason))


def remove_all(session: Session, *, reason: str) -> int:
    """Delete all identifiers suppressed for this reason; return how many."""
    return len(_delete(session, Suppression.reason == reason))


def remove_from_list(session: Session, list_name: str) -> int:
    """Delete up to `BATCH_SIZE` entries of a list; return how many, 0 once it is empty."""
    some = select(_DIGEST).where(Suppression.list_name == list_name).limit(BATCH_SIZE)
    return len(_delete(session, Suppression.list_name == list_name, _DIGEST.in_(some)))


_MOST_FORMS = 16
"""Up to this number of digests a prepared statement serves: two of a profile, six of an address, four of a
number, one of a domain. A host with many labels has a digest for each domain above it."""
_PARAMETERS = [bindparam(f"digest_{number}", type_=LargeBinary()) for number in range(_MOST_FORMS)]
_IS_ONE_OF_FEW = Suppression.digest.in_(_PARAMETERS)
_FEW = Statement(lambda _dialect: select(Suppression.digest).where(_IS_ONE_OF_FEW))
IS_ANY_OF_FEW = select(Suppression.digest).where(_IS_ONE_OF_FEW).exists()
"""The condition that any of a few identifiers is suppressed, with the parameters of `parameters`."""


def suppressed(session: Session, identifiers: Iterable[Identifier]) -> frozenset[Identifier]:
    """Return the identifiers that are suppressed, by themselves or by their domain."""
    keys = digest_keys(session)
    cache: dict[Form, bytes] = {}
    by_identifier = {item: _checked_digests(keys, item, cache) for item in identifiers}
    digests = list(dict.fromkeys(value for values in by_identifier.values() for value in values))
    if not digests:
        return frozenset()
    if len(digests) > _MOST_FORMS:
        found = _found(session, select(Suppression.digest), digests)
    else:
        found = {row.digest for row in _FEW.all(session, parameters(digests))}
    return frozenset(item for item, values in by_identifier.items() if not found.isdisjoint(values))


def any_suppressed(session: Session, identifiers: Iterable[Identifier]) -> frozenset[Identifier]:
    """Return the suppressed ones of any number of identifiers; with an empty list none is digested."""
    if session.scalar(select(Suppression.digest).limit(1)) is None:
        return frozenset()
    return frozenset().union(*(suppressed(session, part) for part in batched(identifiers)))


def has_reason(session: Session, reason: str) -> bool:
    """Return whether anybody is suppressed for this reason."""
    return session.scalar(select(Suppression.digest).where(Suppression.reason == reason).limit(1)) is not None


def with_reason(session: Session, identifiers: Iterable[Identifier], reason: str) -> frozenset[Identifier]:
    """Return the identifiers that are themselves, not by their domain, suppressed for this reason."""
    keys = digest_keys(session)
    by_identifier = {item: _own_digests(keys, item) for item in identifiers}
    digests = dict.fromkeys(value for values in by_identifier.values() for value in values)
    query = select(Suppression.digest).where(Suppression.reason == reason)
    found = _found(session, query, digests)
    return frozenset(item for item, values in by_identifier.items() if not found.isdisjoint(values))


def is_listed(session: Session, value: bytes) -> bool:
    """Return whether any list has an entry with this digest."""
    return session.scalar(select(Suppression.digest).where(_DIGEST.in_([value])).limit(1)) is not None


def entries_for(session: Session, identifier: Identifier) -> Sequence[Suppression]:
    """Return the entries that suppress an identifier, oldest first."""
    digests = _checked_digests(digest_keys(session), identifier, {})
    query = select(Suppression).where(_DIGEST.in_(digests))
    return session.scalars(query.order_by(Suppression.created_at, Suppression.list_name)).all()


def summary(session: Session) -> Sequence[Any]:
    """Return rows with kind, reason, list_name and the number of entries, the most numerous first."""
    group = (Suppression.kind, Suppression.reason, Suppression.list_name)
    query = select(*group, func.count().label("entries")).group_by(*group)
    return session.execute(query.order_by(func.count().desc(), *group)).all()


def all_lines(session: Session) -> Iterator[JournalLine]:
    """Yield every entry as lines of a journal, in the order of their time."""
    key = digest_keys(session).suppression_fingerprint
    table = Suppression.__table__.c
    order = (table.created_at, table.digest, table.list_name)
    names = ("created_at", "list_name", "reason", "kind", "version", "digest")
    query = select(*(table[name] for name in names)).order_by(*order).limit(BATCH_SIZE)
    after: tuple[Any, ...] = ()
    while rows := session.execute(query.where(*([_is_after(order, after)] if after else []))).all():
        for (at, *group), digests in _by_group(rows):
            yield _line(ADD, key, at, group, digests)
        after = (rows[-1].created_at, rows[-1].digest, rows[-1].list_name)


def parameters(digests: Sequence[bytes] = ()) -> dict[str, bytes | None]:
    """Return the parameters of `IS_ANY_OF_FEW`; without digests, no row matches.

    Those behind the first `_MOST_FORMS` are left out: of digests that are all suppressed, one is enough.
    """
    return {
        f"digest_{number}": digests[number] if number < len(digests) else None
        for number in range(_MOST_FORMS)
    }


def request_parameters(session: Session, identifiers: Iterable[Identifier]) -> dict[str, bytes | None]:
    """Return the parameters of `IS_ANY_OF_FEW` for the identifiers of one request.

    Of more digests than it has parameters for, those that are suppressed are searched for first.
    """
    keys = digest_keys(session)
    digests = list(dict.fromkeys(value for item in identifiers for value in _checked_digests(keys, item, {})))
    if len(digests) > _MOST_FORMS:
        digests = sorted(_found(session, select(Suppression.digest), digests))
    return parameters(digests)


LATEST = select(func.max(Suppression.created_at)).scalar_subquery()
"""The time of the latest suppression, or NULL."""


def _found(session: Session, query: Select[bytes], digests: Iterable[bytes]) -> set[bytes]:
    """Return which of any number of digests the query returns."""
    return {
        value
        for part in batched(digests)
        for value in session.scalars(query.where(is_among(session, _DIGEST, part)))
    }


def _of_form(keys: DigestKeys, form: Form) -> bytes:
    return keys.published_digest(form[0], hash_of(form[1]))


def _own_digests(keys: DigestKeys, item: Identifier) -> list[bytes]:
    """Return the digests of the entries that stand for this value itself."""
    digests = [_of_form(keys, form) for form in forms.own(item.kind, item.value)]
    return digests + _old_digest(keys, item)


def _checked_digests(keys: DigestKeys, item: Identifier, cache: dict[Form, bytes]) -> list[bytes]:
    """Return the digests of every entry that suppresses this value; people share the forms of a domain."""
    digests = []
    for form in forms.checked(item.kind, item.value):
        if form not in cache:
            cache[form] = _of_form(keys, form)
        digests.append(cache[form])
    return digests + _old_digest(keys, item)


def _old_digest(keys: DigestKeys, item: Identifier) -> list[bytes]:
    """Return the digest of version 1; kinds that are newer have none."""
    return [keys.suppression_digest(item.kind, item.value)] if item.kind in _OLD_KINDS else []


def _is_after(columns: Sequence[ColumnElement[Any]], values: Sequence[Any]) -> ColumnElement[bool]:
    """Return the condition that a row follows the one with these values in the order of the columns."""
    (column, *others), (value, *rest) = columns, values
    return or_(column > value, and_(column == value, _is_after(others, rest))) if others else column > value


def _delete(session: Session, *conditions: ColumnElement[bool]) -> frozenset[bytes]:
    """Delete the entries, and record them in the journal; return their digests."""
    names = ("list_name", "reason", "kind", "version", "digest")
    deletion = delete(Suppression).where(*conditions).execution_options(synchronize_session=False)
    rows = session.execute(deletion.returning(*(getattr(Suppression, name) for name in names))).all()
    _record(session, REMOVE, clock.now(), rows)
    return frozenset(row.digest for row in rows)


def _record(session: Session, action: str, at: datetime, rows: Iterable[Sequence[Any]]) -> None:
    """Record rows of list_name, reason, kind, version and digest."""
    key = digest_keys(session).suppression_fingerprint
    lines = (_line(action, key, at, group, digests) for group, digests in _by_group(rows))
    suppression_journal.record(session, lines)


def _line(action: str, key: str, at: datetime, group: Sequence[Any], digests: Sequence[bytes]) -> JournalLine:
    list_name, reason, kind, version = group
    return JournalLine(action, key, at, list_name, reason, kind, version, digests)


def _by_group(rows: Iterable[Sequence[Any]]) -> list[tuple[tuple[Any, ...], list[bytes]]]:
    """Return the last values of the rows by all the others, in the order of their first row."""
    groups: dict[tuple[Any, ...], list[bytes]] = {}
    for *group, value in rows:
        groups.setdefault(tuple(group), []).append(value)
    return list(groups.items())
