"""What uploads hold about people, for the parts of the service that go through all features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from apiflask import APIFlask
from jobs_support import NOW, a_workspace
from mentions_support import index_all

from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.mentions import mentions
from app.engine.privacy import erased_people, erasure, redaction, reencryption
from app.features.uploads import row_store, uploads
from app.features.uploads.personal_data import UPLOAD_ROWS
from app.features.uploads.tables import Upload, UploadRow, UploadStatus
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings

ADA, BOB = Identifier("email", "ada@acme.com"), Identifier("email", "bob@acme.com")


def an_upload(session: Session, content: bytes = b"") -> Upload:
    return uploads.create(
        session,
        workspace_id=a_workspace(session),
        account_id="acc_1",
        api_key_id=None,
        file_name="people.csv",
        content=content,
        now=NOW,
    )


def add_rows(session: Session, upload: Upload, rows: Sequence[list[str]]) -> None:
    counts = dict.fromkeys(("cost", "charged", "tries", "line"), 0)
    session.add_all(
        UploadRow(
            upload_id=upload.id, number=number, cells=cells, is_readable=True, is_pending=False, **counts
        )
        for number, cells in enumerate(rows)
    )
    session.flush()


def found(session: Session, person: Identifier) -> list[tuple[str, int]]:
    matcher = redaction.person_matcher([person])
    return [(row.upload_id, row.number) for row, _ in mentions.find(session, UPLOAD_ROWS, matcher)]


@pytest.fixture
def rotated(settings: Settings) -> Iterator[Database]:
    """The database opened with a new key."""
    keys = replace(DigestKeys.from_settings(settings), encryption=((7, b"7" * 32),))
    database = Database(settings.database_url, keys=keys)
    yield database
    database.close()


def test_rows_of_an_upload_are_read_until_they_are_complete(session: Session) -> None:
    upload = an_upload(session)
    add_rows(session, upload, [["Ada", ADA.value], ["Bob", BOB.value]])
    upload.status = UploadStatus.PRICING.value
    session.flush()

    assert (index_all(session), found(session, ADA)) == (0, [(upload.id, 0)])
    upload.status = UploadStatus.READY.value
    session.flush()
    assert (found(session, ADA), index_all(session)) == ([(upload.id, 0)], 2)
    assert (found(session, ADA), found(session, BOB)) == ([(upload.id, 0)], [(upload.id, 1)])


def test_metrics_show_that_no_upload_was_given_up(app: APIFlask) -> None:
    assert 'ext_given_up{kind="upload"} 0.0' in app.test_client().get("/metrics").text.splitlines()


def test_an_uploaded_file_is_encrypted_under_the_new_key(
    settings: Settings, database: Database, rotated: Database
) -> None:
    contents = [identifier.value.encode() for identifier in (ADA, BOB)]
    with database.transaction() as session:
        ids = [an_upload(session, content).id for content in contents]

    is_finished = []
    while not any(is_finished):
        with rotated.transaction() as session:
            is_finished.append(reencryption.encrypt_next(session, "upload_files", now=NOW))

    only_new = Database(settings.database_url, keys=DigestKeys(b"another", b"another", ((7, b"7" * 32),)))
    with only_new.reading() as session:
        assert is_finished == [False, True]
        assert [row_store.content(session, upload_id) for upload_id in ids] == contents
        assert {row.name: row.rows for row in reencryption.progress(session)} == {"upload_files": 2}
    only_new.close()


def test_the_receipt_of_an_erasure_counts_the_rows_also_if_there_are_none(
    session: Session, database: Database
) -> None:
    assert erasure.plan(session, [], [ADA]).counts["upload_rows"] == 0
    assert "upload_rows" in erased_people.erase_again(database)
