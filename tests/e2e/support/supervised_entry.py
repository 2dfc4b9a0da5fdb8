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
FOLDER = Path(os.environ["RECORDING_FOLDER"])
SECONDS = float(os.environ.get("PROVIDER_SECONDS", "0"))
supervision.STALLED_SAMPLES = int(os.environ.get("STALLED_SAMPLES", supervision.STALLED_SAMPLES))


def _call(_provider: Sandbox, request: ProviderRequest, *, seconds: float) -> ProviderResponse:
    """Record the requested person, and return an address after a delay."""
    with (FOLDER / "requests").open("a") as file:
        file.write(f"{os.getpid()} {request.field} {request.subject.full_name}\n")
    time.sleep(min(SECONDS, seconds))
    now = clock.now()
    email = FoundEmail(
        email=f"{(request.subject.full_name or 'x').replace(' ', '.').lower()}@acme.example",
        type="work",
        status=EmailStatus.VALID,
        source=Source("sandbox", SourceKind.PROVIDER, now),
        verified_at=now,
    )
    return ProviderResponse(outcome=TraceOutcome.HIT, emails=(email,), cost=1)


Sandbox.unavailability = lambda _provider, _request: None  # type: ignore[method-assign]
Sandbox.call = _call  # type: ignore[method-assign]


@worker_ready.connect
def _schedule_hang(sender: Any, **_signal: Any) -> None:
    """Make the consumer's thread hang permanently once the file `hang` exists."""
    sender.timer.call_repeatedly(0.1, _hang_if_requested)


def _hang_if_requested() -> None:
    if (FOLDER / "hang").exists():
        (FOLDER / "hang").unlink()
        time.sleep(3600)
