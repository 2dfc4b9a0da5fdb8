"""The tables of uploaded lists: the list, its file until it is read, its rows, and its jobs of 100 rows.

The results of the rows are the items of the jobs, so nothing that a job returned is stored twice. The people
whom the rows mention are indexed, as keyed digests (see `app.engine.mentions`).
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, ForeignKeyConstraint, Index, String, false, text
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import foreign_key
from app.engine.tables import Tables
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedJson

_PENDING = text("is_pending")
_ROW = ("upload_id", "number")


class UploadStatus(StrEnum):
    """The status of an upload; the last three are final."""

    READING = "reading"
    MAPPING = "mapping"
    PRICING = "pricing"
    READY = "ready"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    CANCELED = "canceled"
    FAILED = "failed"


UNFINISHED = (UploadStatus.READING, UploadStatus.PRICING)
"""The statuses in which a worker writes the rows."""


class Operation(StrEnum):
    """What is done with the people of a list, or with its addresses and numbers."""

    ENRICH = "enrich"
    VERIFY = "verify"


class Upload(Base):
    """A list that a workspace uploaded.

    `table_options` say how the file is to be read, and the `country` of its national numbers, as far as
    the member said it; `table_format` says how it was read. `size` is what the file, and then its rows, take
    as they are stored. `columns` has the field of each column of
    `header`, null for one that is not used. `revision` counts the mappings, so that the price of an
    earlier one is discarded. `reason` is the code of what paused the upload or made it fail, `detail` the
    sentence for it. `priced` rows have been priced, and `counts` is the sum of their prices; `estimate`
    is the price of all rows, null until it is known. `warnings` says what was not understood in them, in
    the format of `CellWarnings`. `outcomes` counts the people of finished jobs by outcome, and `charged`
    is what those jobs cost. `account_id` and `api_key_id` started the upload; `purpose` is the last one
    that was stated; `skip` says whom the jobs skip, as in their requests, null for nobody. An upload that
    verifies has no `fields` to find, and repeats no known verdict if it `is_fresh`. `touched_at` is
    the last change of the status or the rows, except while rows are read or priced.
    """

    __tablename__ = "uploads"
    __table_args__ = (Index("ix_uploads_workspace_id", "workspace_id", "id"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    account_id: Mapped[str]
    api_key_id: Mapped[str | None]
    file_name: Mapped[str]
    operation: Mapped[str] = mapped_column(server_default=Operation.ENRICH.value)
    status: Mapped[str]
    reason: Mapped[str | None]
    detail: Mapped[str | None]
    header: Mapped[list[Any]] = mapped_column(EncryptedJson("uploads.header"))
    delimiter: Mapped[str]
    table_options: Mapped[dict[str, Any] | None]
    table_format: Mapped[dict[str, Any] | None]
    size: Mapped[int] = mapped_column(BigInteger)
    columns: Mapped[list[Any]]
    fields: Mapped[list[Any]]
    max_credits: Mapped[int | None] = mapped_column(BigInteger)
    purpose: Mapped[str | None]
    skip: Mapped[dict[str, Any] | None]
    is_fresh: Mapped[bool] = mapped_column(server_default=false())
    revision: Mapped[int]
    row_count: Mapped[int]
    priced: Mapped[int]
    counts: Mapped[dict[str, Any]]
    warnings: Mapped[list[Any]] = mapped_column(server_default=text("'[]'"))
    estimate: Mapped[dict[str, Any] | None]
    outcomes: Mapped[dict[str, Any]]
    charged: Mapped[int] = mapped_column(BigInteger)
    next_chunk: Mapped[int]
    created_at: Mapped[datetime]
    touched_at: Mapped[datetime] = mapped_column(index=True)


class UploadFile(Base):
    """The bytes of an uploaded file, until its rows are stored."""

    __tablename__ = "upload_files"

    upload_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("uploads.id", ondelete="CASCADE"), primary_key=True
    )
    content: Mapped[bytes]


class UploadRow(Base):
    """A row of an uploaded list, in the order of the file.

    A row that is not readable has a fault of the file; another one has a fault if it identifies no person.
    `person_digest` identifies the person that it names, `cost` is the most that finding them costs,
    `duplicate_of` the number of the first row about the same person. `is_pending` means that it waits for a
    job. `chunk` and `item` are the number of the job and the item in it; while the row waits, of a job that
    found a part. `charged` is what earlier jobs charged for it, `tries` how many of them ended without its
    result.
    """

    __tablename__ = "upload_rows"
    __table_args__ = (
        Index("uq_upload_rows_item", "upload_id", "chunk", "item", unique=True),
        Index("ix_upload_rows_person_digest", "upload_id", "person_digest", "number"),
        Index(
            "ix_upload_rows_pending", "upload_id", "number", sqlite_where=_PENDING, postgresql_where=_PENDING
        ),
    )

    upload_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("uploads.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    line: Mapped[int]
    cells: Mapped[list[Any]] = mapped_column(EncryptedJson("upload_rows.cells", _ROW))
    subject: Mapped[dict[str, Any] | None] = mapped_column(EncryptedJson("upload_rows.subject", _ROW))
    person_digest: Mapped[bytes | None]
    cost: Mapped[int]
    is_readable: Mapped[bool]
    fault: Mapped[str | None]
    duplicate_of: Mapped[int | None]
    is_pending: Mapped[bool]
    chunk: Mapped[int | None]
    item: Mapped[int | None]
    charged: Mapped[int]
    tries: Mapped[int]


class UploadChunk(Base):
    """A job of an upload; `is_open` until its results are counted."""

    __tablename__ = "upload_chunks"

    upload_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("uploads.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[str] = mapped_column(String(28), ForeignKey("jobs.id", ondelete="CASCADE"), index=True)
    is_open: Mapped[bool]


class UploadMention(Base):
    """A digest of an identifier in a row of an uploaded list."""

    __tablename__ = "upload_mentions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["upload_id", "number"], ["upload_rows.upload_id", "upload_rows.number"], ondelete="CASCADE"
        ),
        Index("ix_upload_mentions_digest", "digest"),
    )

    upload_id: Mapped[str] = mapped_column(String(28), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[bytes] = mapped_column(primary_key=True)


TABLES = Tables(created=((Upload.__tablename__, "upl"),))
