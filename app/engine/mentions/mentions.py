"""Finds the rows that mention a person, and keeps the index that they are found with.

The index is written in the background, so that no request waits for it. What is not indexed yet is read:
open jobs, and what changed in the last minutes. After the clock has gone back, the next indexing covers
everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from types import MappingProxyType
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Table, delete, select, update

from app.domain.records.mentions import tokens_in, tokens_of
from app.domain.records.person_matcher import PersonMatcher, parts
from app.engine.contacts.bulk import batched
from app.engine.mentions.mention_sources import SETTLING, Key, Place, Source
from app.engine.mentions.mention_tables import MentionPosition
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.bulk_statements import insert_all
from app.infra.database.database_clock import Moment
from app.infra.database.db import insert
from app.infra.database.session import Session

Contents: TypeAlias = Mapping[Key, Any]
Prepared: TypeAlias = Mapping[Key, tuple[Any, list[bytes]]]

BATCH = 500
BATCH_CHARACTERS = 1 << 20
_BEGINNING: Place = (datetime.fromtimestamp(0, UTC), "", -1)


def read_next(session: Session, source: Source, *, now: Moment) -> Contents:
    """Return the contents of the next batch of settled rows of the source, by key; a read without locks."""
    rows = _settled(session, source, session.get(MentionPosition, source.name), now)
    return dict(zip(map(source.key_of, rows), _first(source.contents(session, rows)), strict=False))


def prepare(keys: DigestKeys, contents: Contents) -> Prepared:
    """Return the contents with their digests; this takes processor time, and needs no transaction."""
    return {key: (content, _digests(keys, tokens_in(content))) for key, content in contents.items()}


def index_next(
    session: Session, source: Source, *, now: Moment, prepared: Prepared = MappingProxyType({})
) -> int:
    """Index the next batch of settled rows of the source; return how many there were.

    The digests of rows that changed since they were prepared, or were not, are computed here: what an erasure
    has removed meanwhile is not stored.
    """
    rows = _settled(session, source, _locked(session, source), now)
    if rows:
        contents = _first(source.contents(session, rows))
        rows = rows[: len(contents)]
        _store(session, source, rows, contents, prepared)
        at, last_id, last_number = source.place_of(rows[-1])
        values = {"at": at, "last_id": last_id, "last_number": last_number, "key_check": _check(session)}
        session.execute(update(MentionPosition).where(MentionPosition.source == source.name).values(values))
    return len(rows)


def find(session: Session, source: Source, matcher: PersonMatcher) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of the source that mention the person, each with its content; some rows twice.

    Other transactions open, finish and index rows meanwhile. So the states are read in the order in which a
    row has them, and the position first: a row that leaves a state before it is read there is in a later one.
    """
    position = session.get(MentionPosition, source.name, populate_existing=True)
    place = _place(session, position, database_clock.now())
    for rows in _unindexed(session, source, place):
        yield from _matching(session, source, rows, matcher)
    for part in batched(_indexed_keys(session, source, matcher)):
        rows = session.execute(source.query.where(source.has_key(part))).all()
        yield from _matching(session, source, rows, matcher)


def keys_of(
    session: Session, source: Source, matcher: PersonMatcher, within: ColumnElement[bool]
) -> list[Key]:
    """Return the keys of the rows within a condition that may mention the person, without their content.

    These are the rows whose mentions do, and those that are not indexed yet, in the order of `find`.
    """
    position = session.get(MentionPosition, source.name, populate_existing=True)
    place = _place(session, position, database_clock.now())
    found: set[Key] = set()
    query = select(*source.key).where(within)
    for is_unindexed in (source.is_open, source.behind(place)):
        found.update(tuple(row) for row in session.execute(query.where(is_unindexed)))
    for part in batched(_indexed_keys(session, source, matcher)):
        found.update(tuple(row) for row in session.execute(query.where(source.has_key(part))))
    return sorted(found)


def reindex(session: Session, source: Source, keys: Sequence[Key]) -> None:
    """Reindex rows from which a person was removed."""
    for part in batched(keys):
        session.flush()
        session.expire_all()
        rows = session.execute(source.query.where(source.has_key(part))).all()
        _store(session, source, rows, source.contents(session, rows))


def lock(session: Session, sources: Iterable[Source]) -> None:
    """Block indexing until the transaction ends, so that it stores nothing that is being erased."""
    for source in sources:
        _locked(session, source)


def _settled(
    session: Session, source: Source, position: MentionPosition | None, now: Moment
) -> Sequence[Any]:
    """Return the first rows behind the position that have settled."""
    place = _place(session, position, now)
    query = source.query.where(source.behind(place), source.changed_at <= now - SETTLING)
    return session.execute(query.order_by(*source.order).limit(BATCH)).all()


def _indexed_keys(session: Session, source: Source, matcher: PersonMatcher) -> list[Key]:
    table = _table(source)
    columns = [table.c[name] for name in source.mention_key]
    digests = _digests(session.keys, tokens_of(matcher))
    found = (
        session.execute(select(*columns).where(table.c.digest.in_(part)).distinct())
        for part in batched(digests)
    )
    return sorted({tuple(row) for rows in found for row in rows})


def _unindexed(session: Session, source: Source, place: Place) -> Iterator[Sequence[Any]]:
    """Yield the rows that are not indexed, in batches: those being written, and those behind the position."""
    query = source.query.limit(BATCH)
    key = _BEGINNING[1:][: len(source.key)]
    while rows := session.execute(query.where(source.open_behind(key)).order_by(*source.key)).all():
        yield rows
        key = source.key_of(rows[-1])
    while rows := session.execute(query.where(source.behind(place)).order_by(*source.order)).all():
        yield rows
        place = source.place_of(rows[-1])


def _matching(
    session: Session, source: Source, rows: Sequence[Any], matcher: PersonMatcher
) -> Iterator[tuple[Any, Any]]:
    contents = source.contents(session, rows)
    yield from (found for found in zip(rows, contents, strict=True) if matcher.matches(found[1]))


def _first(contents: Sequence[Any]) -> Sequence[Any]:
    """Return the first contents, at least one: so many that the transaction that indexes them is short."""
    lengths = accumulate(sum(len(part) for part in parts(content)) for content in contents)
    return contents[: max(1, sum(1 for length in lengths if length <= BATCH_CHARACTERS))]


def _store(
    session: Session,
    source: Source,
    rows: Sequence[Any],
    contents: Sequence[Any],
    prepared: Prepared = MappingProxyType({}),
) -> None:
    """Replace the mentions of these rows."""
    keys, table, own = [source.key_of(row) for row in rows], _table(source), session.keys
    session.execute(delete(table).where(source.has_key(keys, table)))
    mentions = [
        dict(zip(source.mention_key, key, strict=True)) | {"digest": digest}
        for key, content in zip(keys, contents, strict=True)
        for digest in _digests_of(own, content, prepared.get(key))
    ]
    insert_all(session, source.mentions, mentions)


def _digests_of(
    keys: DigestKeys, content: object, prepared: tuple[object, list[bytes]] | None
) -> list[bytes]:
    """Return the digests of the content: those that were prepared, if it is what they were made of."""
    if prepared is not None and prepared[0] == content:
        return prepared[1]
    return _digests(keys, tokens_in(content))


def _digests(keys: DigestKeys, tokens: Iterable[str]) -> list[bytes]:
    return [keys.mention_digest(token) for token in tokens]


def _check(session: Session) -> bytes:
    """Return a fingerprint of SUPPRESSION_KEY; digests made with another key match no row."""
    return session.keys.mention_digest("")


def _place(session: Session, position: MentionPosition | None, now: Moment) -> Place:
    """Return up to where the source is indexed with the present key.

    If the clock has gone back, rows may have changed since then that come before the position.
    """
    if position is None or position.key_check != _check(session):
        return _BEGINNING
    if position.at > database_clock.value(session, now) - SETTLING:
        return _BEGINNING
    return position.at, position.last_id, position.last_number


def _locked(session: Session, source: Source) -> MentionPosition:
    """Return the position of the source, with its row locked until the transaction ends."""
    at, last_id, last_number = _BEGINNING
    values = {"source": source.name, "at": at, "last_id": last_id, "last_number": last_number}
    beginning = insert(session, MentionPosition).values(**values, key_check=_check(session))
    session.execute(beginning.on_conflict_do_nothing())
    query = select(MentionPosition).where(MentionPosition.source == source.name).with_for_update()
    return session.scalars(query, execution_options={"populate_existing": True}).one()


def _table(source: Source) -> Table:
    table = source.mentions.__table__
    assert isinstance(table, Table)  # noqa: S101 -- for mypy
    return table
