"""What uploaded lists say about a person: found, shown to the person, and erased.

The row of an erased person stays empty, so that the others keep their places. Of a row about somebody else
that mentions the person, such as an account with its owner's address, only the cells that mention them are
emptied. A file whose name mentions the person is named like its upload, and an address book whose title does
by its id in the price of a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any, NamedTuple

from sqlalchemy import select, tuple_, update

from app.domain.lists.row_subjects import subject_positions
from app.domain.records.person_matcher import PersonMatcher
from app.engine.accounts.workspaces import Workspace
from app.engine.contacts.bulk import batched
from app.engine.enrichments import own_record_counts
from app.engine.mentions import mentions
from app.engine.mentions.mention_sources import Source
from app.engine.privacy.holdings import Export
from app.features.uploads import choices, erasure
from app.features.uploads.erasure import RowKey
from app.features.uploads.tables import UNFINISHED, Upload, UploadMention, UploadRow
from app.infra.clock import rfc3339
from app.infra.database.encrypted_columns import encrypted, row_name
from app.infra.database.session import Session

_ROWS, _UPLOADS = UploadRow.__table__.c, Upload.__table__.c

UPLOAD_ROWS = Source(
    name="upload_rows",
    mentions=UploadMention,
    mention_key=("upload_id", "number"),
    query=select(
        UploadRow.upload_id, UploadRow.number, UploadRow.cells, UploadRow.subject, Upload.touched_at
    ).join(Upload, Upload.id == UploadRow.upload_id),
    key=(_ROWS.upload_id, _ROWS.number),
    changed_at=_UPLOADS.touched_at,
    is_settled=_UPLOADS.status.not_in(UNFINISHED),
    is_open=_UPLOADS.status.in_(UNFINISHED),
    contents=lambda _session, rows: [[row.cells, row.subject] for row in rows],
)


@dataclass(frozen=True, slots=True)
class UploadedData:
    """The rows about a person, those about others that mention the person, and the uploads `named` so.

    In the price of the `counted` uploads is the title of an address book that mentions the person.
    """

    matcher: PersonMatcher
    own: tuple[RowKey, ...]
    mentioning: tuple[RowKey, ...]
    named: tuple[str, ...]
    counted: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Return how many rows are about the person."""
        return len(self.own)

    @property
    def notes(self) -> int:
        """Return how many other rows, names of files and prices mention the person."""
        return len(self.mentioning) + len(self.named) + len(self.counted)

    def export(self, session: Session) -> Export:
        """Return the rows about the person, and what is theirs in the rows about others; repetitions once."""
        found = [_shown(row, row.cells) for row in _stored(session, self.own)]
        for row in _stored(session, self.mentioning):
            shown = _shown(row, [", ".join(self.matcher.mentioned_in(cell)) for cell in row.cells])
            if shown not in found[-1:]:  # such as the owner's address on every row of an export
                found.append(shown)
        return {"uploaded_rows": found}

    def erase(self, session: Session) -> list[tuple[Source, Sequence[RowKey]]]:
        """Rename files and address books, and empty the rows and the cells; return the changed rows."""
        for upload in session.scalars(select(Upload).where(Upload.id.in_(self.counted)).with_for_update()):
            upload.counts = own_record_counts.without_titles(upload.counts, self.matcher.matches)
            if upload.estimate is not None:
                upload.estimate = upload.estimate | choices.described(upload.counts)
        session.execute(update(Upload).where(Upload.id.in_(self.named)).values(file_name=Upload.id))
        erasure.clear(session, self.own)
        blank(session, self.mentioning, self.matcher)
        return [(UPLOAD_ROWS, [*self.own, *self.mentioning])]


def find(session: Session, matcher: PersonMatcher) -> UploadedData:
    """Return what mentions the person."""
    files = session.execute(select(Upload.id, Upload.file_name, Upload.counts)).all()
    named = [row.id for row in files if matcher.matches(PurePath(row.file_name).stem)]
    counted = [
        row.id
        for row in files
        if any(matcher.matches(one.title) for one in own_record_counts.listed(row.counts))
    ]
    found = (row for row, _ in mentions.find(session, UPLOAD_ROWS, matcher))
    own, mentioning = _divide(session, found, matcher)
    return UploadedData(matcher, tuple(own), tuple(mentioning), tuple(named), tuple(counted))


def blank(session: Session, keys: Sequence[RowKey], matcher: PersonMatcher) -> None:
    """Empty the cells of these rows that mention the person."""
    columns = UploadRow.upload_id, UploadRow.number
    for part in batched(keys):
        query = select(*columns, UploadRow.cells).where(tuple_(*columns).in_(part))
        rows = session.execute(query.order_by(*columns).with_for_update()).all()
        changes = [
            _with_cells(session, row.upload_id, row.number, matcher.without(row.cells)) for row in rows
        ]
        if changes:
            session.execute(update(UploadRow), changes)


def _with_cells(session: Session, upload_id: str, number: int, cells: Sequence[str]) -> dict[str, Any]:
    stored = encrypted(session, UploadRow.cells, row_name(upload_id, number), list(cells))
    return {"upload_id": upload_id, "number": number, "cells": stored}


def _divide(
    session: Session, rows: Iterable[Any], matcher: PersonMatcher
) -> tuple[list[RowKey], list[RowKey]]:
    """Return the keys of the rows about the person, and of the other rows; all of them mention the person.

    `rows` have a key, cells and a subject. The subject of a row is read from the mapped columns.
    """
    columns: dict[str, Sequence[str | None]] = {}
    own: set[RowKey] = set()
    mentioning: set[RowKey] = set()
    for row in rows:
        if row.upload_id not in columns:
            query = select(Upload.columns).where(Upload.id == row.upload_id)
            columns[row.upload_id] = session.scalar(query) or []
        positions = subject_positions(row.cells, columns[row.upload_id])
        is_own = matcher.matches([row.subject, [row.cells[position] for position in positions]])
        (own if is_own else mentioning).add((row.upload_id, row.number))
    return sorted(own), sorted(mentioning - own)


class _StoredRow(NamedTuple):
    """The cells of a row of a list, and which workspace uploaded it and when."""

    workspace: str
    header: list[str]
    created_at: datetime
    cells: list[str]


def _stored(session: Session, keys: Sequence[RowKey]) -> Iterator[_StoredRow]:
    query = (
        select(Workspace.name, Upload.header, Upload.created_at, UploadRow.cells)
        .join(Upload, Upload.id == UploadRow.upload_id)
        .join(Workspace, Workspace.id == Upload.workspace_id)
        .order_by(UploadRow.upload_id, UploadRow.number)
    )
    for part in batched(keys):
        found = session.execute(query.where(tuple_(UploadRow.upload_id, UploadRow.number).in_(part)))
        yield from map(_StoredRow._make, found)


def _shown(row: _StoredRow, cells: Sequence[str]) -> dict[str, Any]:
    return {
        "workspace": row.workspace,
        "at": rfc3339(row.created_at),
        "cells": [
            {"column": column, "value": value}
            for column, value in zip(row.header, cells, strict=False)
            if value
        ],
    }
