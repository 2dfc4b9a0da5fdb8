"""Measure whether response times reveal which e-mails have an account, or which ids another workspace has.

    python3 dev.py run python benchmarks/sign_in_timing.py [--pairs 600]

It starts a service and sends requests of each kind over HTTP, in random order. The AUC is the probability
that a response of the second kind takes longer than one of the first: 0.5 reveals nothing, 0 and 1
everything. The exit code is 1 if an AUC is outside 0.45 to 0.55. The last column is its standard error by
chance alone. A busy machine hides differences: measure on an idle one.
"""

from __future__ import annotations

import argparse
import bisect
import http.client
import json
import os
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SUPPORT = ("support", "support/servers", "support/stored", "e2e/support")
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / folder) for folder in SUPPORT)]
os.environ.setdefault("SECRET_KEY", "benchmark-key-of-more-than-32-characters")
os.environ.setdefault("SUPPRESSION_KEY", "benchmark-suppression-key-of-more-than-32-characters")
os.environ.setdefault("DATABASE_URL", "sqlite://")  # only so that this process can read its settings
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")

from e2e_stack import PASSWORD, PASSWORD_HASH, Stack, running  # noqa: E402 -- after the paths
from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402

from app.domain.callers import Scope  # noqa: E402
from app.domain.ids import new_id  # noqa: E402
from app.engine.accounts import accounts, api_keys, sessions, workspaces  # noqa: E402
from app.engine.accounts.sessions import SessionLifetime  # noqa: E402
from app.engine.ledger import acquisition  # noqa: E402
from app.engine.ledger.acquisition import Acquisition  # noqa: E402
from app.infra import clock  # noqa: E402

LIFETIME = SessionLifetime(idle=timedelta(days=14), absolute=timedelta(days=90))

BOUNDS = (0.45, 0.55)
REGULARS = 20
WARM_UP = 10
Request = Callable[[], tuple[str, str, dict[str, Any] | None, str]]
"""Returns a request: method, path, body, token."""


def main() -> int:
    """Make all comparisons; return 1 if one reveals a difference."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=600, help="responses of each kind (default 600)")
    pairs = parser.parse_args().pairs
    console = Console(width=130)
    table = Table("request", "first kind", "second kind", "medians, ms", "AUC", "verdict", "by chance, ±")
    failed = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), f"sqlite:///{folder}/b.sqlite3") as stack,
    ):
        for title, kinds in (*_by_id(stack).items(), ("login", _logins(stack, pairs))):
            took = _measure(stack, title, kinds, pairs)
            (first, base), *others = took.items()
            for second, times in others:
                auc = _auc(base, times)
                passed = BOUNDS[0] <= auc <= BOUNDS[1]
                failed += not passed
                medians = f"{_median(base):.2f}, {_median(times):.2f}"
                verdict = "[green]ok" if passed else "[red]distinguishable"
                chance = f"{(1 / (6 * pairs)) ** 0.5:.3f}"
                table.add_row(title, first, second, medians, f"{auc:.3f}", verdict, chance)
    console.print(table)
    console.print(
        "Tokens are not compared: the response says whether one is unknown, revoked or expired, and only a "
        "client that has guessed 256 random bits learns more than that it is unknown."
    )
    return 1 if failed else 0


def _logins(stack: Stack, pairs: int) -> dict[str, Request]:
    """Return four kinds of failed sign-in."""
    tag, now = secrets.token_hex(4), clock.now()
    groups = {"known": pairs + WARM_UP, "disabled": pairs + WARM_UP, "regular": REGULARS}
    with stack.database.transaction() as session:
        workspace = workspaces.create(session, name="Timed", now=now).id
        for group, count in groups.items():
            for number in range(count):
                account = accounts.create(
                    session,
                    workspace,
                    email=f"{group}{number}@{tag}.example",
                    name="Timed",
                    password_hash=PASSWORD_HASH,
                    now=now,
                )
                account.disabled_at = now if group == "disabled" else None
    for number in range(REGULARS):  # so that they have signed in from this network before
        body = {"email": f"regular{number}@{tag}.example", "password": PASSWORD}
        stack.call("POST", "/api/ext/login", body)

    def of(group: str, count: int) -> Request:
        numbers = iter(range(10**9))

        def make() -> tuple[str, str, dict[str, Any] | None, str]:
            body = {"email": f"{group}{next(numbers) % count}@{tag}.example", "password": "not the password"}
            return "POST", "/api/ext/login", body, ""

        return make

    return {
        "unknown e-mail": of("unknown", 10**9),
        "known e-mail, wrong password": of("known", groups["known"]),
        "the same, disabled account": of("disabled", groups["disabled"]),
        "the same, signed in from here before": of("regular", REGULARS),
    }


def _by_id(stack: Stack) -> dict[str, dict[str, Request]]:
    """Return, for each endpoint with an id, requests with an unknown id and with another workspace's id."""
    other, other_token = stack.create_workspace()
    _, token = stack.create_workspace()
    (contact,) = stack.create_contacts(1)
    now = clock.now()
    with stack.database.transaction() as session:
        owner = next(account for account in accounts.list_all(session) if account.workspace_id == other).id
        key = api_keys.create(session, owner, name="k", scopes=Scope, expires_at=None, now=now)[0].id
        ses = sessions.start(session, owner, network=b"", lifetime=LIFETIME, now=now)[0].id
        acquisition.acquire_field(
            session,
            Acquisition(workspace_id=other, contact_id=contact, field="email", job_id=new_id("job")),
            now=now,
        )
    revealed = stack.call(
        "POST",
        "/api/ext/reveal/email",
        {"subject": {"contact_id": contact}},
        Authorization=other_token,
        Prefer="respond-async",
    )
    job = revealed.body["job"]["id"]
    feedback = {"email": "p0@nobody.example", "kind": "bounce"}

    def kinds(make: Callable[[str], tuple[str, str, Any]], foreign: str) -> dict[str, Request]:
        prefix: Any = foreign[:3]
        return {
            "an unknown id": lambda: (*make(new_id(prefix)), token),
            "another workspace's id": lambda: (*make(foreign), token),
        }

    return {
        "GET jobs?id=": kinds(lambda id_: ("GET", f"/api/ext/jobs?id={id_}", None), job),
        "DELETE keys/<id>": kinds(lambda id_: ("DELETE", f"/api/keys/{id_}", None), key),
        "DELETE sessions/<id>": kinds(lambda id_: ("DELETE", f"/api/sessions/{id_}", None), ses),
        "POST feedback": kinds(
            lambda id_: ("POST", "/api/feedback", feedback | {"contact_id": id_}), contact
        ),
    }


def _measure(stack: Stack, title: str, kinds: dict[str, Request], pairs: int) -> dict[str, list[float]]:
    """Return the milliseconds of the responses of each kind, requested in random order."""
    connection = http.client.HTTPConnection(stack.base_url.removeprefix("http://"), timeout=60)
    took: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number in track(range(pairs + WARM_UP), description=title, transient=True):
        for kind in random.sample(list(kinds), len(kinds)):
            method, path, body, token = kinds[kind]()
            text = None if body is None else json.dumps(body)
            headers = {"Authorization": token} if token else {}
            headers |= {"Content-Type": "application/json"} if text else {}
            started = time.perf_counter()
            connection.request(method, path, text, headers)
            response = connection.getresponse()
            response.read()
            if number >= WARM_UP:
                took[kind].append((time.perf_counter() - started) * 1000)
            if response.status not in {401, 404}:
                sys.exit(f"{title}: {kind} returned {response.status}")
    connection.close()
    return took


def _auc(first: list[float], second: list[float]) -> float:
    """Return the probability that a second value exceeds a first one (from the Mann-Whitney U statistic)."""
    ordered = sorted(first)
    above = sum(bisect.bisect_left(ordered, value) + bisect.bisect_right(ordered, value) for value in second)
    return above / (2 * len(first) * len(second))


def _median(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


if __name__ == "__main__":
    sys.exit(main())
