"""The price of a list to verify: each address once, except those on which the workspace has a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from app.domain.kinds import Kind
from app.domain.lists.verified_rows import VerifiedRow
from app.domain.records.subjects import Subject
from app.engine.own_records import known_verdicts
from app.engine.work.turns import Turn
from app.features.uploads import pricing
from app.features.uploads.pricing import DIGEST_BYTES, PricedBatch
from app.features.uploads.row_reader import is_erased
from app.features.uploads.tables import UploadRow
from app.features.uploads.verify.rows import VerifiedRowReader
from app.infra.database.encrypted_columns import encrypted, row_name
from app.infra.database.session import Session
from app.settings import Settings

_COUNTS = ("emails", "phones", "known", "duplicates", "invalid", "suppressed", "credits_max")


def price(
    session: Session,
    turn: Turn,
    reader: VerifiedRowReader,
    rows: Sequence[UploadRow],
    *,
    settings: Settings,
    now: datetime,
) -> PricedBatch:
    """Return the price of the rows; earlier rows have been priced."""
    read = [reader.read(row) for row in rows]
    known = _known(session, reader, [one.email for one in read if one and one.email], settings, now=now)
    digests = {row.number: _digest(session, reader, one) for row, one in zip(rows, read, strict=True)}
    first_rows = pricing.first_rows(session, turn, rows[0].number, [one for one in digests.values() if one])
    batch = PricedBatch([], {}, Counter())
    for row, one in zip(rows, read, strict=True):
        change = pricing.blank(row)
        digest = digests[row.number]
        if one and digest:
            first = first_rows.setdefault(digest, row.number)
            cost = settings.prices[Kind.VERIFICATION] if one.email and one.email not in known else 0
            name = row_name(row.upload_id, row.number)
            change |= {
                "person_digest": digest,
                "subject": encrypted(session, UploadRow.subject, name, _subject(one)),
                "fault": one.note,
                "cost": cost,
                "duplicate_of": None if first == row.number else first,
                "is_pending": first == row.number,
            }
            batch.people[row.number] = Subject(email=one.email, phone=one.phone)
            batch.counts.update(_counts(one, cost, is_known=one.email in known, is_first=first == row.number))
        elif is_erased(row):
            batch.counts["suppressed"] += 1
        else:
            change["fault"] = one.note if one else row.fault
            batch.counts["invalid"] += 1
        batch.changes.append(change)
    return batch


def estimate(counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the price of all rows; verdicts may turn out to be unknown, which costs nothing."""
    found = {name: counts.get(name, 0) for name in _COUNTS}
    return {**found, "credits_min": 0, "people": counts.get("people", 0)}


def _counts(one: VerifiedRow, cost: int, *, is_known: bool, is_first: bool) -> Counter[str]:
    phones = int(one.phone is not None)
    if not is_first:
        return Counter(duplicates=1, phones=phones if one.email else 0)
    emails = int(one.email is not None)
    return Counter(people=1, emails=emails, phones=phones, known=int(is_known), credits_max=cost)


def _subject(one: VerifiedRow) -> dict[str, str]:
    values = {"email": one.email, "phone": one.phone}
    return {name: text for name, text in values.items() if text is not None}


def _known(
    session: Session, reader: VerifiedRowReader, emails: Sequence[str], settings: Settings, *, now: datetime
) -> frozenset[str]:
    """Return the addresses on which the workspace has a verdict that is repeated."""
    if reader.is_fresh:
        return frozenset()
    max_age = settings.default_max_age
    known = known_verdicts.reusable(session, reader.workspace_id, emails, max_age=max_age, now=now)
    return frozenset(known)


def _digest(session: Session, reader: VerifiedRowReader, one: VerifiedRow | None) -> bytes | None:
    """Return a digest of what a job verifies of the row; only rows of the same upload have the same."""
    if one is None or one.value is None:
        return None
    return session.keys.digest("uploaded value", f"{reader.upload_id}\0{one.value.text}")[:DIGEST_BYTES]
