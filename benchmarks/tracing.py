"""Measure the processor time of a reveal in the API and the worker, without and with traces.

    python benchmarks/tracing.py --reveals 300

The contacts are stored, so no provider is queried. With traces, every span is sent over OTLP to a local
server. Rounds alternate, and the least processor time of each kind counts, on a throw-away PostgreSQL server.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import tempfile
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUPPORT = ("support", "support/servers", "support/stored", "e2e/support")
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / folder) for folder in SUPPORT)]
os.environ["SECRET_KEY"], os.environ["SUPPRESSION_KEY"] = secrets.token_urlsafe(48), secrets.token_urlsafe(48)
os.environ.setdefault("DATABASE_URL", "sqlite://")
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")

from e2e_stack import Stack, running  # noqa: E402 -- after the paths
from rich.console import Console  # noqa: E402 -- likewise

from tools.services import postgres  # noqa: E402 -- likewise

WARM_UP = 30
OK = 200
OFF, ON = "without traces", "with traces"


class Collector(BaseHTTPRequestHandler):
    """Accepts spans and counts the requests."""

    requests = 0

    def do_POST(self) -> None:
        """Read and forget the spans."""
        Collector.requests += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""


def main() -> None:
    """Print the processor time of a reveal for both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reveals", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    console = Console(highlight=False)
    collector = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{collector.server_address[1]}"
    least: dict[str, float] = {}
    for _ in range(options.rounds):
        for kind, variables in ((OFF, {}), (ON, {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})):
            with (
                tempfile.TemporaryDirectory() as name,
                postgres.running() as url,
                running(Path(name), url, WEB_CONCURRENCY="1", **variables) as stack,
            ):
                spent = _milliseconds(stack, options.reveals)
            least[kind] = min(spent, least.get(kind, spent))
    collector.shutdown()
    for kind, spent in least.items():
        console.print(f"{kind}: {spent:.1f} ms of processor time for each reveal")
    console.print(f"The collector got {Collector.requests} requests.")


def _milliseconds(stack: Stack, reveals: int) -> float:
    """Return the processor time of the API and the worker for each of these reveals, in milliseconds."""
    _workspace, token = stack.create_workspace(grant=reveals + WARM_UP)
    people = [
        person for _ in range(0, reveals + WARM_UP, WARM_UP) for person in stack.create_contacts(WARM_UP)
    ]
    for person in people[:WARM_UP]:
        _reveal(stack, token, person)
    before = _processor_seconds(stack)
    for person in people[WARM_UP : WARM_UP + reveals]:
        _reveal(stack, token, person)
    return (_processor_seconds(stack) - before) / reveals * 1000


def _reveal(stack: Stack, token: str, person: str) -> None:
    body = {"subject": {"contact_id": person}}
    response = stack.call("POST", "/api/ext/reveal/email", body, Authorization=token)
    if response.status != OK:
        raise RuntimeError(f"The reveal was answered with {response.status}.")


def _processor_seconds(stack: Stack) -> float:
    """Return what the process groups of the API and the worker have used, from Linux's /proc."""
    groups = {process.pid for process in (stack.web, *stack.workers) if process is not None}
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            with closing((folder / "stat").open()) as file:
                fields = file.read().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # the process has ended
        if int(fields[2]) in groups:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
