"""Parsing of the e-mail addresses of a row, with their types, statuses and dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus, FoundEmail
from app.domain.lists.cells import emails_in, parse_timestamp
from app.domain.lists.column_mapping import ValueColumns
from app.domain.lists.row_values import RowValues
from app.domain.normal.emails import email_kind, email_reasons, normal_email
from app.domain.normal.vocabularies import email_status, email_type

_PLAIN = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*@[a-z0-9.-]+", re.IGNORECASE)
_MAX_PLAIN_LENGTH = 64
_PERCENT = 100
_MASKED = re.compile(r"\*{2}|[•…●]|x{4}|@\*")


def emails_of(row: RowValues, slots: tuple[ValueColumns, ...], at: datetime | None) -> tuple[FoundEmail, ...]:
    """Return the distinct addresses of a row; `at` is the row's own date."""
    found: dict[str, FoundEmail] = {}
    for slot in slots:
        for email in _addresses(row, slot):
            if email not in found:
                found[email] = _described(row, slot, email, at)
    return tuple(found.values())


def _addresses(row: RowValues, slot: ValueColumns) -> Iterator[str]:
    text = row.cells[slot.at]
    if not text:
        return
    for said in emails_in(text):
        try:
            yield read_email(said)
        except InvalidValue:
            row.warnings["email"] += 1


def read_email(text: str) -> str:
    """Return the normal form of an address; domains are cached if the local part is plain.

    Raises:
        InvalidValue: as in `normal_email`, or the vendor masked the address.

    """
    if _PLAIN.fullmatch(text) and len(text) <= _MAX_PLAIN_LENGTH:
        local, _, domain = text.lower().partition("@")
        return f"{local}@{_domain(domain)}"
    if _MASKED.search(text):
        raise InvalidValue("The address is masked. Export the list with full addresses.")
    return normal_email(text)


@lru_cache(maxsize=16384)
def _domain(domain: str) -> str:
    return normal_email(f"a@{domain}").partition("@")[2]


def _described(row: RowValues, slot: ValueColumns, email: str, at: datetime | None) -> FoundEmail:
    status, verified_at = _status(row, slot)
    about = slot.about
    seen_at = row.time(row.cell(about.get("seen_at")), "email_seen_at")
    label = row.cell(about.get("type"))
    return FoundEmail(
        email=email,
        type=(email_type(label) if label else None) or slot.kind or email_kind(email),
        status=status,
        reasons=email_reasons(email),
        confidence=_confidence(row, slot),
        source=row.source(seen_at or at),
        verified_at=verified_at,
    )


def _status(row: RowValues, slot: ValueColumns) -> tuple[EmailStatus, datetime | None]:
    """Return the status and its date; `valid` if there is none, because the operator's data is trusted."""
    about = slot.about
    if not about:
        return EmailStatus.VALID, None
    verified_at = row.time(row.cell(about.get("verified_at")), "email_verified_at")
    if said := row.cell(about.get("status")):
        return _reported_status(row, said, verified_at)
    for name in ("word_status", "confidence"):  # `Status` alone may be a deal's; grades count
        if (said := row.cell(about.get(name))) and (status := _status_or_none(said)):
            return status, verified_at
    return EmailStatus.VALID, verified_at


def _reported_status(
    row: RowValues, said: str, verified_at: datetime | None
) -> tuple[EmailStatus, datetime | None]:
    """Parse a status; `Email Verified` may contain the date instead of a word."""
    if status := _status_or_none(said):
        return status, verified_at
    try:
        return EmailStatus.VALID, min(parse_timestamp(said), row.terms.now)
    except InvalidValue:
        row.warnings["email_status"] += 1
        return EmailStatus.UNKNOWN, verified_at


def _status_or_none(said: str) -> EmailStatus | None:
    try:
        return email_status(said)
    except InvalidValue:
        return None


def _confidence(row: RowValues, slot: ValueColumns) -> float | None:
    """Parse 0.97, 97 and 97% as 0.97; return None for a grade."""
    said = row.cell(slot.about.get("confidence"))
    if said is None:
        return None
    try:
        number = float(said.rstrip("% ").replace(",", "."))
    except ValueError:
        return None
    number = number / _PERCENT if number > 1 or "%" in said else number
    return round(number, 4) if 0 <= number <= 1 else None
