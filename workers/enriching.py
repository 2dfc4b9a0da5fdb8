"""Enriching one item: who or what it is, and each paid field of it; first found out, then written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.core import cards, companies, contacts, leases, matches, people, suppressions
from app.core.companies import Company
from app.core.contacts import Contact
from app.core.enrichments import PAID, WISHES
from app.core.holdings import spoken
from app.core.jobs import JobItem
from app.core.leases import Claim
from app.core.people import Handed
from app.domain.errors import InsufficientCredits
from app.domain.findings import FoundCompany, Source, SourceKind
from app.domain.kinds import Outcome
from app.domain.subjects import Subject
from app.infra import clock
from workers import finding, waterfall
from workers.base import Machines, RunLater
from workers.finding import SUPPRESSED_BY_PROVIDER, Finding
from workers.providers.base import Ask, Field, Reply
from workers.providers.registry import in_order
from workers.waterfall import Catch

RAN_OUT = (
    "The workspace's credits or max_credits had run out when it was this item's turn. "
    "Ask for it again in a new request, with a new Idempotency-Key, when there are more."
)
_CALLER = Source("caller", SourceKind.PROVIDER, datetime.min.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found out about an item: who it is, and its paid fields with their prices."""

    profile: Catch = field(default_factory=Catch)
    findings: tuple[tuple[Finding, int], ...] = ()
    unaffordable: InsufficientCredits | None = None
    hidden: bool = False

    @property
    def suppressed(self) -> bool:
        """Tell whether the person must be left alone."""
        return self.hidden or self.profile.suppressed or any(one.suppressed for one, _price in self.findings)

    @property
    def trace(self) -> list[dict[str, Any]]:
        """Give who was asked about the item."""
        return [*self.profile.trace, *(line for one, _price in self.findings for line in one.catch.trace)]


def find_out(claim: Claim, machines: Machines, request: dict[str, Any]) -> Found:
    """Ask about one item, without writing anything but a longer lease.

    Raises:
        RunLater: nobody could answer now.
        ContactNotFound: the item gives a contact id that does not exist.
        LeaseLost: the job is no longer this worker's.

    """
    if "company" in request:
        return Found(profile=_ask_about_company(claim, machines, request["company"]))
    subject = Subject(**request["subject"])
    with machines.database.reading() as session:
        match, held = people.find(session, claim.workspace_id, subject)
    if held.hides(match.contact, subject):
        return Found(hidden=True)
    found = Found()
    if match.contact is None and {"profile", "company"} & set(claim.request["fields"]):
        ask = Ask(field=Field.PERSON, subject=subject, attempt=claim.attempts)
        found = Found(profile=_run(ask, machines, lambda reply: reply.contact is not None))
    return found if found.suppressed else _paid_fields(claim, machines, subject, found)


def write(session: Session, claim: Claim, item: JobItem, found: Found, *, now: datetime) -> None:
    """Store what was found, hand over what is paid for, and fill in the item."""
    if found.suppressed:
        _leave_alone(session, claim, item, found, now=now)
        return
    if found.profile.contact is not None:
        contacts.keep(session, found.profile.contact, now=now)
    if found.profile.company is not None:
        companies.keep(session, found.profile.company, now=now)
    if "company" in item.request:
        company = companies.find(session, FoundCompany(source=_CALLER, **item.request["company"]))
        _fill_in(item, ["company"], contact=None, company=company, handed={})
        return
    handed = {
        one.wish.field.value: given
        for one, price in found.findings
        if (given := finding.keep(session, claim, one, price=price, now=now)) is not None
    }
    contact = matches.find(session, Subject(**item.request["subject"])).contact
    company = companies.get(session, contact.company_id) if contact and contact.company_id else None
    _fill_in(item, claim.request["fields"], contact=contact, company=company, handed=handed)
    if found.unaffordable is not None:
        item.error = found.unaffordable.as_dict() | {"detail": RAN_OUT}
        if item.outcome == Outcome.NOT_FOUND:  # nobody looked
            item.outcome = None


def _paid_fields(claim: Claim, machines: Machines, subject: Subject, found: Found) -> Found:
    """Find out each paid field that the job can still afford."""
    findings: list[tuple[Finding, int]] = []
    unaffordable = None
    for name, wish in WISHES.items():
        if name.value not in claim.request["fields"]:
            continue
        _renew(claim, machines)
        price = machines.settings.prices[PAID[name]]
        try:
            one = finding.find_out(claim, machines, subject, wish, price=price)
        except InsufficientCredits as problem:
            unaffordable = problem
            continue
        findings.append((one, price))
        if not (one.known.owned or one.is_empty):
            claim = replace(claim, charged=claim.charged + price)
    return replace(found, findings=tuple(findings), unaffordable=unaffordable)


def _ask_about_company(claim: Claim, machines: Machines, named: dict[str, str]) -> Catch:
    with machines.database.reading() as session:
        if companies.find(session, FoundCompany(source=_CALLER, **named)) is not None:
            return Catch()
    subject = Subject(company_domain=named.get("domain"), company_name=named.get("name"))
    ask = Ask(field=Field.COMPANY, subject=subject, attempt=claim.attempts)
    return _run(ask, machines, lambda reply: reply.company is not None)


def _run(ask: Ask, machines: Machines, good_enough: Callable[[Reply], bool]) -> Catch:
    catch = waterfall.run(ask, in_order(machines.settings, ask.field), good_enough)
    if catch.failed:
        raise RunLater(catch.trace, after=catch.retry_after)
    return catch


def _renew(claim: Claim, machines: Machines) -> None:
    with machines.database.transaction() as session:
        lease = timedelta(seconds=machines.settings.lease_seconds)
        leases.renew(session, claim, lease_until=clock.now() + lease)


def _leave_alone(session: Session, claim: Claim, item: JobItem, found: Found, *, now: datetime) -> None:
    """Say no more than that the person is suppressed, and remember it if a provider said so."""
    if found.profile.suppressed:
        names = spoken(Subject(**item.request["subject"]))
        suppressions.suppress(session, names, reason=SUPPRESSED_BY_PROVIDER, now=now)
    for one, _price in found.findings:
        if one.suppressed:
            finding.keep(session, claim, one, price=0, now=now)
    item.outcome = Outcome.SUPPRESSED.value


def _fill_in(
    item: JobItem,
    wanted: Sequence[str],
    *,
    contact: Contact | None,
    company: Company | None,
    handed: dict[str, Handed],
) -> None:
    got = {
        "profile": cards.contact_card(contact) if contact else None,
        "company": cards.company_card(company) if company else None,
        "email": handed["email"].values if "email" in handed else [],
        "phone": handed["phone"].values if "phone" in handed else [],
    }
    item.result = {
        "contact": got["profile"] if "profile" in wanted else None,
        "company": got["company"] if "company" in wanted else None,
        "emails": got["email"],
        "phones": got["phone"],
    }
    missing = [name for name in wanted if not got[name]]
    item.outcome = (
        Outcome.FOUND if not missing else Outcome.PARTIAL if len(missing) < len(wanted) else Outcome.NOT_FOUND
    ).value
    item.charged = sum(one.charge for one in handed.values())
