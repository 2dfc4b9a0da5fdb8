"""The verdicts beside the rows of a list that was verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from app.domain import call_registers
from app.domain.errors import JobExpired
from app.domain.findings import EmailStatus
from app.domain.kinds import Outcome
from app.domain.messages import Message
from app.domain.normal.phones.phones import phone_from_e164
from app.engine.call_registers import listings
from app.engine.call_registers.listings import Listings
from app.engine.own_records import known_verdicts
from app.engine.own_records.own_verifications import Verdict
from app.features.uploads.result_rows import STATUS_NOTES, ResultRow, StoredRow, do_not_call
from app.features.uploads.tables import Upload
from app.infra.database.session import Session

_EMAIL_COLUMNS = ("Verified email", "Email verdict", "Email verdict reasons")
_PHONE_COLUMNS = ("Verified phone", "Phone verdict", "Phone country", "Phone line type", "Phone do not call")
_COLUMNS = ("Checked on", "Result", "Result credits", "Result receipt", "Result note")
_UNREADABLE = "unreadable"
"""The result of a row without a value; `invalid` is a verdict, which is charged."""
_UNKNOWN = Message("No verifier could tell. Nothing was charged.")
_NOTES = {
    EmailStatus.UNKNOWN.value: _UNKNOWN,
    EmailStatus.ACCEPT_ALL.value: Message(
        "The domain accepts all mail, so nobody can tell if the mailbox exists."
    ),
    Outcome.SUPPRESSED.value: Message("The person has opted out. Nothing was charged."),
}


def columns(upload: Upload) -> list[str]:
    """Return the columns that are added to those of the file."""
    chosen = (("email", _EMAIL_COLUMNS), ("phone", _PHONE_COLUMNS))
    return [name for field, names in chosen if field in upload.columns for name in names] + [*_COLUMNS]


def added(upload: Upload, row: ResultRow) -> list[str | int]:
    """Return the cells of `columns`; what it cost is empty if the reader may not see it."""
    emails = (row.email or "", row.email_status or "", ", ".join(row.email_reasons))
    phones = (
        *(row.phone or "", row.phone_status or "", row.phone_country or "", row.phone_line_type or ""),
        row.phone_do_not_call or "",
    )
    chosen = (("email", emails), ("phone", phones))
    return [
        *(cell for field, cells in chosen if field in upload.columns for cell in cells),
        *(row.checked_on or "", row.outcome, "" if row.credits is None else row.credits),
        *(row.receipt or "", row.note or ""),
    ]


def read(session: Session, upload: Upload, rows: Sequence[StoredRow]) -> list[ResultRow]:
    """Return the rows with their verdicts; no address is valid where the domain accepts all mail.

    Numbers that do-not-call registers have are marked; they are the caller's own, so none is hidden.
    """
    emails = [row.subject["email"] for row in rows if row.subject and "email" in row.subject]
    domains = known_verdicts.accept_all(session, upload.workspace_id, emails)
    numbers = {row.subject["phone"] for row in rows if row.subject and "phone" in row.subject}
    listed = listings.find(session, upload.workspace_id, numbers)
    return [_row(row, upload.status, domains, listed) for row in rows]


def _row(row: StoredRow, status: str, domains: Mapping[str, datetime], listed: Listings) -> ResultRow:
    is_duplicate = row.duplicate_of is not None
    result = ResultRow(number=row.number, line=row.line, cells=tuple(row.cells), outcome=_UNREADABLE)
    if row.subject is None:
        is_erased = not row.cells and row.fault is None
        outcome = Outcome.SUPPRESSED.value if is_erased else _UNREADABLE
        return replace(result, outcome=outcome, note=row.fault or _NOTES.get(outcome))
    email = _email(row, domains)
    phone = _phone(row, listed)
    outcome, why = _outcome(row, status, email, phone)
    same = None
    if row.duplicate_of is not None:
        same = Message("The same value as row {number}.", number=row.duplicate_of + 1)
    return replace(
        result,
        **{"checked_on": _day(row.finished_at), **email, **phone},
        outcome=outcome,
        credits=0 if is_duplicate else row.charged_before + (row.charged or 0),
        receipt=row.job_id,
        note=" ".join(filter(None, (row.fault, why, same))) or None,
    )


def _email(row: StoredRow, domains: Mapping[str, datetime]) -> dict[str, Any]:
    """Return what the job found out about the address of the row."""
    found = next(iter((row.result or {}).get("emails", ())), None)
    if found is None:
        return {}
    status, verified_at = found["status"], found["verified_at"]
    values = {"email": found["email"], "email_reasons": tuple(found["status_reasons"])}
    if verified_at is None:
        return values | {"email_status": status}
    verdict = Verdict(status, datetime.fromisoformat(verified_at))
    status = known_verdicts.status_at(domains, found["email"], verdict)
    return values | {"email_status": status, "checked_on": _day(verdict.verified_at)}


def _phone(row: StoredRow, listed: Listings) -> dict[str, Any]:
    """Return what the numbering plan and the registers say of the number, once the row is processed."""
    e164 = (row.subject or {}).get("phone")
    if e164 is None or row.outcome is None or row.outcome == Outcome.SUPPRESSED:
        return {}
    number, of_number = phone_from_e164(e164), listed.get(e164, ())
    registers = [listings.to_public(one) for one in of_number]
    must_not = call_registers.do_not_call(None, of_number)
    return {
        "phone": number.e164,
        "phone_status": (EmailStatus.VALID if number.is_assigned else EmailStatus.INVALID).value,
        "phone_country": number.country,
        "phone_line_type": number.line_type,
        "phone_do_not_call": do_not_call({"do_not_call": must_not, "call_registers": registers}),
    }


def _outcome(
    row: StoredRow, status: str, email: Mapping[str, Any], phone: Mapping[str, Any]
) -> tuple[str, str | None]:
    """Return the verdict on the address, or without one on the number; or why there is none yet."""
    if row.outcome == Outcome.SUPPRESSED:
        return row.outcome, _NOTES[row.outcome]
    if row.outcome is not None:
        verdict = str(email.get("email_status") or phone.get("phone_status"))
        return verdict, _NOTES.get(verdict)
    if row.error is not None:
        return "failed", row.error.get("detail") or row.error.get("title")
    if row.finished_at is not None:
        return "failed", JobExpired.title
    return "pending", STATUS_NOTES.get(status)


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.date().isoformat()
