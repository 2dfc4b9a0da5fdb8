"""What admins change in the exclusions of their workspace; the API and the page share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from typing import Any

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, InvalidValue, NotFound, ValidationFailed
from app.domain.exclusions import Reason
from app.domain.ids import is_id, new_id
from app.domain.messages import Figure, Message
from app.engine.audit_log import entries as audit_log
from app.engine.exclusions import exclusions
from app.engine.exclusions.exclusions import Entry, Exclusion
from app.features.exclusions import csv_lists
from app.features.exclusions.csv_lists import ReadList
from app.infra.clock import rfc3339
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.idempotency_header import begin, finish
from app.web.bodies.received_files import PART, received_file
from app.web.sign_in.admins import admin_caller
from app.web.sign_in.auth import caller

MAX_EXCLUSIONS = 100_000
"""The exclusions of a workspace. Requests at the same moment may exceed it once."""
MAX_FILE_MB = 5
MAX_REJECTED = 100
"""The cells and rows that the answer to an import names."""


@dataclass(frozen=True, slots=True)
class Added:
    """How many entries were added, how many the workspace had already, and whether it is a replay."""

    added: int
    known: int
    replayed: bool = False


def add(entries: Sequence[Entry], body: dict[str, Any] | None = None, *, part: str = "entries") -> Added:
    """Add the entries; a replay adds nothing. `body` is what replays have in common, as in `begin`.

    Raises:
        ValidationFailed: the workspace would have too many, so none is added; `part` of the request has them.

    """
    current, now = caller(), database_clock.now()
    with admission.transaction() as session:
        admin_caller(session)
        if begin(session, now=now, body=body) is not None:
            return Added(0, len(entries), replayed=True)
        added = exclusions.add(session, current.workspace_id, entries, created_by=current.account_id, now=now)
        if added:
            _require_room(session, current.workspace_id, part)
        finish(session, next(iter(added), new_id("exc")))
        audit_log.record_each(session, Action.EXCLUSION_ADD, added, account_id=current.account_id)
    log.info("exclusions added", account=current.account_id, count=len(added))
    return Added(len(added), len(entries) - len(added))


def _require_room(session: Session, workspace_id: str, part: str) -> None:
    total = exclusions.count(session, workspace_id)
    if total > MAX_EXCLUSIONS:
        detail = Message(
            "The workspace would have {total} exclusions, and may have {max}, so none was added. Remove "
            "some, or exclude companies by their domain instead of their people.",
            total=Figure(total),
            max=Figure(MAX_EXCLUSIONS),
        )
        raise ValidationFailed(detail, errors=(FieldError(f"/{part}", detail),))


def read_list(default: Reason) -> tuple[ReadList, dict[str, Any]]:
    """Return what the CSV file of this request has, and what its replays have in common.

    Raises:
        ValidationFailed: the file cannot be read as a list.

    """
    with received_file(MAX_FILE_MB) as file:
        same = {"sha256": sha256(file.content).hexdigest(), "reason": default.value}
        try:
            return csv_lists.read(BytesIO(file.content), default), same
        except InvalidValue as error:
            raise ValidationFailed(str(error), errors=(FieldError(f"/{PART}", str(error)),)) from error


def remove(exclusion_id: str) -> None:
    """Remove an exclusion.

    Raises:
        NotFound: the workspace has no such exclusion.

    """
    if not is_id(exclusion_id, "exc"):
        raise NotFound(exclusions.UNKNOWN)
    current = caller()
    with admission.transaction() as session:
        admin_caller(session)
        exclusions.remove(session, current.workspace_id, exclusion_id)
        audit_log.record_each(session, Action.EXCLUSION_REMOVE, [exclusion_id], account_id=current.account_id)
    log.info("exclusion removed", account=current.account_id, exclusion=exclusion_id)


def counts(added: Added) -> dict[str, int]:
    """Return the representation of an addition."""
    return {"added": added.added, "known": added.known}


def imported(added: Added, found: ReadList) -> dict[str, Any]:
    """Return the representation of an import, with the first of what was left out."""
    rejected = [each._asdict() for each in found.rejected[:MAX_REJECTED]]
    return {**counts(added), "rejected": rejected, "rejected_count": len(found.rejected)}


def to_public(exclusion: Exclusion) -> dict[str, Any]:
    """Return the representation of an exclusion."""
    names = ("id", "kind", "value", "reason", "note", "created_by")
    shown = {name: getattr(exclusion, name) for name in names}
    return shown | {"created_at": rfc3339(exclusion.created_at)}
