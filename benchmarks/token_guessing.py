"""Guessing tokens: how many of many well-formed ones open anything, and when the guesser has to wait.

    python3 dev.py run python benchmarks/token_guessing.py [--guesses 100000]

First the check itself is asked, without HTTP and limits; then a service of its own, over HTTP, with the usual
limits. The exit code is 1 if a guess opens something, or if the guesser is never told to wait, or if a real
token suffers.
"""

from __future__ import annotations

import argparse
import http.client
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support"), str(ROOT / "tests" / "e2e")]
os.environ.setdefault("SECRET_KEY", "benchmark-key-of-more-than-32-characters")
os.environ.setdefault("SUPPRESSION_KEY", "benchmark-suppression-key-of-more-than-32-characters")
os.environ.setdefault("DATABASE_URL", "sqlite://")  # only so that settings can be read in this process
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")

from e2e_stack import Stack, running  # noqa: E402
from rich.console import Console  # noqa: E402 -- the paths come first
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402

from app.core.accounts import accounts, authentication, sessions  # noqa: E402
from app.domain.errors import InvalidToken  # noqa: E402
from app.domain.tokens import TokenKind, new_token  # noqa: E402
from app.infra import clock  # noqa: E402

REAL = 1000
OVER_HTTP = 200


def main() -> int:
    """Guess both ways; return 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--guesses", type=int, default=100_000, help="of the check itself (default 100000)")
    guesses = parser.parse_args().guesses
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), f"sqlite:///{folder}/b.sqlite3", LIMIT_LOGIN_ADDRESS="60/minute") as stack,
    ):
        _, token = stack.workspace()
        hits, seconds = _ask_the_check(stack, guesses)
        answers = _ask_the_service(stack)
        real = stack.call("GET", "/api/ext/session", Authorization=token).status
    lines = [
        (f"{guesses:,} guesses among {REAL:,} real tokens open nothing", f"{hits} hits", hits == 0),
        (f"of {OVER_HTTP} over HTTP none is let in", _told(answers), set(answers) == {401, 429}),
        ("the real token of the same network goes on", str(real), real == 200),  # noqa: PLR2004 -- HTTP's OK
    ]
    table = Table("promise", "found", "verdict")
    for promise, found, kept in lines:
        table.add_row(promise, found, "[green]kept" if kept else "[red]broken")
    console = Console(width=110)
    console.print(table)
    console.print(
        f"The check took {seconds / guesses * 1e6:.0f} µs a guess; there are 2^256 tokens of a kind."
    )
    return 0 if all(kept for _, _, kept in lines) else 1


def _ask_the_check(stack: Stack, guesses: int) -> tuple[int, float]:
    """Give how many guesses were right, and the seconds that all took."""
    now = clock.now()
    with stack.database.transaction() as session:
        account = accounts.list_all(session)[0].id
        for _ in range(REAL):
            sessions.start(session, account, network=b"", now=now)
    kinds = list(TokenKind)
    hits = 0
    started = time.perf_counter()
    for number in track(range(guesses), description="guessing", transient=True):
        try:
            authentication.authenticate(stack.database, new_token(kinds[number % len(kinds)]), now=now)
            hits += 1
        except InvalidToken:
            continue
    return hits, time.perf_counter() - started


def _ask_the_service(stack: Stack) -> Counter[int]:
    """Give how often each status was answered."""
    connection = http.client.HTTPConnection(stack.base_url.removeprefix("http://"), timeout=60)
    answers: Counter[int] = Counter()
    for _ in range(OVER_HTTP):
        headers = {"Authorization": f"Bearer {new_token(TokenKind.SESSION)}"}
        connection.request("GET", "/api/ext/session", headers=headers)
        answer = connection.getresponse()
        answer.read()
        answers[answer.status] += 1
    connection.close()
    return answers


def _told(answers: Counter[int]) -> str:
    return ", ".join(f"{count} times {status}" for status, count in sorted(answers.items()))


if __name__ == "__main__":
    sys.exit(main())
