"""Measure how many reveals 1, 2 and 4 processes of the queue `providers` finish while a provider is slow.

    python benchmarks/worker_scaling.py --workers 1,2,4 --jobs 80 --seconds 2

A local provider answers each call after `--seconds`. All jobs are submitted before the workers start, on a
throw-away PostgreSQL server. The time runs from the first call of the provider to the last settled job, so
that the start of the first process does not count. Each process has 10 threads.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUPPORT = ("support", "support/servers", "support/stored", "e2e/support")
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / folder) for folder in SUPPORT)]
os.environ["SECRET_KEY"], os.environ["SUPPRESSION_KEY"] = secrets.token_urlsafe(48), secrets.token_urlsafe(48)
os.environ.setdefault("DATABASE_URL", "sqlite://")
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")

from e2e_stack import Stack, kill, running  # noqa: E402 -- after the paths
from rich.console import Console  # noqa: E402 -- likewise
from sqlalchemy import func, select  # noqa: E402 -- likewise

from app.engine.jobs.jobs import Job  # noqa: E402 -- likewise
from tools.services import postgres  # noqa: E402 -- likewise

THREADS = 10
POLL_SECONDS = 0.1
PROVIDER = """[slow]
url = "{url}"
rates = "1000/second"
[slow.email]
path = "/find"
query = {{ name = "{{full_name}}", domain = "{{company_domain}}" }}
miss = "found == `false`"
[slow.email.read]
email = "email"
"""


def main() -> None:
    """Print a line for each number of processes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--jobs", type=int, default=80)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    console = Console(highlight=False)
    provider = SlowProvider(options.seconds)
    with tempfile.TemporaryDirectory() as name, postgres.running() as url:
        folder = Path(name)
        file = folder / "providers.toml"
        file.write_text(PROVIDER.format(url=f"http://127.0.0.1:{provider.server_port}"))
        settings = {"PROVIDERS_FILE": str(file), "PROVIDERS_EMAIL": "slow", "LOG_LEVEL": "warning"}
        with running(folder, url, **settings) as stack:
            kill(stack.workers.pop())
            for workers in map(int, options.workers.split(",")):
                seconds = _measure(stack, provider, workers, options.jobs)
                best = workers * THREADS / options.seconds
                console.print(
                    f"{workers} processes: {options.jobs} jobs in {seconds:.1f} s, "
                    f"{options.jobs / seconds:.1f} jobs/s, at most {best:.0f}"
                )
    provider.shutdown()


def _measure(stack: Stack, provider: SlowProvider, workers: int, jobs: int) -> float:
    """Submit the jobs, start the processes, and return the seconds that they took."""
    workspace, token = stack.create_workspace(grant=jobs)
    tag = secrets.token_hex(3)
    for number in range(jobs):
        subject = {"full_name": f"Person {tag} {number}", "company_domain": f"{tag}.example"}
        stack.call(
            "POST", "/api/ext/reveal/email", {"subject": subject}, Authorization=token, Prefer="wait=0"
        )
    provider.first_call_at = None
    started = [stack.start_worker("interactive"), *(stack.start_worker("providers") for _ in range(workers))]
    while _unfinished(stack, workspace):
        time.sleep(POLL_SECONDS)
    seconds = time.monotonic() - (provider.first_call_at or 0.0)
    for process in started:
        stack.workers.remove(process)
        kill(process)
    return seconds


def _unfinished(stack: Stack, workspace: str) -> int:
    query = select(func.count()).where(Job.workspace_id == workspace, Job.finished_at.is_(None))
    with stack.database.reading() as session:
        return session.scalar(query) or 0


class SlowProvider(ThreadingHTTPServer):
    """A provider that finds nobody, after some seconds."""

    request_queue_size = 128
    first_call_at: float | None = None

    def __init__(self, seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), SlowHandler)
        self.seconds = seconds
        threading.Thread(target=self.serve_forever, daemon=True).start()


class SlowHandler(BaseHTTPRequestHandler):
    """Answers a call."""

    server: SlowProvider

    def do_GET(self) -> None:
        """Wait, and answer with a miss."""
        if self.server.first_call_at is None:
            self.server.first_call_at = time.monotonic()
        time.sleep(self.server.seconds)
        body = b'{"found": false}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""


if __name__ == "__main__":
    main()
