"""How addresses leave the service in a verification, for the tests that look at every channel."""

from __future__ import annotations

from jobs_support import NOW
from worker_harness import WorkerHarness

from app.features.quality import due_verifications
from app.infra.database.session import Session


def verified(session: Session, harness: WorkerHarness) -> object:
    """Return the addresses that are verified again once all verdicts have expired."""
    max_age = harness.services.settings.default_max_age
    return due_verifications.claim(session, default_max_age=max_age, now=NOW + 9 * max_age, limit=9)


CHANNELS = {"addresses to verify again": (verified, [])}
"""What a channel shows, and what it shows of a suppressed person."""
