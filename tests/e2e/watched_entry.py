"""Entry point of workers with a slow provider that finds everyone and a consumer that can be made to hang."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from celery.signals import worker_ready

from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import TraceOutcome
from app.infra import clock
from workers import main
from workers.providers.base import ProviderRequest, ProviderResponse
from workers.providers.sandbox import Sandbox
from workers.runtime import supervision

app = main.app
FOLDER = Path(os.environ["WATCHED_FOLDER"])
SECONDS = float(os.environ.get("WATCHED_SECONDS", "0"))
supervision.STALLED_SAMPLES = int(os.environ.get("WATCHED_LOOKS", supervision.STALLED_SAMPLES))


def _ask(_provider: Sandbox, ask: ProviderRequest, *, seconds: float) -> ProviderResponse:
    """Record the requested person, and return an address after a delay."""
    with (FOLDER / "asked").open("a") as file:
        file.write(f"{os.getpid()} {ask.field} {ask.subject.full_name}\n")
    time.sleep(min(SECONDS, seconds))
    now = clock.now()
    email = FoundEmail(
        email=f"{(ask.subject.full_name or 'x').replace(' ', '.').lower()}@acme.example",
        type="work",
        status=EmailStatus.VALID,
        source=Source("sandbox", SourceKind.PROVIDER, now),
        verified_at=now,
    )
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=(email,), cost=1)


Sandbox.unavailability = lambda _provider, _request: None  # type: ignore[method-assign]
Sandbox.ask = _ask  # type: ignore[method-assign]


@worker_ready.connect
def _may_hang(sender: Any, **_signal: Any) -> None:
    """Make the consumer's thread hang permanently once the file `hang` exists."""
    sender.timer.call_repeatedly(0.1, _hang_if_told)


def _hang_if_told() -> None:
    if (FOLDER / "hang").exists():
        (FOLDER / "hang").unlink()
        time.sleep(3600)
