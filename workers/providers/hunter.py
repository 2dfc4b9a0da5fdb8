"""Hunter, API v2: https://hunter.io/api-documentation/v2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

from app.domain.countries import parse_location
from app.domain.findings import EmailStatus, FoundCompany, FoundContact, FoundEmail
from app.domain.kinds import TraceOutcome
from app.domain.rates import Rate
from app.domain.subjects import Subject
from app.infra import clock
from workers.providers import reading
from workers.providers.base import Ask, Check, Field, Pending, Reply, Terms, UnexpectedAnswer
from workers.providers.web import Answer, Vendor

PROFILES = "https://www.linkedin.com/in/"
COMPANIES = "https://www.linkedin.com/company/"
SHORTEST_DURATION, LONGEST_DURATION = 3, 20
LONGEST_PAUSE = 30.0
_STATUSES = {
    "valid": EmailStatus.VALID,
    "accept_all": EmailStatus.ACCEPT_ALL,
    "invalid": EmailStatus.INVALID,
    "webmail": EmailStatus.RISKY,
    "disposable": EmailStatus.RISKY,
}
_VERIFIED = frozenset({"valid", "accept_all", "invalid"})
"""Whose mailbox was looked at; these are also the ones a verification is charged for."""
_TOO_FAST = ("per second", "per minute", "slow down", "rate limit")
_SHUT_OUT = ("restricted", "blocked", "suspended")
_IN_PROGRESS, _RETRY_LATER = 202, 222
_BAD_REQUEST, _FORBIDDEN, _TOO_MANY = 400, 403, 429
_OF_A_REFUSED_VALUE = {
    "invalid_domain": TraceOutcome.MISS,  # it has no mail server, or its owner wants no search
    "invalid_email": TraceOutcome.MISS,
    "invalid_first_name": TraceOutcome.INELIGIBLE,
    "invalid_last_name": TraceOutcome.INELIGIBLE,
    "invalid_full_name": TraceOutcome.INELIGIBLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainSearch:
    """What Hunter knows of a domain: `reply` has the outcome, the company and the cost.

    `contacts` are people with their addresses; `pattern` is how those are built, such as `{first}.{last}`.
    """

    reply: Reply
    contacts: tuple[FoundContact, ...] = ()
    pattern: str | None = None


class Hunter(Vendor):
    """E-mails by name and company, their verification, people and companies.

    Prices are the higher of its two kinds of plans, where enrichments and verifications cost a credit each
    (https://help.hunter.io/en/articles/1911617); nothing is charged for what is not found.
    """

    name: ClassVar[str] = "hunter"
    base_url: ClassVar[str] = "https://api.hunter.io/v2"
    fields: ClassVar[frozenset[Field]] = frozenset(
        {Field.EMAIL, Field.PERSON, Field.COMPANY, Field.VERIFICATION}
    )
    usual_terms: ClassVar[Terms] = Terms(
        rates=(Rate(10, 1), Rate(300, 60)),  # the verifier's; everything else may go half as fast again
        prices=MappingProxyType({Field.EMAIL: 1, Field.PERSON: 1, Field.COMPANY: 1, Field.VERIFICATION: 1}),
        patience=120,
    )

    def credentials(self, key: str) -> dict[str, str]:
        """Give the header; the API would take the key as a query parameter, too."""
        return {"X-API-KEY": key}

    def takes(self, ask: Ask) -> bool:
        """Tell whether there is a name and a company, or a profile, an address, a domain."""
        subject = ask.subject
        match ask.field:
            case Field.EMAIL:
                company = subject.company_domain or subject.company_name
                wants_work = not ask.types or "work" in ask.types
                return wants_work and bool(subject.linkedin_url or (subject.name and company))
            case Field.PERSON:
                return bool(subject.linkedin_url or subject.email)
            case Field.COMPANY:
                return bool(subject.company_domain)
            case Field.VERIFICATION:
                return bool(subject.email)
            case _:
                return False

    def ask(self, ask: Ask, *, seconds: float) -> Reply | Pending:
        """Ask for one thing; a verification that is not done yet is asked for again in the same words."""
        answer = self.send("GET", _PATHS[ask.field], params=_parameters(ask, seconds), seconds=seconds)
        if answer.status == _IN_PROGRESS:
            return _pending(ask.ticket)
        if not answer.is_ok or answer.status == _RETRY_LATER:
            return self._refused(answer)
        return _READERS[ask.field](ask, _data(answer))

    def domain_search(self, domain: str, *, seconds: float, limit: int = 10) -> DomainSearch:
        """Find people at a domain; every ten addresses cost a credit, and `limit` is at most 100.

        Raises:
            ProviderTimeout: it took longer than `seconds`.
            UnexpectedAnswer: it makes no sense.

        """
        answer = self.send(
            "GET",
            "/domain-search",
            params={"domain": domain, "limit": limit, "type": "personal"},
            seconds=seconds,
        )
        if not answer.is_ok:
            return DomainSearch(reply=self._refused(answer))
        data = _data(answer)
        company = reading.found_company(
            reading.said_by(self.name),
            name=reading.text(data, "organization"),
            domain=reading.text(data, "domain") or domain,
            country=reading.text(data, "country"),
        )
        lines = reading.records(data, "emails")
        contacts = tuple(filter(None, (_colleague(line, company) for line in lines)))
        outcome = TraceOutcome.HIT if contacts else TraceOutcome.MISS
        cost = -(-len(lines) // 10)
        reply = Reply(outcome=outcome, company=company if lines else None, cost=cost)
        return DomainSearch(reply=reply, contacts=contacts, pattern=reading.text(data, "pattern"))

    def check(self, *, seconds: float) -> Check:
        """Ask for the account, which is free."""
        answer = self.send("GET", "/account", seconds=seconds)
        if not answer.is_ok:
            outcome = self._refused(answer).outcome
            return Check(outcome=TraceOutcome.ERROR if outcome is TraceOutcome.MISS else outcome)
        pools = reading.record(_data(answer), "requests")
        return self.checked(
            answer, {pool: left for pool in pools if (left := _left(pools, pool)) is not None}
        )

    def _refused(self, answer: Answer) -> Reply:
        """Read an answer that is none: Hunter says 403 for too fast and 429 for all used up."""
        code, details = _error(answer)
        reply = self.standard(answer)
        outcome = reply.outcome
        if answer.body is None:
            return reply
        if code == "claimed_email":
            outcome = TraceOutcome.SUPPRESSED
        elif answer.status == _BAD_REQUEST:
            outcome = _OF_A_REFUSED_VALUE.get(code, TraceOutcome.ERROR)
        elif answer.status == _TOO_MANY:
            too_fast = answer.retry_after is not None or any(word in details for word in _TOO_FAST)
            outcome = TraceOutcome.RATE_LIMITED if too_fast else TraceOutcome.NO_CREDITS
        elif answer.status == _FORBIDDEN:
            shut_out = any(word in details for word in _SHUT_OUT)
            outcome = TraceOutcome.UNCONFIGURED if shut_out else TraceOutcome.RATE_LIMITED
        return Reply(outcome=outcome, retry_after=reply.retry_after)


def _parameters(ask: Ask, seconds: float) -> dict[str, Any]:
    subject = ask.subject
    handle = subject.linkedin_url.removeprefix(PROFILES) if subject.linkedin_url else None
    match ask.field:
        case Field.COMPANY:
            return {"domain": subject.company_domain}
        case Field.PERSON:
            return {"linkedin_handle": handle} if handle else {"email": subject.email}
        case Field.VERIFICATION:
            return {"email": subject.email}
        case _:
            return _finder(subject, handle) | {"max_duration": _duration(seconds)}


def _finder(subject: Subject, handle: str | None) -> dict[str, Any]:
    """Name the person as surely as can be: by name and domain, by profile, by name and company."""
    if handle and not (subject.name and subject.company_domain):
        return {"linkedin_handle": handle}
    if subject.company_domain:
        company = {"domain": subject.company_domain}
    else:
        company = {"company": str(subject.company_name)}
    if subject.first_name and subject.last_name:
        return {"first_name": subject.first_name, "last_name": subject.last_name, **company}
    return {"full_name": subject.name, **company}


def _duration(seconds: float) -> int:
    """Give the seconds that Hunter may take, so that its answer comes before nobody waits for it."""
    return min(max(int(seconds) - 1, SHORTEST_DURATION), LONGEST_DURATION)


def _pending(ticket: str | None) -> Pending:
    """Wait 2, 4, 8 … seconds, 30 at most; the ticket counts how often it was not done."""
    times = int(ticket) if ticket and ticket.isdecimal() else 0
    return Pending(str(times + 1), min(2.0 ** min(times + 1, 10), LONGEST_PAUSE))


def _data(answer: Answer) -> dict[str, Any]:
    """Give what is asked for; empty if it is null.

    Raises:
        UnexpectedAnswer: there is no place for it.

    """
    if "data" not in answer.object:
        raise UnexpectedAnswer("data")
    return reading.record(answer.object, "data")


def _error(answer: Answer) -> tuple[str, str]:
    """Give id and details of the first error, in lower case; it is documented in a list and without one."""
    said = (answer.body or {}).get("errors")
    first = said[0] if isinstance(said, list) and said else said
    if not isinstance(first, dict):
        return "", ""
    return (reading.text(first, "id") or "").lower(), (reading.text(first, "details") or "").lower()


def _email(ask: Ask, data: Mapping[str, Any]) -> Reply:
    found = _address(reading.text(data, "email"), data, reading.figure(data, "score"))
    emails = reading.of_type([found], ("work",))
    cost = 1 if found else 0
    if not emails:
        return Reply(outcome=TraceOutcome.MISS, cost=cost)
    source = reading.said_by(Hunter.name)
    contact = reading.found_contact(
        source,
        first_name=reading.text(data, "first_name"),
        last_name=reading.text(data, "last_name"),
        title=reading.text(data, "position"),
        linkedin_url=reading.text(data, "linkedin_url"),
        company=reading.found_company(
            source, name=reading.text(data, "company"), domain=reading.text(data, "domain")
        ),
    )
    if not reading.records(data, "sources"):  # made of the question's words, which come back
        contact = reading.without_echo(contact, ask)
    return Reply(outcome=TraceOutcome.HIT, emails=emails, contact=contact, cost=cost)


def _address(said: str | None, line: Mapping[str, Any], score: float | None) -> FoundEmail | None:
    """Put an address together with the verification in the same line, if it is not older than a month."""
    verification = reading.record(line, "verification")
    word = (reading.text(verification, "status") or "").lower()
    now = clock.now()
    at = min(reading.time(verification, "date") or now, now)
    return reading.found_email(
        said,
        _STATUSES.get(word, EmailStatus.UNKNOWN),
        reading.said_by(Hunter.name),
        reasons=[word] if word in {"webmail", "disposable"} else [],
        confidence=_share(score),
        verified_at=at if word in _VERIFIED else None,
    )


def _verification(ask: Ask, data: Mapping[str, Any]) -> Reply:
    """Read a verdict; one that says it does not know is a miss, so that somebody else may tell."""
    word = (reading.text(data, "status") or "").lower()
    if not word:
        raise UnexpectedAnswer("status")
    source = reading.said_by(Hunter.name)
    told = {"disposable": data.get("disposable"), "webmail": data.get("webmail")}
    reasons = [reason for reason, applies in told.items() if applies is True or reason == word]
    if data.get("mx_records") is False:
        reasons.append("no_mx")
    verdict = reading.found_email(
        ask.subject.email,
        _STATUSES.get(word, EmailStatus.UNKNOWN),
        source,
        reasons=reasons,
        confidence=_share(reading.figure(data, "score")),
        verified_at=source.at if word in _VERIFIED else None,
    )
    if verdict is None or verdict.status is EmailStatus.UNKNOWN:
        return Reply(outcome=TraceOutcome.MISS)
    return Reply(outcome=TraceOutcome.HIT, emails=(verdict,), cost=1 if word in _VERIFIED else 0)


def _person(_ask: Ask, data: Mapping[str, Any]) -> Reply:
    source = reading.said_by(Hunter.name)
    name, job = reading.record(data, "name"), reading.record(data, "employment")
    handle = reading.text(reading.record(data, "linkedin"), "handle")
    city, country = _place(data)
    contact = reading.found_contact(
        source,
        full_name=reading.text(name, "fullName"),
        first_name=reading.text(name, "givenName"),
        last_name=reading.text(name, "familyName"),
        title=reading.text(job, "title"),
        level=reading.text(job, "seniority"),
        area=reading.text(job, "role"),
        linkedin_url=PROFILES + handle if handle else None,
        city=city,
        country=country,
        company=reading.found_company(
            source, name=reading.text(job, "name"), domain=reading.text(job, "domain")
        ),
    )
    if contact is None:
        return Reply(outcome=TraceOutcome.MISS)
    return Reply(outcome=TraceOutcome.HIT, contact=contact, cost=1)


def _company(_ask: Ask, data: Mapping[str, Any]) -> Reply:
    metrics = reading.record(data, "metrics")
    handle = reading.text(reading.record(data, "linkedin"), "handle")
    city, country = _place(data)
    company = reading.found_company(
        reading.said_by(Hunter.name),
        name=reading.text(data, "name"),
        domain=reading.text(data, "domain"),
        linkedin_url=COMPANIES + handle.removeprefix("company/") if handle else None,
        industry=reading.text(reading.record(data, "category"), "industry"),
        employees=reading.text(metrics, "employeesRange") or _employees(metrics),
        city=city,
        country=country,
    )
    if company is None:
        return Reply(outcome=TraceOutcome.MISS)
    return Reply(outcome=TraceOutcome.HIT, company=company, cost=1)


def _employees(metrics: Mapping[str, Any]) -> str | float | None:
    """Give the employees, a range such as 11-50 in Hunter's own format and a number in Clearbit's."""
    return reading.text(metrics, "employees") or reading.figure(metrics, "employees")


def _colleague(line: Mapping[str, Any], company: FoundCompany | None) -> FoundContact | None:
    """Read one line of a domain search; None if it names nobody."""
    found = _address(reading.text(line, "value"), line, reading.figure(line, "confidence"))
    contact = reading.found_contact(
        reading.said_by(Hunter.name),
        first_name=reading.text(line, "first_name"),
        last_name=reading.text(line, "last_name"),
        title=reading.text(line, "position"),
        level=reading.text(line, "seniority"),
        area=reading.text(line, "department"),
        linkedin_url=reading.text(line, "linkedin"),
        company=company,
    )
    is_person = reading.text(line, "type") != "generic"
    return replace(contact, emails=(found,)) if contact and found and is_person else None


def _place(data: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Give the city and the country, out of `geo` or else out of the line of `location`."""
    geo = reading.record(data, "geo")
    city, country = (
        reading.text(geo, "city"),
        reading.text(geo, "countryCode") or reading.text(geo, "country"),
    )
    if city or country:
        return city, country
    return parse_location(reading.text(data, "location") or "")


def _share(percent: float | None) -> float | None:
    return None if percent is None else min(max(percent / 100, 0.0), 1.0)


def _left(pools: Mapping[str, Any], pool: str) -> float | None:
    """Give what a pool has left: `available` are those of the plan, `used` ones among them."""
    one = pools.get(pool)
    if not isinstance(one, dict):
        return None
    available, used = reading.figure(one, "available"), reading.figure(one, "used")
    return None if available is None else max(available - (used or 0), 0.0)


_PATHS = {
    Field.EMAIL: "/email-finder",
    Field.PERSON: "/people/find",
    Field.COMPANY: "/companies/find",
    Field.VERIFICATION: "/email-verifier",
}
_READERS = {
    Field.EMAIL: _email,
    Field.PERSON: _person,
    Field.COMPANY: _company,
    Field.VERIFICATION: _verification,
}
