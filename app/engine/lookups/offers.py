"""What a job can sell of a person whom the workspace is not told about (`reverse_lookups`).

An address or a number above the limits is confirmed only by the sale of a value of its person. Whatever else
is stored about the person changes nothing in the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from app.domain.errors import Problem
from app.domain.records.profile_links import are_two_people, urls_of
from app.domain.records.subjects import Subject
from app.domain.reverse_lookups import values_in
from app.engine.lookups import known_people
from app.engine.lookups.contact_data import Person
from app.engine.lookups.field_requests import FieldRequest
from app.engine.lookups.known_people import KnownPerson, Question
from app.engine.matching import caller_identifiers
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class Offer:
    """What a job does with a requested field: whether it can pay for it, and for which stated purpose."""

    is_paid: bool
    purpose: str | None


def assess_all(
    session: Session,
    questions: Sequence[tuple[Question, Offer]],
    *,
    default_max_age: timedelta,
    now: datetime,
) -> list[KnownPerson | None]:
    """Return for each question what `assess` does; None if it raises a `Problem`, such as `ContactNotFound`.

    People whom a profile or an id leads to are assessed together, in three queries.
    """
    settings: dict[str, Any] = {"default_max_age": default_max_age, "now": now}
    keyed = [question for question, _offer in questions if not values_in(question.subject)]
    known = dict(zip(keyed, known_people.assess_by_key(session, keyed, **settings), strict=True))
    return [
        known.get(question) or _assess(session, question, offer, settings) for question, offer in questions
    ]


def _assess(
    session: Session, question: Question, offer: Offer, settings: Mapping[str, Any]
) -> KnownPerson | None:
    try:
        return assess(session, *question, offer, **settings)
    except Problem:
        return None


def assess(
    session: Session,
    workspace_id: str,
    subject: Subject,
    field_request: FieldRequest,
    offer: Offer,
    *,
    default_max_age: timedelta,
    now: datetime,
) -> KnownPerson:
    """Return whether what is stored of the person satisfies the request, as `known_people.assess` does.

    A person whom the workspace is not told about counts if a fresh value is sold at once. One who is
    suppressed is `suppressed`, so that no provider is asked, and `is_hidden`, so that it is not told. The
    same is true of an `exclusion`.
    """
    stored = partial(
        known_people.assess,
        session,
        workspace_id,
        subject,
        field_request,
        default_max_age=default_max_age,
        now=now,
    )
    known = stored()
    if not known.is_hidden:
        return known
    if known.is_barred:
        return replace(known, is_hidden=False)  # told by what is not hidden
    whole = stored(is_sale=True)
    if _is_sold(known, whole, offer):
        return replace(whole, is_hidden=True, is_sold=True)
    # A purpose is required of the unknown and of the hidden alike, wherever it is required of some people.
    needs_purpose = session.settings.purpose_rule.is_set if known.contact is None else known.needs_purpose
    return replace(known, suppressed=whole.suppressed, exclusion=whole.exclusion, needs_purpose=needs_purpose)


def _is_sold(known: KnownPerson, whole: KnownPerson, offer: Offer) -> bool:
    """Return whether the job sells a stored value of a contact that only a hidden value leads to."""
    return (
        offer.is_paid
        and whole.contact != known.contact
        and whole.has_fresh_value
        and not (whole.owned or whole.is_barred)
        and not (whole.needs_purpose and offer.purpose is None)
    )


def remember_sale(
    session: Session, workspace_id: str, known: KnownPerson, contact: Person, *, now: datetime
) -> None:
    """Remember by which values a workspace bought the contact's: it is told about them from now on.

    So is it by a second profile URL, with the id of the member, of a contact that has the first one.
    """
    shown, further = known.provided.linkedin_url, known.provided.member_url
    if known.is_sold:
        caller_identifiers.remember(session, workspace_id, known.provided, contact.id, now=now)
    elif further and shown in urls_of(contact) and not are_two_people(urls_of(contact), [further]):
        member = Subject(linkedin_url=further)
        caller_identifiers.remember(session, workspace_id, member, contact.id, now=now)
