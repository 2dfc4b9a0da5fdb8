"""The service objects of a worker process: settings, database, publisher and notifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.domain.kinds import Queue
from app.engine import database
from app.engine.own_records import own_records
from app.engine.own_records.own_records import Find
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.settings import Settings

if TYPE_CHECKING:  # it has these services
    from workers.execution.claimer import Claimer


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """The service objects of a worker process.

    `refused` counts refused messages by reason, `claimers` take the jobs of the queues (`claimer.of`).
    `own_records` find what a workspace has of people in its own systems, by the names of the sources.
    """

    settings: Settings
    database: Database
    publisher: JobPublisher
    notifier: JobNotifier
    refused: Counter[str] = field(default_factory=Counter)
    claimers: dict[Queue, Claimer] = field(default_factory=dict)
    own_records: Mapping[str, Find] = field(default_factory=dict)


_current: list[WorkerServices] = []
_parents: list[WorkerServices] = []


def configure(settings: Settings) -> WorkerServices:
    """Create the service objects of this process, or return the existing ones."""
    if not _current:
        _current.append(
            WorkerServices(
                settings,
                database.create(settings, DigestKeys.from_settings(settings)),
                JobPublisher(settings.redis_url, settings.broker_url),
                JobNotifier(settings.redis_url),
                own_records=own_records.load_all(settings),
            )
        )
    return _current[0]


def reconfigure_after_fork(settings: Settings) -> WorkerServices:
    """Create the service objects of a forked process.

    References to the parent's are kept: garbage-collecting them would close the parent's sockets.
    """
    _parents.extend(_current)
    _current.clear()
    return configure(settings)


def current() -> WorkerServices:
    """Return the service objects of this process; `configure` created them at start-up."""
    return _current[0]
