"""Lists with long texts: what is stored of them, and what is read at once, is limited."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from openpyxl import Workbook
from sqlalchemy import inspect
from upload_support import HEADER, Uploader, a_list, addresses, people, uploader
from worker_harness import worker_harness

from app.features.uploads import results, row_store, uploads
from app.features.uploads.row_reader import RowReader
from app.features.uploads.tables import UploadStatus
from app.features.uploads.turn import workbook_reader
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    return uploader(worker_harness(settings, database, monkeypatch))


@pytest.fixture
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no two rows be read at once."""
    monkeypatch.setattr(row_store, "MAX_CHARACTERS", 1)


def a_workbook_with_one_text(rows: int, text: str) -> bytes:
    book, out = Workbook(), io.BytesIO()
    for row in (HEADER, *((name, address, text) for name, address, _note in people(rows))):
        book.active.append(row)  # type: ignore[union-attr]
    book.save(out)
    return out.getvalue()


def test_a_small_workbook_cannot_have_many_times_the_text_of_the_largest_file(ada: Uploader) -> None:
    ada.harness.change_settings(upload_max_mb=1)
    content = a_workbook_with_one_text(150, "x" * 30_000)
    upload_id = ada.upload(content)

    ada.turn(upload_id)

    upload = ada.get(upload_id)
    assert len(content) < 20_000
    assert (upload.status, upload.detail) == (UploadStatus.FAILED, workbook_reader.TOO_COMPLEX)


def test_a_workbook_with_as_much_text_as_the_largest_file_is_read(ada: Uploader) -> None:
    ada.harness.change_settings(upload_max_mb=1)
    upload_id = ada.upload(a_workbook_with_one_text(40, "ж" * 30_000))

    ada.turn(upload_id)

    assert ada.get(upload_id).row_count == 40


def test_a_merged_cell_cannot_make_a_header_of_megabytes(ada: Uploader) -> None:
    group = ("x" * 60_000, "", "", "", "y")
    upload_id = ada.upload(a_list(("Email",) * 6, ("ada@acme.com",) * 6, header=group))

    ada.turn(upload_id)

    upload = ada.get(upload_id)
    assert upload.status == UploadStatus.FAILED
    assert upload.detail is not None
    assert "header has more than 131,072 characters" in upload.detail


@pytest.mark.usefixtures("in_small_parts")
def test_long_rows_are_priced_and_returned_in_small_parts(ada: Uploader) -> None:
    upload_id = ada.ready(a_list(*people(3)))

    with ada.harness.database.reading() as session:
        part = results.rows(session, ada.get(upload_id), first=1, limit=500)
        sample = row_store.sample(session, upload_id, limit=3)

    assert [row.number for row in part] == [1]
    assert sample == [list(people(1)[0])]
    assert [row[:3] for row in ada.csv(upload_id)[1:]] == [list(row) for row in people(3)]


def test_the_sample_of_a_list_is_parsed_with_no_transaction_open(
    ada: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_id = ada.upload(a_list(*people(3)))
    ada.turn(upload_id)
    opened = []
    reading, of = ada.harness.database.reading, RowReader.of

    @contextmanager
    def counted(**options: Any) -> Iterator[Session]:
        with reading(**options) as session:
            opened.append(session)
            yield session
            opened.remove(session)

    def parsed(*arguments: Any, **options: Any) -> RowReader:
        assert not opened
        return of(*arguments, **options)

    monkeypatch.setattr(ada.harness.database, "reading", counted)
    monkeypatch.setattr(RowReader, "of", parsed)

    ada.turn(upload_id)

    assert ada.get(upload_id).status == UploadStatus.READY


@pytest.mark.usefixtures("in_small_parts")
def test_everybody_who_was_found_in_long_rows_is_added_to_a_list(ada: Uploader) -> None:
    ada.know(*addresses(3))
    upload_id = ada.ready(a_list(*people(3)))
    ada.start(upload_id)
    upload = ada.run(upload_id)
    found: list[str] = []
    following: int | None = 0

    with ada.harness.database.reading() as session:
        while following is not None:
            ids, following = results.contact_ids(session, upload, first=following, limit=500)
            found += ids

    assert len(set(found)) == 3


def test_uploads_are_listed_without_their_headers(ada: Uploader) -> None:
    ada.ready(a_list(*people(1)))

    with ada.harness.database.reading() as session:
        (upload,) = uploads.latest(session, ada.harness.workspace_id, before=None, limit=9)

    assert "header" in inspect(upload).unloaded
