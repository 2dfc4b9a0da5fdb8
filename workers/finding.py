"""Finding out one field of one person: what is owned, what is known and fresh, then the waterfall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from app.core import contacts, emails, intake, people, phones, suppressions
from app.core.contacts import Contact
from app.core.leases import Claim
from app.core.people import Handed, Known, Wish
from app.core.suppressions import Identifier
from app.domain.emails import email_kind
from app.domain.errors import InsufficientCredits
from app.domain.findings import (
    EmailStatus,
    FoundCompany,
    FoundContact,
    FoundEmail,
    FoundPhone,
    Source,
    SourceKind,
)
from app.domain.subjects import Subject
from app.infra import database_clock
from workers import ordering, waterfall
from workers.base import Machines, RunLater
from workers.desk import DatabaseDesk
from workers.providers.base import Ask, Field
from workers.providers.registry import in_order
from workers.waterfall import Catch, GoodEnough

LONGEST_LINE = 60.0
"""Seconds for which a job waits in line for providers that are asked as often as they may be."""
SUPPRESSED_BY_PROVIDER = "a provider said so, or gave a suppressed value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found out about a field, before anything is written or paid."""

    wish: Wish
    known: Known
    catch: Catch

    @property
    def suppressed(self) -> bool:
        """Tell whether the person must be left alone."""
        return self.known.suppressed or self.catch.suppressed

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to hand over, and so nothing to pay."""
        return not (self.known.stored or _fulfils(self.wish, self.catch.emails, self.catch.phones))


def find_out(
    claim: Claim, machines: Machines, subject: Subject, wish: Wish, *, price: int, item: int | None = None
) -> Finding:
    """Look at what is stored, and ask the providers if that does not do; `item` is an enrichment's.

    Raises:
        RunLater: nobody could answer now, or somebody needs time.
        InsufficientCredits: the job does not hold what this would cost; nobody was asked.

    """
    with machines.database.reading() as session:
        known = people.known(
            session,
            claim.workspace_id,
            subject,
            wish,
            usual_age=machines.settings.usual_age,
            now=database_clock.value(session),
        )
    if not known.suppressed and not known.owned and price > claim.budget:
        raise InsufficientCredits(required=price, balance=claim.budget)
    if known.suppressed or known.good:
        return Finding(wish=wish, known=known, catch=Catch())
    ask = Ask(
        field=Field(wish.field.value),
        subject=known.subject,
        types=wish.types,
        patterns=known.patterns,
        country=known.country,
        attempt=claim.attempts,
        max_age=wish.max_age,
    )
    catch = _with_what_is_stored(claim, machines, ask, known, wish, item)
    with machines.database.reading() as session:
        if suppressions.suppressed(session, _named_by(catch)):
            catch = replace(catch, suppressed=True)
    return Finding(wish=wish, known=known, catch=catch)


def _with_what_is_stored(  # noqa: PLR0917 -- what `find_out` was given
    claim: Claim, machines: Machines, ask: Ask, known: Known, wish: Wish, item: int | None
) -> Catch:
    """Have stored addresses verified before others are bought; ask the providers if that does not do.

    Raises:
        RunLater: nobody could answer now, or somebody needs time.
        LeaseLost: the job is no longer this worker's.

    """
    stored = waterfall.verify_stored(
        ask,
        known.unverified,
        desk=DatabaseDesk(machines, claim, item),
        verifiers=in_order(machines.settings, Field.VERIFICATION, ask.country),
    )
    if stored.suppressed or _fulfils(wish, stored.emails, ()):
        return stored
    try:
        told = ask_around(claim, machines, ask, _wanted(wish), item=item)
    except RunLater as later:
        later.trace = stored.trace + later.trace
        raise
    if stored.waiting is not None and not _fulfils(wish, told.emails, ()):
        raise RunLater(stored.trace + told.trace, after=stored.waiting, waiting=True)
    return replace(told, emails=stored.emails + told.emails, trace=stored.trace + told.trace)


def ask_around(
    claim: Claim, machines: Machines, ask: Ask, good_enough: GoodEnough, *, item: int | None = None
) -> Catch:
    """Send the question down the waterfall that the settings lay for its field and country.

    Raises:
        RunLater: nobody could answer now, or somebody needs time.
        LeaseLost: the job is no longer this worker's.

    """
    catch = waterfall.run(
        ask,
        ordering.asked(machines.database, machines.settings, ask.field, ask.country),
        good_enough,
        desk=DatabaseDesk(machines, claim, item),
        verifiers=in_order(machines.settings, Field.VERIFICATION, ask.country),
    )
    if catch.waiting is not None:
        raise RunLater(catch.trace, after=catch.waiting, waiting=True)
    if catch.failed:
        in_line = catch.unasked and (catch.retry_after or 0.0) <= LONGEST_LINE
        raise RunLater(catch.trace, after=catch.retry_after, waiting=in_line)
    return catch


def keep(session: Session, claim: Claim, finding: Finding, *, price: int, now: datetime) -> Handed | None:
    """Store what was found and hand over what fulfils the wish; None if nothing does.

    Raises:
        RunLater: what the workspace owned was refunded meanwhile, and the job holds no credits for it.

    """
    if finding.catch.suppressed:
        names = people.identifiers(session, claim.workspace_id, finding.known)
        suppressions.suppress(session, names, reason=SUPPRESSED_BY_PROVIDER, now=now)
    if finding.suppressed:
        return None
    if told := _named_by(finding.catch):
        intake.take_turn(session)  # from here on nobody else suppresses or erases whom this is about
        known = people.identifiers(session, claim.workspace_id, finding.known)
        if suppressions.suppressed(session, [*known, *told]):  # since the providers were asked
            return None
    contact = _store(session, finding, now=now)
    if contact is None or finding.is_empty:
        return None
    handed = people.hand_over(
        session,
        workspace_id=claim.workspace_id,
        job_id=claim.job_id,
        contact=contact,
        wish=finding.wish,
        price=price,
        now=now,
    )
    if handed is not None and finding.known.owned and handed.charge > claim.budget:
        raise RunLater(after=0.0, waiting=True)  # refunded meanwhile; it is no longer owned, nor paid for
    return handed


def _named_by(catch: Catch) -> list[Identifier]:
    """Give what the providers' values say who the person is; one may be on the suppression list."""
    return [
        *(Identifier("email", found.email) for found in catch.emails),
        *(Identifier("phone", found.e164) for found in catch.phones),
        *(Identifier("linkedin_url", one.linkedin_url) for one in catch.contacts if one.linkedin_url),
    ]


def _wanted(wish: Wish) -> GoodEnough:
    return lambda reply: _fulfils(wish, reply.emails, reply.phones)


def _fulfils(wish: Wish, emails: Sequence[FoundEmail], phones: Sequence[FoundPhone]) -> bool:
    values: tuple[FoundEmail | FoundPhone, ...] = (*emails, *phones)
    return any(wish.accepts(value.type, str(value.status)) for value in values)


def _store(session: Session, finding: Finding, *, now: datetime) -> Contact | None:
    """Keep the values with the person they belong to; give the person, None if there is nobody."""
    contact, catch = finding.known.contact, finding.catch
    if contact is None:
        if not (catch.emails or catch.phones):
            return None
        found = _as_found_contact(finding.known.subject, (catch.emails or catch.phones)[0].source)
        contact = contacts.keep(session, found, now=now)
    for email in catch.emails:
        emails.keep(session, contact.id, email, now=now)
    for phone in catch.phones:
        phones.keep(session, contact.id, phone, now=now)
    return contact


def _own_email(subject: Subject, source: Source) -> tuple[FoundEmail, ...]:
    """Give the address by which the caller named the person, and the provider knew them."""
    if subject.email is None:
        return ()
    kind = email_kind(subject.email)
    return (FoundEmail(email=subject.email, type=kind, status=EmailStatus.UNKNOWN, source=source),)


def _as_found_contact(subject: Subject, source: Source) -> FoundContact:
    """Write down the caller's words about somebody a provider knows; they count as the provider's."""
    company = None
    if subject.company_domain or subject.company_name:
        company = FoundCompany(source=source, domain=subject.company_domain, name=subject.company_name)
    return FoundContact(
        source=Source(source.provider, SourceKind.PROVIDER, source.at),
        full_name=subject.name,
        first_name=subject.first_name,
        last_name=subject.last_name,
        linkedin_url=subject.linkedin_url,
        company=company,
        emails=_own_email(subject, source),
        phones=(FoundPhone(e164=subject.phone, source=source),) if subject.phone else (),
    )
