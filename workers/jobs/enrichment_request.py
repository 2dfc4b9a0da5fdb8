"""Enrichments: item after item, each handed in, paid and shown as soon as it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from app.core import cards, companies, contacts, jobs, leases, matches
from app.core.companies import Company
from app.core.contacts import Contact
from app.core.enrichments import PAID, WISHES
from app.core.jobs import JobItem
from app.core.leases import Answer, Claim
from app.core.people import Handed
from app.domain.errors import InsufficientCredits, Problem, ProviderFailed
from app.domain.findings import FoundCompany, Source, SourceKind
from app.domain.kinds import Kind, Outcome
from app.domain.subjects import Subject
from app.infra import clock
from workers import finding, waterfall
from workers.base import Machines, Resolution, RunLater, job
from workers.finding import Finding
from workers.providers.base import Ask, Field, Reply
from workers.providers.registry import in_order
from workers.waterfall import Catch

_SELF = Source("request", SourceKind.PROVIDER, datetime.min.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out about one item, before it is written: who it is, and each paid field's price."""

    profile: Catch
    findings: list[tuple[Finding, int]] = field(default_factory=list)
    unaffordable: list[InsufficientCredits] = field(default_factory=list)


@job(Kind.ENRICHMENT_REQUEST)
def enrichment_request(claim: Claim, machines: Machines) -> Resolution:
    """Resolve `enrichment_request`: every item that an earlier try has not finished."""
    with machines.database.reading() as session:
        items = [item for item in jobs.items(session, claim.job_id) if not _is_done(item)]
    failed: list[RunLater] = []
    for item in items:
        try:
            claim = _hand_in(claim, machines, item)
        except RunLater as later:
            failed.append(later)
    if failed:
        trace = tuple(line for later in failed for line in later.trace)
        raise RunLater(trace, after=max((later.after for later in failed if later.after), default=None))
    return lambda session, _now: Answer(outcome=_outcome(jobs.items(session, claim.job_id)))


def _hand_in(claim: Claim, machines: Machines, item: JobItem) -> Claim:
    """Do one item and write what came of it; give the claim with what it has been charged by now.

    Raises:
        RunLater: nobody could answer, and there are tries left.

    """
    done = JobItem(job_id=item.job_id, index=item.index, request=item.request, charged=0)
    found: Found | None = None
    try:
        if "error" in item.request:
            done.error = item.request["error"]
        else:
            found = _find_out(claim, machines, item.request)
    except RunLater:
        if claim.attempts < machines.settings.max_attempts:
            raise
        done.error = ProviderFailed().as_dict()
    except Problem as problem:
        done.error = problem.as_dict()
    with machines.database.transaction() as session:
        now = clock.now()
        if found is not None:
            _write(session, claim, done, found, now)
        lease_until = now + timedelta(seconds=machines.settings.lease_seconds)
        leases.keep_item(session, claim, done, charge=done.charged, lease_until=lease_until)
    return replace(claim, charged=claim.charged + done.charged)


def _find_out(claim: Claim, machines: Machines, request: dict[str, Any]) -> Found:
    """Ask about one item, without writing anything.

    Raises:
        RunLater: nobody could answer now.
        LeaseLost: the job is no longer this worker's.

    """
    if "company" in request:
        return Found(profile=_ask_about_company(claim, machines, request["company"]))
    subject = Subject(**request["subject"])
    found = Found(profile=_ask_about_person(claim, machines, subject))
    for name, wish in WISHES.items():
        if name.value in claim.request["fields"]:
            _renew(claim, machines)
            price = machines.settings.prices[PAID[name]]
            try:
                finding_ = finding.find_out(claim, machines, subject, wish, price=price)
            except InsufficientCredits as problem:
                found.unaffordable.append(problem)
                continue
            found.findings.append((finding_, price))
            if not finding_.known.owned:
                claim = replace(claim, charged=claim.charged + price)
    return found


def _ask_about_person(claim: Claim, machines: Machines, subject: Subject) -> Catch:
    """Ask who somebody is whom nobody here knows yet."""
    with machines.database.reading() as session:
        stranger = matches.find(session, subject).contact is None
    if not stranger or not {"profile", "company"} & set(claim.request["fields"]):
        return Catch()
    ask = Ask(field=Field.PERSON, subject=subject, attempt=claim.attempts)
    return _run(ask, machines, lambda reply: reply.contact is not None)


def _ask_about_company(claim: Claim, machines: Machines, named: dict[str, str]) -> Catch:
    with machines.database.reading() as session:
        if companies.find(session, FoundCompany(source=_SELF, **named)) is not None:
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


def _write(session: Session, claim: Claim, done: JobItem, found: Found, now: datetime) -> None:
    """Store what was found, hand over what is paid for, and fill in the item."""
    if found.profile.contact is not None:
        contacts.keep(session, found.profile.contact, now=now)
    if found.profile.company is not None:
        companies.keep(session, found.profile.company, now=now)
    if "company" in done.request:
        company = companies.find(session, FoundCompany(source=_SELF, **done.request["company"]))
        _fill_in(done, {"company"}, contact=None, company=company, handed={})
        return
    handed: dict[str, Handed] = {}
    for finding_, price in found.findings:
        if finding_.suppressed:
            done.outcome = Outcome.SUPPRESSED.value
            finding.keep(session, claim, finding_, price=0, now=now)
            return
        given = finding.keep(session, claim, finding_, price=price, now=now)
        if given is not None:
            handed[finding_.wish.field.value] = given
    contact = matches.find(session, Subject(**done.request["subject"])).contact
    company = companies.get(session, contact.company_id) if contact and contact.company_id else None
    _fill_in(done, set(claim.request["fields"]), contact=contact, company=company, handed=handed)
    if found.unaffordable:
        done.error = found.unaffordable[0].as_dict()


def _fill_in(
    done: JobItem,
    wanted: set[str],
    *,
    contact: Contact | None,
    company: Company | None,
    handed: dict[str, Handed],
) -> None:
    shown = {
        "contact": cards.contact_card(contact) if contact and "profile" in wanted else None,
        "company": cards.company_card(company) if company and "company" in wanted else None,
        "emails": handed["email"].values if "email" in handed else [],
        "phones": handed["phone"].values if "phone" in handed else [],
    }
    got = {name for name in wanted if shown.get({"profile": "contact"}.get(name, name)) or name in handed}
    done.result = shown
    done.outcome = (Outcome.FOUND if got == wanted else Outcome.PARTIAL if got else Outcome.NOT_FOUND).value
    done.charged = sum(one.charge for one in handed.values())


def _is_done(item: JobItem) -> bool:
    return item.outcome is not None or item.error is not None


def _outcome(items: list[JobItem]) -> Outcome:
    """Sum up: all found, some, or none; suppressed only if that is all there is."""
    outcomes = {item.outcome for item in items}
    if outcomes == {Outcome.FOUND.value}:
        return Outcome.FOUND
    if outcomes & {Outcome.FOUND.value, Outcome.PARTIAL.value}:
        return Outcome.PARTIAL
    return Outcome.SUPPRESSED if outcomes == {Outcome.SUPPRESSED.value} else Outcome.NOT_FOUND
