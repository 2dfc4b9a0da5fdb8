"""The Idempotency-Key header: a replay joins the first request instead of asking or writing again."""

from __future__ import annotations

import re

from flask import request
from sqlalchemy.orm import Session

from app.api.http.auth import caller
from app.core.jobs import idempotency
from app.domain.errors import FieldError, ValidationFailed
from app.infra.database_clock import Moment

HEADER = "Idempotency-Key"
REPLAYED = {"Idempotent-Replay": "true"}
PATTERN = "^[!-~](?:[ -~]{0,253}[!-~])?$"
_KEY = re.compile(PATTERN, re.ASCII)


def begin(session: Session, *, now: Moment, kept: bool = True) -> str | None:
    """Take the request's key, if it sent one; give the id its first request made, if this is a replay.

    Where nothing of the request may be kept, the key is only looked at.

    Raises:
        ValidationFailed: the key is not 1 to 255 printable characters.
        IdempotencyKeyReused: the key came before with another request.

    """
    key = _key()
    if key is None or not kept:
        return None
    digest = idempotency.digest(request.path, request.get_json(silent=True) or {})
    return idempotency.begin(session, caller().workspace_id, key, digest, now=now)


def finish(session: Session, reference: str) -> None:
    """Write down what the request's key stands for, if it sent one."""
    key = _key()
    if key is not None:
        idempotency.finish(session, caller().workspace_id, key, reference)


def _key() -> str | None:
    key = request.headers.get(HEADER)
    if key is not None and not _KEY.fullmatch(key):
        detail = f"{HEADER} must be 1 to 255 printable ASCII characters."
        raise ValidationFailed(detail, errors=(FieldError("", detail),))
    return key
