"""Two schedulers, as two machines or a mistake may start them: periodic tasks have the effect of one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from e2e_stack import Stack, kill, run_flask, running, spawn
from local_servers import empty_database
from polling import wait_until
from sqlalchemy import func, select

from app.engine.audit.audits import Audit
from app.engine.ledger.credits import LedgerEntry

JOBS = 20
FAST_BEAT = """
from app.infra.broker import celery_app

for entry in celery_app.BEAT_SCHEDULE.values():
    entry["schedule"] = 1

from workers.application import app
"""


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """A stack in which jobs expire after two seconds, since only the queue `upkeep` has a worker."""
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(tmp_path, "schedulers"))
        stack = stop.enter_context(running(tmp_path, url, JOB_DEADLINE_SECONDS="2"))
        kill(stack.workers.pop())
        stack.start_worker("upkeep")
        yield stack


def start_beat(stack: Stack, folder: Path, name: str) -> Path:
    """Start a scheduler that sends every periodic task once a second; return its log."""
    (folder / "fast_beat.py").write_text(FAST_BEAT)
    log = folder / f"{name}.log"
    beat = spawn(
        *("celery", "-A", "fast_beat", "beat", "-s", str(folder / name), "-l", "info"),
        log=log,
        environment=stack.environment | {"PYTHONPATH": str(folder), "LOG_LEVEL": "info"},
    )
    stack.workers.append(beat)  # stopped with the stack
    return log


def test_two_schedulers_refund_expired_jobs_once_and_audit_once(stack: Stack, tmp_path: Path) -> None:
    workspace, token = stack.create_workspace(grant=JOBS)
    logs = [start_beat(stack, tmp_path, name) for name in ("first", "second")]
    for number in range(JOBS):
        subject = {"full_name": f"Egon Unseen {number}", "company_domain": "nobody.example"}
        body = {"subject": subject}
        accepted = stack.call("POST", "/api/ext/reveal/email", body, Authorization=token, Prefer="wait=0")
        assert accepted.status == 202

    def entries() -> Counter[str]:
        query = select(LedgerEntry.kind, func.count()).where(LedgerEntry.workspace_id == workspace)
        with stack.database.reading() as session:
            rows = session.execute(query.group_by(LedgerEntry.kind))
            return Counter({kind: int(count) for kind, count in rows})

    wait_until(lambda: entries()["release"] >= JOBS, 60)
    wait_until(lambda: all(log.read_text().count("Sending due task") > 20 for log in logs), 60)
    report = json.loads(run_flask(stack.environment, "audit", "ledger", "--json"))
    with stack.database.reading() as session:
        audits = session.scalar(select(func.count()).select_from(Audit))

    assert entries() == {"grant": 1, "hold": JOBS, "release": JOBS}
    assert report["ok"]
    assert audits == 2  # one by a worker, however often it is asked, and the one above
    assert "level=error" not in (stack.redis_folder / "worker0.log").read_text()
