"""Reports what a list of bounces says about values that the caller's workspace owns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from sqlalchemy import select

from app.domain.errors import ContactNotFound, FieldError, InvalidValue, ValidationFailed
from app.domain.messages import Message
from app.engine.contacts.bounce_reports import Feedback
from app.engine.contacts.bulk import batched
from app.engine.contacts.emails import Email
from app.engine.ledger.reveals import RevealedValue
from app.features.quality import bounce_lists, reports
from app.features.quality.bounce_lists import NOT_OWNED, BounceList, LeftOut, Line
from app.features.quality.refunds import RefundDecision
from app.infra.crypto.blind_indexes import stored_forms
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.received_files import CSV, JSON, PART, XLSX, FileKind, received_file
from app.web.services import services
from app.web.sign_in.auth import caller

MAX_FILE_MB = 5
JSON_LINES = ("application/x-ndjson", "application/jsonl")
"""What programs call a file with one JSON object a line; no media type is registered."""
FILES = FileKind((CSV, XLSX, JSON, *JSON_LINES), Message("a CSV file, an Excel workbook or a JSON file"))
MAX_REPORTS = 1_000
"""New reports of one request: each is a transaction of its own, as it locks a contact and a workspace."""
MAX_LEFT_OUT = 100
"""The lines that the answer names."""


@dataclass(slots=True)
class Imported:
    """What came of a list; `remaining` reports are made when the list is sent again."""

    reported: int = 0
    repeated: int = 0
    refunded: int = 0
    pending: int = 0
    remaining: int = 0
    left_out: list[LeftOut] = field(default_factory=list)

    def to_public(self) -> dict[str, Any]:
        """Return the representation, with the first of what was left out."""
        names = ("reported", "repeated", "refunded", "pending", "remaining")
        first = sorted(self.left_out)[:MAX_LEFT_OUT]
        return {
            **{name: getattr(self, name) for name in names},
            "left_out": [each._asdict() for each in first],
            "left_out_count": len(self.left_out),
        }


def run() -> Imported:
    """Report what the file of this request says.

    Raises:
        ValidationFailed: the file cannot be read as a list.

    """
    with received_file(MAX_FILE_MB, FILES) as file:
        try:
            found = bounce_lists.read(BytesIO(file.content), file.name)
        except InvalidValue as error:
            raise ValidationFailed(str(error), errors=(FieldError(f"/{PART}", str(error)),)) from error
    imported = _report(found)
    log.info("bounces reported", reported=imported.reported, refunded=imported.refunded)
    return imported


def _report(found: BounceList) -> Imported:
    imported = Imported(left_out=found.left_out)
    for part in batched(list(found.lines.values())):
        with services().database.reading() as session:
            owned = _owned(session, part)
        for line in part:
            if (line.field, line.value) not in owned:
                imported.left_out.append(LeftOut(line.line, NOT_OWNED))
            elif imported.reported >= MAX_REPORTS:
                imported.remaining += 1
            else:
                _report_line(line, imported)
    return imported


def _report_line(line: Line, imported: Imported) -> None:
    body = {line.field: line.value, "kind": line.kind}
    try:
        with admission.transaction() as session:
            recorded = reports.record(session, body, now=database_clock.value(session))
    except ContactNotFound:  # erased or hidden meanwhile
        imported.left_out.append(LeftOut(line.line, NOT_OWNED))
        return
    imported.reported += recorded.is_new
    imported.repeated += not recorded.is_new
    imported.refunded += recorded.refunded
    imported.pending += recorded.is_new and recorded.refund is RefundDecision.PENDING


def _owned(session: Session, lines: Sequence[Line]) -> set[tuple[str, str]]:
    """Return the values that the workspace owns, or has reported before: a refunded one is not owned."""
    indexes = {
        (line.field, form): (line.field, line.value)
        for line in lines
        for form in stored_forms(session, line.field, [line.value])
    }
    workspace_id = caller().workspace_id
    owned = select(RevealedValue.field, RevealedValue.value_index).where(
        RevealedValue.workspace_id == workspace_id,
        RevealedValue.value_index.in_([form for _field, form in indexes]),
    )
    reported = (
        select(Email.email_index)
        .join(Feedback, Feedback.email_id == Email.id)
        .where(
            Feedback.workspace_id == workspace_id,
            Email.email_index.in_([form for name, form in indexes if name == "email"]),
        )
    )
    keys = [(row.field, row.value_index) for row in session.execute(owned)]
    keys += [("email", index) for index in session.scalars(reported)]
    return {indexes[key] for key in keys if key in indexes}
