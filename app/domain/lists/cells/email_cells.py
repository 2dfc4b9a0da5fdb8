"""Parsing of the e-mail addresses of a row, with their types, statuses and dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus, FoundEmail
from app.domain.lists.cells.cells import MAX_LENGTH, emails_in
from app.domain.lists.cells.dates import parse_timestamp
from app.domain.lists.headers.column_mapping import ValueColumns
from app.domain.lists.phone_cells.phone_labels import ANOTHER, label_type
from app.domain.lists.row_values import RowValues
from app.domain.lists.warning_kinds import IMPOSSIBLE_EMAIL
from app.domain.normal.emails import email_kind, email_reasons, normal_email
from app.domain.normal.person_emails import ImpossibleAddress, person_email, refuse_impossible
from app.domain.normal.texts.vocabularies import email_status, email_type

_PLAIN = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*@[a-z0-9.-]+[a-z0-9]", re.IGNORECASE)
_MAX_PLAIN_LENGTH = 64
_PERCENT = 100
_MASKED = re.compile(r"\*{2}|(?<!\A)[•…●]|x{4}|@\*")


def emails_of(
    row: RowValues, columns: tuple[ValueColumns, ...], row_time: datetime | None
) -> tuple[FoundEmail, ...]:
    """Return the distinct addresses of a row; `row_time` is the row's own date."""
    found: dict[str, FoundEmail] = {}
    for column in columns:
        for email in _addresses(row, column):
            if email not in found:
                found[email] = _described(row, column, email, row_time)
    return tuple(found.values())


def _addresses(row: RowValues, column: ValueColumns) -> Iterator[str]:
    text = row.cells[column.index]
    label = row.cell(column.attributes.get("type"))
    if not text or (label and label_type(label) == ANOTHER):
        return
    is_plain = _is_plain(text)
    for address in (text,) if is_plain else emails_in(text):
        try:
            yield _plain_email(address) if is_plain else read_email(address)
        except ImpossibleAddress:
            row.warn("email", IMPOSSIBLE_EMAIL, column.index)
        except InvalidValue:
            row.warn("email", column=column.index)


def read_email(text: str) -> str:
    """Return the normal form of an address; domains are cached if the local part is plain.

    Raises:
        InvalidValue: as in `person_email`, or the vendor masked the address.

    """
    if _is_plain(text):
        return _plain_email(text)
    if len(text) > MAX_LENGTH:
        raise InvalidValue("The address is too long.")
    if _MASKED.search(text):
        raise InvalidValue("The address is masked. Export the list with full addresses.")
    return person_email(text)


def _plain_email(text: str) -> str:
    local, _, domain = text.lower().partition("@")
    email = f"{local}@{_domain(domain)}"
    refuse_impossible(email)
    return email


def _is_plain(text: str) -> bool:
    return len(text) <= _MAX_PLAIN_LENGTH and _PLAIN.fullmatch(text) is not None


@lru_cache(maxsize=16384)
def _domain(domain: str) -> str:
    return normal_email(f"a@{domain}").partition("@")[2]


def _described(row: RowValues, column: ValueColumns, email: str, row_time: datetime | None) -> FoundEmail:
    status, verified_at = _status(row, column)
    attributes = column.attributes
    seen_at = row.time_in(attributes.get("seen_at"), "email_seen_at")
    label = row.cell(attributes.get("type"))
    return FoundEmail(
        email=email,
        type=(email_type(label) if label else None) or column.kind or email_kind(email),
        status=status,
        reasons=email_reasons(email),
        confidence=_confidence(row, column),
        source=row.source(seen_at or row_time),
        verified_at=verified_at,
    )


def _status(row: RowValues, column: ValueColumns) -> tuple[EmailStatus, datetime | None]:
    """Return the status and its date; `valid` if there is none, because the operator's data is trusted."""
    attributes = column.attributes
    if not attributes:
        return EmailStatus.VALID, None
    verified_at = row.time_in(attributes.get("verified_at"), "email_verified_at")
    if text := row.cell(attributes.get("status")):
        return _reported_status(row, text, verified_at)
    for name in ("word_status", "confidence"):  # `Status` alone may be a deal's; grades count
        if (text := row.cell(attributes.get(name))) and (status := _status_or_none(text)):
            return status, verified_at
    return EmailStatus.VALID, verified_at


def _reported_status(
    row: RowValues, text: str, verified_at: datetime | None
) -> tuple[EmailStatus, datetime | None]:
    """Parse a status; `Email Verified` may contain the date instead of a word."""
    if status := _status_or_none(text):
        return status, verified_at
    try:
        return EmailStatus.VALID, min(parse_timestamp(text, row.defaults.dates.others), row.defaults.now)
    except InvalidValue:
        row.warn("email_status")
        return EmailStatus.UNKNOWN, verified_at


def _status_or_none(text: str) -> EmailStatus | None:
    try:
        return email_status(text)
    except InvalidValue:
        return None


def _confidence(row: RowValues, column: ValueColumns) -> float | None:
    """Parse 0.97, 97 and 97% as 0.97; return None for a grade."""
    text = row.cell(column.attributes.get("confidence"))
    if text is None:
        return None
    try:
        number = float(text.rstrip("% ").replace(",", "."))
    except ValueError:
        return None
    number = number / _PERCENT if number > 1 or "%" in text else number
    return round(number, 4) if 0 <= number <= 1 else None
