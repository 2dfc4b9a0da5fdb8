"""What do-not-call registers say now about the numbers in answers of jobs.

An answer is stored as it was found. A number that is registered later is marked or hidden at the next read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from app.domain.call_registers import checked_at, do_not_call, is_hidden
from app.engine.call_registers import listings
from app.engine.call_registers.listings import Listings
from app.infra.clock import rfc3339
from app.infra.database.session import Session


def find(session: Session, workspace_id: str, answers: Iterable[Mapping[str, Any] | None]) -> Listings:
    """Return what the registers say about the numbers in answers of the workspace's jobs."""
    numbers = {phone["e164"] for answer in answers if answer for phone in answer.get("phones", ())}
    return listings.find(session, workspace_id, numbers)


def shown(answer: dict[str, Any] | None, found: Listings, *, as_admin: bool) -> dict[str, Any] | None:
    """Return an answer with what the registers say about its numbers, without those that they hide."""
    if not answer or not answer.get("phones"):
        return answer
    return answer | {"phones": shown_phones(answer["phones"], found, as_admin=as_admin)}


def shown_phones(
    phones: Iterable[Mapping[str, Any]], found: Listings, *, as_admin: bool
) -> list[dict[str, Any]]:
    """Return numbers with what the registers say about them, without those that they hide."""
    return [
        _marked(phone, found)
        for phone in phones
        if not is_hidden(found.get(phone["e164"], ()), as_admin=as_admin)
    ]


def _marked(phone: Mapping[str, Any], found: Listings) -> dict[str, Any]:
    of_number = found.get(phone["e164"], ())
    known_at = phone.get("do_not_call_checked_at")
    reported_at = None if known_at is None else datetime.fromisoformat(known_at)
    return {
        **phone,
        "do_not_call": do_not_call(phone.get("do_not_call"), of_number),
        "do_not_call_checked_at": rfc3339(checked_at(reported_at, of_number)),
        "call_registers": [listings.to_public(one) for one in of_number],
    }
