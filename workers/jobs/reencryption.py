"""Encrypts stored values under the current key, once a new one is set."""

from __future__ import annotations

import time

from app.domain.kinds import ENCRYPT
from app.engine.privacy import reencryption
from app.infra.broker.celery_app import SECONDS_BETWEEN_ENCRYPTIONS
from app.infra.crypto.encryption import Undecryptable
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from workers.execution import maintenance
from workers.execution.worker_services import WorkerServices

_SECONDS = SECONDS_BETWEEN_ENCRYPTIONS / 2
"""The most time that one turn takes; the rest of the thread's time is for other maintenance."""


@maintenance.task(ENCRYPT)
def encrypt(services: WorkerServices) -> None:
    """Encrypt what is not under the current key; scheduled by Celery beat."""
    encrypt_once(services)


def encrypt_once(services: WorkerServices, *, seconds: float = _SECONDS) -> bool:
    """Encrypt in batches, each in its own transaction, until the time is over; return whether all is done."""
    ends_at, is_done = time.monotonic() + seconds, True
    with services.database.reading() as session:
        unfinished = reencryption.unfinished(session)
    for name in unfinished:
        is_finished = False
        try:
            while not is_finished and time.monotonic() < ends_at:
                with services.database.transaction() as session:
                    is_finished = reencryption.encrypt_next(session, name, now=database_clock.value(session))
        except Undecryptable:  # `flask keys rotate` says more
            log.error("a stored value cannot be decrypted", table=name)
        is_done = is_done and is_finished
    return is_done
