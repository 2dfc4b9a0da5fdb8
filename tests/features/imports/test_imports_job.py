"""Queued imports: found in the folder, run in turns, continued after a kill, and moved with a report."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jobs_support import NOW, set_clock
from sqlalchemy import delete, func, select, update
from structlog.testing import capture_logs

from app.domain.kinds import RUN_IMPORT, Queue
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.lists import importer
from app.engine.work.items import WorkItem
from app.features.imports import queued_imports
from app.features.imports import work as imports
from app.features.imports.import_folder import ImportFolder
from app.features.imports.queued_imports import IMPORTING
from app.features.imports.tables import ImportStatus, QueuedImport
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import work as durable_work
from workers.execution.worker_services import WorkerServices
from workers.jobs import upkeep

ROWS = 25
BAD_ROW = ",not-an-address,2026-10-01\n"
NOWHERE = "redis://127.0.0.1:1/0"


class Messages(JobPublisher):
    """A publisher that keeps the messages."""

    def __init__(self) -> None:
        super().__init__(NOWHERE)
        self.sent: list[str] = []

    def push(self, task: str, queue: str, job_ids: list[str]) -> bool:
        assert (task, queue) == (RUN_IMPORT, Queue.UPKEEP)
        self.sent += job_ids
        return True

    def depth(self, queue: Queue) -> int:
        return 0 * len(queue)


@dataclasses.dataclass
class Time:
    now: datetime = NOW


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    set_clock(monkeypatch, lambda: time.now)
    monkeypatch.setattr(importer, "BATCH", 10)
    return time


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "lists"
    folder.mkdir()
    return folder


@pytest.fixture
def services(settings: Settings, database: Database, folder: Path, time: Time) -> WorkerServices:
    settings = dataclasses.replace(settings, import_folder=str(folder))
    return WorkerServices(settings, database, Messages(), JobNotifier(NOWHERE))


def a_list(folder: Path, name: str = "people.csv", *, rows: int = ROWS, more: str = "") -> Path:
    lines = (f"Ada{n} Lovelace,ada{n}@acme.example,2026-10-01\n" for n in range(rows))
    path = folder / name
    path.write_text("Name,Email,Updated At\n" + "".join(lines) + more)
    return path


def settle(services: WorkerServices, time: Time) -> None:
    """Look at the folder twice, so that the files no longer count as arriving."""
    sweep(services)
    time.now += queued_imports.SETTLE
    sweep(services)


def sweep(services: WorkerServices) -> None:
    imports.discover(services)
    durable_work.send_due(services)


def one_batch(import_id: str, services: WorkerServices) -> None:
    """Run a turn that ends after its first batch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imports, "TURN_SECONDS", 0)
        imports.run_import(import_id, services)


def sent(services: WorkerServices) -> list[str]:
    publisher = services.publisher
    assert isinstance(publisher, Messages)
    return publisher.sent


def work(services: WorkerServices, time: Time) -> None:
    """Run imports until nothing is due."""
    while sent(services):
        imports.run_import(sent(services).pop(0), services)
        time.now += timedelta(seconds=1)
        sweep(services)


def rows(database: Database) -> list[QueuedImport]:
    with database.reading() as session:
        return list(reversed(queued_imports.latest(session, limit=10)))


def contacts(database: Database) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(Contact)) or 0


def report(folder: Path, place: str = "done") -> dict[str, Any]:
    (path,) = (folder / place).glob("*.report.json")
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def test_a_list_in_the_folder_is_imported_and_moved_with_a_report(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    a_list(folder, more=BAD_ROW)

    settle(services, time)
    work(services, time)

    (row,) = rows(database)
    assert (row.status, row.rows_done, row.share_done, row.detail) == ("finished", ROWS + 1, 1.0, None)
    assert contacts(database) == ROWS
    assert report(folder)["counts"] == {"new": ROWS, "rejected": 1}
    assert (folder / "done" / f"{row.id}-people.csv").exists()
    with (folder / "done" / f"{row.id}-people.csv.rejected.csv").open() as file:
        assert [line[0] for line in csv.reader(file)] == ["line", str(ROWS + 2)]
    assert not (folder / "people.csv").exists()


@pytest.mark.parametrize("stem", ["ü" * 125, "x" * 251])
def test_a_list_with_the_longest_possible_name_is_moved_under_a_shorter_one(
    services: WorkerServices, database: Database, folder: Path, time: Time, stem: str
) -> None:
    a_list(folder, f"{stem}.csv")

    settle(services, time)
    work(services, time)

    (row,) = rows(database)
    (moved,) = (folder / "done").glob(f"{row.id}-{stem[0]}*[{stem[0]}].csv")
    assert row.status == "finished"
    assert report(folder)["file"] == f"{stem}.csv"
    assert moved.with_name(f"{moved.name}.rejected.csv").exists()


def test_a_file_that_still_grows_is_left_alone(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    a_list(folder)
    sweep(services)
    time.now += queued_imports.SETTLE - timedelta(seconds=1)
    a_list(folder, rows=ROWS + 1)
    sweep(services)
    time.now += timedelta(seconds=2)
    sweep(services)
    status_while_growing = rows(database)[0].status

    time.now += queued_imports.SETTLE
    sweep(services)
    work(services, time)

    assert (status_while_growing, contacts(database)) == (ImportStatus.ARRIVING, ROWS + 1)


def test_a_file_that_is_taken_away_again_is_forgotten(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    path = a_list(folder)
    sweep(services)
    path.unlink()

    sweep(services)

    assert not rows(database)


def test_lists_are_imported_one_after_the_other_in_their_order(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    for name in ("c.csv", "a.csv", "b.csv"):
        a_list(folder, name)
    settle(services, time)
    first = list(sent(services))
    sweep(services)

    assert [row.file for row in rows(database)] == ["a.csv", "b.csv", "c.csv"]
    assert sent(services) == first == [rows(database)[0].id]
    work(services, time)
    ended = [row.finished_at for row in rows(database)]
    assert ended == sorted(ended)  # type: ignore[type-var]


def test_a_turn_ends_in_time_and_the_next_one_continues(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    a_list(folder)
    settle(services, time)

    one_batch(sent(services).pop(0), services)

    (row,) = rows(database)
    assert (row.status, row.rows_done, contacts(database)) == ("running", 10, 10)
    sweep(services)
    work(services, time)
    assert report(folder)["counts"] == {"new": ROWS}


def test_a_taken_domain_is_counted_across_turns(services: WorkerServices, folder: Path, time: Time) -> None:
    lines = (
        f"Ada{n} Lovelace,Firm {n} of {'abcdefghijklmnopqrstuvwxyz'[n]},one.example\n" for n in range(ROWS)
    )
    (folder / "people.csv").write_text("Name,Company,Website\n" + "".join(lines))
    settle(services, time)

    one_batch(sent(services).pop(0), services)
    sweep(services)
    work(services, time)

    (taken,) = report(folder)["warnings"]
    assert (taken["code"], taken["count"], taken["lines"]) == ("taken_domain", ROWS, [2, 3, 4])


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_an_import_that_is_killed_in_any_batch_goes_on_without_doubling(  # noqa: PLR0917 -- fixtures
    services: WorkerServices, database: Database, folder: Path, time: Time,
    monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:  # fmt: skip
    class KilledError(BaseException):
        """The end of the process."""

    store, saved = queued_imports.store_progress, []

    def kill_at(*arguments: Any, **options: Any) -> None:
        saved.append(1)
        if len(saved) == batch:
            raise KilledError
        store(*arguments, **options)

    a_list(folder, more=BAD_ROW)
    settle(services, time)
    monkeypatch.setattr(queued_imports, "store_progress", kill_at)
    with pytest.raises(KilledError):
        imports.run_import(sent(services).pop(0), services)
    monkeypatch.setattr(queued_imports, "store_progress", store)

    assert contacts(database) == (batch - 1) * 10
    sweep(services)
    assert not sent(services)  # until the lease ends
    time.now += IMPORTING.lease
    sweep(services)
    work(services, time)

    assert contacts(database) == ROWS
    assert report(folder)["counts"] == {"new": ROWS, "rejected": 1}
    (rejected,) = (folder / "done").glob("*.rejected.csv")
    assert len(rejected.read_text().splitlines()) == 2


def test_an_import_that_fails_again_and_again_at_one_place_ends_there(
    services: WorkerServices, database: Database, folder: Path, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest_contacts = importer.ingest.ingest_contacts

    def fail_at_row_20(session: Any, people: Any, **options: Any) -> Any:
        if "ada20@" in str(people):
            raise RuntimeError
        return ingest_contacts(session, people, **options)

    monkeypatch.setattr(importer.ingest, "ingest_contacts", fail_at_row_20)
    a_list(folder, "a.csv", more=BAD_ROW)
    a_list(folder, "b.csv", rows=15)
    settle(services, time)
    failing = 0
    while sent(services):
        try:
            imports.run_import(sent(services).pop(0), services)
        except RuntimeError:
            failing += 1
        time.now += IMPORTING.retry_after
        sweep(services)

    failed, other = rows(database)
    assert failing == IMPORTING.max_attempts + 1  # the first turn made progress
    assert other.finished_at is not None
    assert failed.finished_at is not None
    assert other.finished_at < failed.finished_at
    assert (failed.status, failed.rows_done) == ("rejected", 20)
    assert failed.detail is not None
    assert failed.detail.startswith("The import failed 5 times after row 20 and was ended.")
    assert report(folder, "rejected")["detail"] == failed.detail
    (rejected,) = (folder / "rejected").glob("*.rejected.csv")
    assert rejected.read_text().splitlines() == ['"line","reason","Name","Email","Updated At"']
    assert (other.status, other.rows_done) == ("finished", 15)
    assert contacts(database) == 20


def test_turns_with_progress_are_not_counted_as_attempts(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    a_list(folder, rows=10 * (IMPORTING.max_attempts + 2))
    settle(services, time)

    while sent(services):
        one_batch(sent(services).pop(0), services)
        sweep(services)

    assert [row.status for row in rows(database)] == ["finished"]


@pytest.mark.parametrize(
    "step",
    [(ImportFolder, "write"), (ImportFolder, "move"), (ImportFolder, "publish"), (queued_imports, "finish")],
    ids=["write", "move", "publish", "finish"],
)
def test_a_kill_at_any_step_of_the_end_loses_no_rejected_row(
    services: WorkerServices, database: Database, folder: Path, time: Time, step: tuple[Any, str]
) -> None:
    def kill(*_arguments: Any, **_options: Any) -> None:
        raise KeyboardInterrupt

    a_list(folder, more=BAD_ROW)
    settle(services, time)
    with pytest.MonkeyPatch.context() as killing:
        killing.setattr(*step, kill)
        with pytest.raises(KeyboardInterrupt):
            imports.run_import(sent(services).pop(0), services)

    time.now += IMPORTING.lease
    sweep(services)
    work(services, time)

    assert rows(database)[0].status == ImportStatus.FINISHED
    (rejected,) = (folder / "done").glob("*.rejected.csv")
    assert [line[0] for line in csv.reader(rejected.read_text().splitlines())] == ["line", str(ROWS + 2)]


def test_a_worker_that_lost_its_lease_writes_nothing(
    services: WorkerServices, database: Database, folder: Path, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_list(folder)
    settle(services, time)
    store = queued_imports.store_progress

    def lose(session: Any, turn: Any, progress: Any, *, now: Any) -> None:
        session.execute(update(WorkItem).values(lease_token="of another worker"))
        store(session, turn, progress, now=now)

    monkeypatch.setattr(queued_imports, "store_progress", lose)
    with capture_logs() as lines:
        imports.run_import(sent(services).pop(0), services)

    assert (contacts(database), rows(database)[0].rows_done) == (0, 0)
    assert lines[-1]["event"] == "turn lost"


def test_the_work_about_an_import_that_was_deleted_ends(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    a_list(folder)
    settle(services, time)
    with database.transaction() as session:
        session.execute(delete(QueuedImport))

    imports.run_import(sent(services).pop(0), services)

    with database.reading() as session:
        assert session.scalars(select(WorkItem.id)).all() == []


def test_suppressed_people_do_not_come_back(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    with database.transaction() as session:
        suppressions.suppress(
            session, [Identifier("email", "ada3@acme.example")], reason="erased", now=time.now
        )
    a_list(folder)

    settle(services, time)
    work(services, time)

    assert (contacts(database), report(folder)["counts"]["suppressed"]) == (ROWS - 1, 1)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"PK\x03\x04 a workbook", "Save the list as CSV"),
        (b"Colour,Shape\nred,round\n", "column"),
        (b"Name,Email\n,x\n,y\n", "No row could be read"),
    ],
)
def test_what_is_not_a_list_of_people_is_rejected_with_the_reason(  # noqa: PLR0917 -- fixtures
    services: WorkerServices, database: Database, folder: Path, time: Time, content: bytes, reason: str
) -> None:
    (folder / "people.csv").write_bytes(content)

    settle(services, time)
    work(services, time)

    assert rows(database)[0].status == ImportStatus.REJECTED
    assert reason.lower() in report(folder, "rejected")["detail"].lower()
    assert not (folder / "people.csv").exists()


def test_a_list_of_another_encoding_than_queued_is_rejected(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    a_list(folder)
    settle(services, time)
    with database.transaction() as session:
        session.execute(update(QueuedImport).values(options={"source": "people", "encoding": "utf-16"}))

    work(services, time)

    assert rows(database)[0].status == ImportStatus.REJECTED
    assert "does not have the encoding 'utf-16'" in report(folder, "rejected")["detail"]


def test_a_file_that_is_changed_while_it_waits_is_rejected(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    path = a_list(folder)
    settle(services, time)
    path.write_text("something else")

    work(services, time)

    assert "was changed or replaced" in (rows(database)[0].detail or "")


def test_a_file_that_grows_during_its_import_is_rejected(
    services: WorkerServices, database: Database, folder: Path, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_list(folder)
    settle(services, time)
    run = importer.run

    def append(*arguments: Any, **options: Any) -> Any:
        with path.open("a") as file:
            file.write("Bob,bob@acme.example,2026-10-01\n")
        return run(*arguments, **options)

    monkeypatch.setattr(importer, "run", append)
    work(services, time)

    assert "while it was imported" in (rows(database)[0].detail or "")


def test_late_messages_and_hosts_without_the_folder_do_nothing(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    a_list(folder)
    settle(services, time)
    import_id = sent(services).pop(0)
    elsewhere = dataclasses.replace(
        services, settings=dataclasses.replace(services.settings, import_folder="")
    )

    imports.run_import(import_id, elsewhere)
    sweep(elsewhere)
    assert rows(database)[0].status == ImportStatus.WAITING
    imports.run_import(import_id, services)
    imports.run_import(import_id, services)

    assert report(folder)["counts"] == {"new": ROWS}


def test_nothing_is_published_without_redis(
    services: WorkerServices, database: Database, folder: Path, time: Time
) -> None:
    a_list(folder)
    without = dataclasses.replace(services, publisher=JobPublisher(NOWHERE))

    settle(without, time)

    with database.reading() as session:
        assert session.scalars(select(WorkItem.republish_at)).all() == [None]


def test_a_folder_that_cannot_be_used_is_named_in_the_log(services: WorkerServices) -> None:
    settings = dataclasses.replace(services.settings, import_folder="/nowhere")

    with capture_logs() as lines:
        sweep(dataclasses.replace(services, settings=settings))

    assert [(line["event"], line["folder"], line["reason"]) for line in lines] == [
        ("import folder cannot be used", "/nowhere", "No such file or directory")
    ]


def test_old_imports_are_purged(
    services: WorkerServices, database: Database, folder: Path, time: Time, purge: Callable[[], None]
) -> None:
    a_list(folder)
    settle(services, time)
    work(services, time)
    purge()
    kept = len(rows(database))

    time.now += timedelta(days=services.settings.job_retention_days + 1)
    purge()

    assert (kept, len(rows(database))) == (1, 0)


@pytest.fixture
def purge(services: WorkerServices) -> Callable[[], None]:
    return lambda: upkeep.purge_once(services)
