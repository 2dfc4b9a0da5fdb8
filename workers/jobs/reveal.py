"""Reveals: an e-mail or phone of one person, handed over and charged once."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from app.core import redaction
from app.core.leases import Answer, Claim
from app.core.people import Field, Wish
from app.domain.kinds import Kind, Outcome
from app.domain.subjects import Subject
from workers import finding
from workers.base import Machines, Resolution, job
from workers.finding import Finding


@job(Kind.REVEAL_EMAIL)
def email(claim: Claim, machines: Machines) -> Resolution:
    """Resolve `reveal.email`."""
    return _reveal(claim, machines, Field.EMAIL)


@job(Kind.REVEAL_PHONE)
def phone(claim: Claim, machines: Machines) -> Resolution:
    """Resolve `reveal.phone`."""
    return _reveal(claim, machines, Field.PHONE)


def _reveal(claim: Claim, machines: Machines, field: Field) -> Resolution:
    subject = Subject(**claim.request["subject"])
    price = machines.settings.prices[claim.kind]
    found = finding.find_out(claim, machines, subject, Wish.of(field, claim.request), price=price)
    return lambda session, now: _settle(session, claim, found, price, now)


def _settle(session: Session, claim: Claim, found: Finding, price: int, now: datetime) -> Answer:
    kept = finding.keep(session, claim, found, price=price, now=now)
    handed = kept.handed
    if kept.suppressed:
        redaction.forget_subject(session, claim.job_id, claim.request)
        return Answer(outcome=Outcome.SUPPRESSED, trace=found.catch.trace)
    if handed is None:
        return Answer(outcome=Outcome.NOT_FOUND, trace=found.catch.trace)
    return Answer(
        outcome=Outcome.FOUND,
        result={"contact_id": handed.contact_id, f"{found.wish.field.value}s": handed.values},
        charge=handed.charge,
        already_owned=handed.already_owned,
        trace=found.catch.trace,
    )
