from __future__ import annotations

import dataclasses
import socket
from datetime import timedelta

import pytest
from jobs_support import a_question, a_workspace, submit
from local_servers import free_port

from app import settings as app_settings
from app.domain.kinds import Queue
from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import Heartbeat, WorkerState
from app.infra import clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from workers import health

MACHINE = socket.gethostname()
ONE = Heartbeat(
    name=f"interactive@{MACHINE}:1",
    queues=("interactive",),
    threads=2,
    busy=0,
    state=WorkerState.WORKING,
    up_seconds=60,
)


def say(session: Session, **changes: object) -> None:
    worker_heartbeats.record_heartbeat(session, dataclasses.replace(ONE, **changes), now=clock.now())  # type: ignore[arg-type]


def let_a_job_wait(session: Session) -> None:
    since = clock.now() - timedelta(seconds=75)
    submit(session, a_question(a_workspace(session)), now=since)


def ails(session: Session, settings: Settings) -> str | None:
    return health.diagnose(session, Queue.INTERACTIVE, MACHINE, settings)


def test_a_working_worker_is_healthy(session: Session, settings: Settings) -> None:
    say(session)

    assert ails(session, settings) is None


def test_a_worker_without_a_heartbeat_is_unhealthy(session: Session, settings: Settings) -> None:
    say(session, name="interactive@another:1")

    assert str(ails(session, settings)).startswith("No heartbeat from this worker yet")


def test_a_worker_with_a_number_is_found(session: Session, settings: Settings) -> None:
    say(session, name=f"interactive-2@{MACHINE}:1")

    assert ails(session, settings) is None


def test_a_worker_that_does_not_consume_is_unhealthy(session: Session, settings: Settings) -> None:
    say(session, state=WorkerState.WITHOUT_QUEUE)

    assert str(ails(session, settings)).startswith(
        "The worker does not consume: it reported without_queue at 20"
    )


@pytest.mark.parametrize(
    ("busy", "trouble"),
    [(1, "s although the worker has idle threads."), (2, "None")],
)
def test_an_idle_worker_beside_waiting_jobs_is_unhealthy(
    session: Session, settings: Settings, busy: int, trouble: str
) -> None:
    say(session, busy=busy)
    let_a_job_wait(session)

    assert str(ails(session, settings)).endswith(trouble)


def test_the_command_prints_the_health_and_returns_its_exit_code(
    settings: Settings,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(app_settings, "load", lambda: settings)
    before = health.main(["interactive"])
    with database.transaction() as session:
        say(session)

    after = health.main(["interactive"])

    assert (before, after) == (1, 0)
    assert capsys.readouterr().out.endswith("healthy\n")


def test_a_worker_without_a_database_is_unhealthy(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = dataclasses.replace(settings, database_url=f"postgresql://127.0.0.1:{free_port()}/nothing")
    monkeypatch.setattr(app_settings, "load", lambda: nowhere)

    code = health.main(["interactive"])

    assert (code, capsys.readouterr().out) == (
        1,
        "The database cannot be reached, so the worker cannot work.\n",
    )


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["interactive", "upkeep"]])
def test_a_wrong_argument_is_answered_with_the_queues(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = health.main(arguments)

    assert code == health.USAGE_ERROR
    assert capsys.readouterr().out.startswith("Name the queue of the worker: interactive, ")
