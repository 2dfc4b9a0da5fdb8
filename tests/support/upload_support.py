"""Helpers for tests of uploads: lists as bytes, and a worker that continues them and runs their jobs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobs_support import a_workspace
from sqlalchemy import select
from stored_support import a_contact, an_email
from worker_harness import WorkerHarness

from app.domain.ids import new_id
from app.engine.accounts import accounts
from app.engine.enrichments.skips import SkipRule
from app.engine.jobs.jobs import Job
from app.engine.ledger import credits
from app.engine.privacy.erasure import ErasurePlan
from app.engine.work.items import WorkItem
from app.features.uploads import result_files, results, uploads, work
from app.features.uploads.erasure import RowKey
from app.features.uploads.personal_data import UploadedData
from app.features.uploads.result_rows import ResultRow
from app.features.uploads.tables import Upload, UploadStatus
from app.infra import clock
from workers.execution import job_runner
from workers.execution.feature import work_parts
from workers.jobs import enrichment_request  # noqa: F401 -- it registers its jobs

HEADER = ("Name", "Work email", "Notes")
MAX_TURNS = 100
work_parts()  # they register their jobs


@dataclass
class Uploader:
    """An account that uploads lists, and the worker that continues them."""

    harness: WorkerHarness
    account_id: str

    def upload(
        self, content: bytes, *, file_name: str = "people.csv", table_options: dict[str, Any] | None = None
    ) -> str:
        """Upload a file; return the id of the upload, which no worker has seen yet."""
        with self.harness.database.transaction() as session:
            return uploads.create(
                session,
                workspace_id=self.harness.workspace_id,
                account_id=self.account_id,
                api_key_id=None,
                file_name=file_name,
                content=content,
                table_options=table_options,
                now=clock.now(),
            ).id

    def ready(self, content: bytes) -> str:
        """Upload a file, and have it read and priced."""
        upload_id = self.upload(content)
        self.turn(upload_id)
        self.turn(upload_id)
        assert self.get(upload_id).status == UploadStatus.READY
        return upload_id

    def find(self, upload_id: str, *fields: str) -> None:
        """Set what to find for each person, and have the upload priced again."""
        with self.harness.database.transaction() as session:
            upload = uploads.locked(session, self.harness.workspace_id, upload_id)
            uploads.map_columns(session, upload, upload.columns, fields, now=clock.now())
        self.turn(upload_id)

    def start(
        self,
        upload_id: str,
        *,
        max_credits: int | None = None,
        api_key_id: str | None = None,
        purpose: str | None = None,
        skip: SkipRule | None = None,
    ) -> None:
        with self.harness.database.transaction() as session:
            upload = uploads.locked(session, self.harness.workspace_id, upload_id)
            if skip is not None:
                uploads.set_skip(upload, skip)
            uploads.start(
                session,
                upload,
                account_id=self.account_id,
                api_key_id=api_key_id,
                max_credits=max_credits,
                purpose=purpose,
                now=clock.now(),
            )

    def cancel(self, upload_id: str) -> None:
        with self.harness.database.transaction() as session:
            upload = uploads.locked(session, self.harness.workspace_id, upload_id)
            uploads.cancel(session, upload, now=clock.now())

    def turn(self, upload_id: str) -> None:
        """Give a worker one turn at the upload, when it is due."""
        self.harness.clock.now += timedelta(seconds=2)
        work.advance_upload(upload_id, self.harness.services)

    def run_jobs(self) -> None:
        """Run the workspace's open jobs."""
        for job_id in self.open_jobs():
            self.run_job(job_id)

    def run_job(self, job_id: str) -> None:
        with self.harness.database.reading() as session:
            kind = session.scalar(select(Job.kind).where(Job.id == job_id))
        job_runner.run(job_id, job_runner.JOBS[kind], self.harness.services)

    def run(self, upload_id: str) -> Upload:
        """Continue a started upload until it waits for a member or is over; return it."""
        for _ in range(MAX_TURNS):
            self.turn(upload_id)
            self.run_jobs()
            if self.due_at(upload_id) is None:
                return self.get(upload_id)
        raise AssertionError(f"the upload is {self.get(upload_id).status}")

    def due_at(self, upload_id: str) -> datetime | None:
        """Return when a worker has to continue the upload; None if none has to."""
        with self.harness.database.reading() as session:
            return session.scalar(select(WorkItem.due_at).where(WorkItem.id == upload_id))

    def open_jobs(self) -> list[str]:
        query = select(Job.id).where(Job.workspace_id == self.harness.workspace_id, Job.finished_at.is_(None))
        with self.harness.database.reading() as session:
            return list(session.scalars(query.order_by(Job.id)))

    def get(self, upload_id: str) -> Upload:
        with self.harness.database.reading() as session:
            return uploads.get(session, self.harness.workspace_id, upload_id)

    def results(self, upload_id: str) -> list[ResultRow]:
        with self.harness.database.reading() as session:
            upload = uploads.get(session, self.harness.workspace_id, upload_id)
            return results.rows(session, upload, first=0, limit=100_000)

    def csv(self, upload_id: str) -> list[list[str]]:
        """Return the cells of the downloaded file."""
        upload = self.get(upload_id)
        content = b"".join(result_files.parts(upload, "csv", results.batches(self.harness.database, upload)))
        return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))

    def know(self, *addresses: str) -> None:
        """Store a contact for each of these addresses."""
        with self.harness.database.transaction() as session:
            for address in addresses:
                local = address.partition("@")[0].title()
                name = f"Ruth {local.replace('.', '')}" if "." in local else local
                an_email(session, a_contact(session, None, name), address)

    def grant(self, amount: int) -> None:
        with self.harness.database.transaction() as session:
            credits.grant(session, self.harness.workspace_id, amount, reason="test", now=clock.now())


def uploader(harness: WorkerHarness, *, balance: int = 1000) -> Uploader:
    """Return an account of a new workspace with this balance; no provider is asked."""
    harness.set_providers()
    with harness.database.transaction() as session:
        harness.workspace_id = a_workspace(session, grant=balance)
        account = accounts.create(
            session,
            harness.workspace_id,
            email=f"{new_id('acc')}@acme.example",
            name="Ada",
            password_hash="",
            now=clock.now(),
        )
    return Uploader(harness, account.id)


def own_rows(plan: ErasurePlan) -> tuple[RowKey, ...]:
    """Return the rows about the person of the plan."""
    held = plan.of_features["upload_rows"]
    assert isinstance(held, UploadedData)
    return held.own


def a_list(*rows: Sequence[str], header: Sequence[str] = HEADER, delimiter: str = ",") -> bytes:
    """Return a CSV file."""
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    return file.getvalue().encode()


def people(count: int, *, first: int = 0) -> list[tuple[str, str, str]]:
    """Return rows about different people at acme.com."""
    return [(f"Ruth Person{n}", f"person.{n}@acme.com", f"note {n}") for n in range(first, first + count)]


def addresses(count: int, *, first: int = 0) -> list[str]:
    """Return the addresses of `people`."""
    return [address for _name, address, _note in people(count, first=first)]
