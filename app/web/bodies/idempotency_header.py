"""The Idempotency-Key header: a replay returns the result of the first request with the key."""

from __future__ import annotations

import re
from typing import Any

from flask import request

from app.domain.errors import FieldError, ValidationFailed
from app.domain.messages import Message
from app.engine.jobs import idempotency
from app.engine.jobs.idempotency import Claim
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session
from app.web.services import services
from app.web.sign_in.auth import caller

HEADER = "Idempotency-Key"
REPLAYED = {"Idempotent-Replay": "true"}
PATTERN = "^[!-~](?:[ -~]{0,253}[!-~])?$"
_KEY = re.compile(PATTERN, re.ASCII)


def begin(session: Session, *, now: Moment, body: dict[str, Any] | None = None) -> str | None:
    """Claim the request's key, if any; for a replay, return the id that the first request created.

    `body` is what replays must have in common, by default the JSON of the request.
    """
    key = _key()
    if key is None:
        return None
    return idempotency.begin(session, caller().workspace_id, key, _digest(session.keys, body), now=now)


def claim(reference: str) -> Claim | None:
    """Return the claim of the request's key, if any, for the job with this id."""
    key = _key()
    if key is None:
        return None
    return Claim(caller().workspace_id, key, _digest(services().digest_keys), reference)


def require_valid() -> None:
    """Raise ValidationFailed if the request has a key that cannot be stored."""
    _key()


def is_replay(session: Session, reference: str, *, now: Moment) -> bool:
    """Claim the request's key, if any, for a change of this resource; return whether it is a replay."""
    if begin(session, now=now) is not None:
        return True
    finish(session, reference)
    return False


def finish(session: Session, reference: str) -> None:
    """Store the id that the request created under its key, if it has one."""
    key = _key()
    if key is not None:
        idempotency.finish(session, caller().workspace_id, key, reference)


def release(session: Session) -> None:
    """Delete the request's key, if it has one: what it did was undone, and a repetition is a new request."""
    key = _key()
    if key is not None:
        idempotency.release(session, caller().workspace_id, key)


def _digest(keys: DigestKeys, body: dict[str, Any] | None = None) -> bytes:
    same = (request.get_json(silent=True) or {}) if body is None else body
    return idempotency.digest(keys, request.path, same)


def _key() -> str | None:
    key = request.headers.get(HEADER)
    if key is not None and not _KEY.fullmatch(key):
        detail = Message("{header} must be 1 to 255 printable ASCII characters.", header=HEADER)
        raise ValidationFailed(detail, errors=(FieldError("", detail),))
    return key
