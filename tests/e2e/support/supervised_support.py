"""Workers under the supervisor that `dev.py up` uses, with their own database and Redis."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

import psutil
import redis
from e2e_stack import ROOT, run_flask
from jobs_support import FRESH, a_question, a_workspace
from local_servers import empty_database, free_port, start_redis
from polling import wait_until

from app.domain.kinds import Kind
from app.engine.jobs import submission
from app.engine.jobs.jobs import Job
from app.engine.queues import worker_heartbeats
from app.infra.broker.queue import JobPublisher
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import database_clock
from app.infra.database.db import Database
from tools.services.processes import Reaper
from tools.services.supervisor import Supervisor

_HOUR = timedelta(hours=1)
QUEUES = "interactive,providers,enrichment,upkeep"


@dataclass
class SupervisedWorkers:
    """Supervised workers, which are restarted when they end, and the means to submit jobs to them."""

    database: Database
    folder: Path
    environment: dict[str, str]

    def __post_init__(self) -> None:
        self.port = int(self.environment["REDIS_URL"].rpartition(":")[2].partition("/")[0])
        self.redis = start_redis(self.port, self.folder)
        with self.database.transaction() as session:
            self.workspace_id = a_workspace(session, grant=1000)
        self.reaper = Reaper(grace=1)
        self.stopping = threading.Event()
        self.restarter = threading.Thread(target=self._restart_exited)

    def start(self, names: Sequence[str], pool: str) -> None:
        celery = f"exec {sys.executable} -m celery -A supervised_entry worker -Q {QUEUES} -P {pool} -c 4"
        commands = {name: f"{celery} -n {name}@%h --without-gossip --without-mingle" for name in names}
        self.supervisor = Supervisor(commands, self.environment, self.folder, self.reaper, grace=12)
        self.supervisor.start()
        self.restarter.start()
        self.wait_until_working(len(names))

    def stop(self) -> None:
        self.stopping.set()
        self.restarter.join()
        self.supervisor.stop()
        self.reaper.close()

    def stop_redis(self) -> None:
        self.redis.kill()
        self.redis.wait()

    @property
    def pid(self) -> int:
        """Return the process id of the first worker; 0 if it does not run."""
        process = self.supervisor.children[0].process
        return process.pid if process else 0

    @property
    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, socket_timeout=5)

    def log(self, name: str = "one") -> str:
        return (self.folder / f"{name}.log").read_text()

    def provider_requests(self) -> list[tuple[int, str]]:
        """Return the process id and the text of each request that the provider recorded."""
        path = self.folder / "requests"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(int(pid), text) for pid, _, text in (line.partition(" ") for line in lines)]

    def submit(self, kind: Kind = Kind.COMPANY_BY_HASH, *, publish: bool = True, **changes: Any) -> str:
        """Submit a job as the API does; return its id."""
        request = {"kind": "website", "hashes": [token_hex(32)]}
        values = {"kind": kind, "price": 0, "request": request, "dedup_key": {"about": token_hex(8)}}
        now = database_clock.now()
        with self.database.transaction() as session:
            job_request = a_question(self.workspace_id, **(values | changes))
            job = submission.submit(session, job_request, freshness=FRESH, deadline=_HOUR, now=now).job
        if publish:
            JobPublisher(self.environment["REDIS_URL"]).publish(kind, [job.id])
        return job.id

    def enrichment(self, count: int) -> str:
        """Submit an enrichment of the e-mails of `count` people; return the job's id."""
        people = [f"Ann{token_hex(3)} Bee{number:02}" for number in range(count)]
        return self.submit(
            Kind.ENRICHMENT_REQUEST,
            price=count,
            request={"entity": "person", "fields": ["email"], "max_credits": None},
            items=tuple(
                {"subject": {"full_name": name, "company_domain": "acme.example"}} for name in people
            ),
        )

    def reveal(self, name: str) -> str:
        """Submit a reveal of a person's e-mail; return the job's id."""
        subject = {"full_name": name, "company_domain": "acme.example"}
        request = {"subject": subject, "types": ["work"], "min_status": "valid"}
        return self.submit(Kind.REVEAL_EMAIL, price=1, request=request)

    def worker_of(self, pid: int) -> subprocess.Popen[bytes]:
        """Return the worker that this process is, or whose child it is."""
        family = {pid, psutil.Process(pid).ppid()}
        return next(
            child.process
            for child in self.supervisor.children
            if child.process is not None and child.process.pid in family
        )

    def wait_until_done(self, *job_ids: str) -> None:
        for job_id in job_ids:
            self.seconds_until_done(job_id, 60)

    def job(self, job_id: str) -> Job:
        with self.database.reading() as session:
            return session.get_one(Job, job_id)

    def seconds_until_done(self, job_id: str, limit: float) -> float:
        """Wait until the job is finished; return how long that took."""
        started = time.monotonic()
        wait_until(lambda: self.job(job_id).finished_at, limit)
        return time.monotonic() - started

    def states(self) -> dict[str, str]:
        """Return the reported state of each known worker, by name."""
        with self.database.reading() as session:
            now = database_clock.value(session)
            return {
                row.name: worker_heartbeats.state(row, now=now).value
                for row in worker_heartbeats.list_all(session)
            }

    def wait_until_working(self, count: int = 1) -> None:
        wait_until(lambda: [*self.states().values()].count("working") >= count, 60)

    def restart_redis(self) -> None:
        self.stop_redis()
        self.redis = start_redis(self.port, self.folder)

    def _restart_exited(self) -> None:
        while not self.stopping.wait(0.05):
            self.supervisor.restart_exited()


@contextmanager
def supervised_workers(
    folder: Path, *names: str, pool: str = "threads", **settings: str
) -> Iterator[SupervisedWorkers]:
    """Run workers with these names and the same settings until the block ends."""
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"supervised_{token_hex(4)}"))
        environment = _environment(folder, url, settings)
        run_flask(environment, "database", "upgrade")
        keys = DigestKeys(environment["SECRET_KEY"].encode(), environment["SUPPRESSION_KEY"].encode())
        database = Database(url, keys=keys)
        stop.callback(database.close)
        workers = SupervisedWorkers(database, folder, environment)
        stop.callback(workers.stop_redis)
        workers.start(names, pool)
        stop.callback(workers.stop)
        yield workers


def _environment(folder: Path, url: str, settings: dict[str, str]) -> dict[str, str]:
    return os.environ | {
        "DATABASE_URL": url,
        "REDIS_URL": f"redis://127.0.0.1:{free_port()}/0",
        "LOG_LEVEL": "info",
        "REPUBLISH_SECONDS": "2",
        "PROVIDERS_EMAIL": "sandbox",
        "PROVIDERS_PERSON": "",
        "PROVIDERS_VERIFICATION": "",
        "RECORDING_FOLDER": str(folder),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests' / 'e2e' / 'support'}",
        **settings,
    }
