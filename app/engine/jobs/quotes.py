"""Quotes: what a job costs, and whether it is free instead; a submission makes one and asks no other.

A reveal is free if the workspace owns the contact's field, or the person is suppressed or excluded. That is
read twice at most. The statement that inserts the job evaluates `is_free_by_key`, which looks for the contact
by id or profile and for the identifiers that the caller has given. Only before a refusal, `Quote.is_free`
reads all that is stored, because the workspace may own the values under another name or contact. The worker
charges nothing where still more turns out to be owned, suppressed or excluded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from sqlalchemy import ColumnElement, or_

from app.domain.errors import ContactNotFound
from app.domain.records.subjects import Subject
from app.engine.contacts.suppressions import suppression_checks
from app.engine.exclusions import exclusion_checks
from app.engine.ledger import ownership
from app.engine.lookups import contact_data, known_people
from app.engine.lookups.field_requests import FieldRequest
from app.engine.matching import candidates, reverse_lookups
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealPrice:
    """What the price of a reveal depends on; `credits` is the price of a field that is not yet owned."""

    subject: Subject
    field_request: FieldRequest
    credits: int


@dataclass(frozen=True, slots=True)
class Quote:
    """The credits of a job, the parameters of `is_free_by_key`, and the closer reading, made at most once.

    A fixed price is due whatever is stored.
    """

    credits: int
    parameters: dict[str, Any]
    is_free: Callable[[], bool] = lambda: False


def quote(session: Session, workspace_id: str, price: int | RevealPrice) -> Quote:
    """Return the quote for a job of this price."""
    if isinstance(price, int):
        listed = suppression_checks.parameters() | exclusion_checks.parameters()
        return Quote(price, listed | owned_parameters(price))
    subject = price.subject
    if subject.contact_id is not None and not candidates.by_ids(session, [subject.contact_id]):
        raise ContactNotFound
    (told,) = reverse_lookups.visible(session, workspace_id, [subject])
    listed = suppression_checks.request_parameters(
        session, contact_data.requested_identifiers(told, names=False)
    )
    given = contact_data.excludable_identifiers(subject)
    excluded = exclusion_checks.parameters(exclusion_checks.digests_of(session, workspace_id, given))
    is_free = partial(known_people.is_free, session, workspace_id, subject, price.field_request)
    return Quote(price.credits, listed | excluded | owned_parameters(price), cache(is_free))


def owned_parameters(price: int | RevealPrice) -> dict[str, str | None]:
    """Return the parameters of `is_field_owned`: of the contact that the subject names by id or profile."""
    if isinstance(price, int):
        return ownership.field_parameters()
    subject = price.subject
    profile = subject.linkedin_url if subject.contact_id is None else None
    field = price.field_request.field.value
    return ownership.field_parameters(field, contact_id=subject.contact_id, linkedin_url=profile)


def is_free_by_key(workspace_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that the job with the parameters of a quote is free."""
    is_barred = or_(suppression_checks.IS_ANY_OF_FEW, exclusion_checks.IS_ANY_OF_FEW)
    return or_(is_barred, ownership.is_field_owned(workspace_id))
