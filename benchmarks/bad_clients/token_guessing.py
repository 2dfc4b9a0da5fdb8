"""Guess well-formed tokens, and measure how many are accepted and when the client is rate-limited.

    python3 dev.py run python benchmarks/bad_clients/token_guessing.py [--guesses 100000]

The guesses go first to the token check itself, without HTTP and limits, then over HTTP to a service with the
usual limits, which the benchmark starts. The exit code is 1 if a guess is accepted, if the client is never
rate-limited, or if a real token is refused.
"""

from __future__ import annotations

import argparse
import http.client
import os
import sys
import tempfile
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).parents[2]
SUPPORT = ("support", "support/servers", "support/stored", "e2e/support")
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / folder) for folder in SUPPORT)]
os.environ.setdefault("SECRET_KEY", "benchmark-key-of-more-than-32-characters")
os.environ.setdefault("SUPPRESSION_KEY", "benchmark-suppression-key-of-more-than-32-characters")
os.environ.setdefault("DATABASE_URL", "sqlite://")  # only so that this process can read its settings
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")

from e2e_stack import Stack, running  # noqa: E402 -- after the paths
from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402

from app.domain.errors import InvalidToken  # noqa: E402
from app.domain.tokens import TokenKind, new_token  # noqa: E402
from app.engine.accounts import accounts, authentication, sessions  # noqa: E402
from app.engine.accounts.sessions import SessionLifetime  # noqa: E402
from app.infra import clock  # noqa: E402

LIFETIME = SessionLifetime(idle=timedelta(days=14), absolute=timedelta(days=90))

REAL = 1000
OVER_HTTP = 200


def main() -> int:
    """Guess both ways; return 1 if a guarantee does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--guesses", type=int, default=100_000, help="sent to the token check itself (default 100000)"
    )
    guesses = parser.parse_args().guesses
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), f"sqlite:///{folder}/b.sqlite3", LIMIT_LOGIN_ADDRESS="60/minute") as stack,
    ):
        _, token = stack.create_workspace()
        hits, seconds = _guess_directly(stack, guesses)
        statuses = _guess_over_http(stack)
        real = stack.call("GET", "/api/ext/session", Authorization=token).status
    lines = [
        (f"{guesses:,} guesses among {REAL:,} real tokens are refused", f"{hits} hits", hits == 0),
        (f"{OVER_HTTP} guesses over HTTP are refused", _counts(statuses), set(statuses) == {401, 429}),
        ("a real token from the same network is accepted", str(real), real == 200),  # noqa: PLR2004 -- HTTP's OK
    ]
    table = Table("guarantee", "measured", "verdict")
    for guarantee, measured, holds in lines:
        table.add_row(guarantee, measured, "[green]ok" if holds else "[red]failed")
    console = Console(width=110)
    console.print(table)
    console.print(
        f"The check took {seconds / guesses * 1e6:.0f} µs per guess; there are 2^256 tokens of each kind."
    )
    return 0 if all(holds for _, _, holds in lines) else 1


def _guess_directly(stack: Stack, guesses: int) -> tuple[int, float]:
    """Return how many guesses were accepted, and the seconds that all of them took."""
    now = clock.now()
    with stack.database.transaction() as session:
        account = accounts.list_all(session)[0].id
        for _ in range(REAL):
            sessions.start(session, account, network=b"", lifetime=LIFETIME, now=now)
    kinds = list(TokenKind)
    hits = 0
    started = time.perf_counter()
    for number in track(range(guesses), description="guessing", transient=True):
        try:
            authentication.authenticate(
                stack.database, new_token(kinds[number % len(kinds)]), lifetime=LIFETIME, now=now
            )
            hits += 1
        except InvalidToken:
            continue
    return hits, time.perf_counter() - started


def _guess_over_http(stack: Stack) -> Counter[int]:
    """Return how many responses had each status."""
    connection = http.client.HTTPConnection(stack.base_url.removeprefix("http://"), timeout=60)
    statuses: Counter[int] = Counter()
    for _ in range(OVER_HTTP):
        headers = {"Authorization": f"Bearer {new_token(TokenKind.SESSION)}"}
        connection.request("GET", "/api/ext/session", headers=headers)
        response = connection.getresponse()
        response.read()
        statuses[response.status] += 1
    connection.close()
    return statuses


def _counts(statuses: Counter[int]) -> str:
    return ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))


if __name__ == "__main__":
    sys.exit(main())
