"""The company's own website as a provider: the people whom it names, with the page and the day.

It is off until `WEBSITE_CONTACT` names whom the owner of a site can ask. Everybody whom a site names beside a
role with an address is stored, and the addresses teach the pattern of the company; the response is about one
person. Of the names without an address, one in ten is a heading, so they only answer a request for that name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from app.domain.email_patterns.patterns import PatternStat, form_of
from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus, FoundContact, FoundPhone
from app.domain.kinds import TraceOutcome
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.names.names import PersonName, parse_name
from app.domain.records.similarity import similarity
from app.domain.records.similarity.name_similarity import name_score
from app.settings import ProviderSettings
from workers.providers import parsing
from workers.providers.base import FREE, Pending, ProviderField, ProviderRequest, ProviderResponse

if TYPE_CHECKING:
    from workers.providers.website.reader import PersonOnSite, WebsiteReader, WebsiteReading

SITE_DAYS = 30.0
"""Days for which a reading of a site is valid."""
SPARE_SECONDS = 1.0
"""Time of a call that is left for what follows the reading."""
AGAIN_SECONDS = 3.0


class Website:
    """The pages of the company that it shows to everybody; free, and read once in `WEBSITE_DAYS` days."""

    name: ClassVar[str] = "website"
    fields: ClassVar[frozenset[ProviderField]] = frozenset(
        {ProviderField.EMAIL, ProviderField.PHONE, ProviderField.PERSON}
    )
    guesses: ClassVar[bool] = False
    takes_member_ids: ClassVar[bool] = False

    def __init__(self, access: ProviderSettings) -> None:
        self._contact = access.contact
        self._gateway = access.base_url
        days = SITE_DAYS if access.site_days is None else access.site_days
        self.terms = replace(FREE, rates=access.rates or (), site_days=days)

    @cached_property
    def _reader(self) -> WebsiteReader:
        from workers.providers.website.reader import WebsiteReader  # noqa: PLC0415 -- 0.1 s, and it is off by default

        return WebsiteReader(self._contact, gateway=self._gateway)

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        """Return unconfigured without a contact, ineligible without a name and a company's domain."""
        if not self._contact:
            return TraceOutcome.UNCONFIGURED
        subject = request.subject
        is_wanted = request.field is not ProviderField.EMAIL or request.wants("work")
        is_eligible = request.field in self.fields and is_wanted and subject.name and subject.company_domain
        return None if is_eligible else TraceOutcome.INELIGIBLE

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Read the company's website, and return what it says of the person and of the others."""
        domain = str(request.subject.company_domain)
        known = {page.url: page for page in request.known_pages}
        reading = self._reader.read(domain, seconds - SPARE_SECONDS, known)
        if reading.reason == "busy":
            return Pending("busy", reading.retry_after or AGAIN_SECONDS)
        people = [(seen, _found(seen, domain)) for seen in reading.people]
        named = [found for _, found in people if found is not None]
        response = ProviderResponse(
            outcome=TraceOutcome.MISS,
            reason=reading.reason or "not_named",
            site_people=tuple(contact for contact in named if contact.emails),
            pages=reading.kept_pages,
            role_addresses=reading.kept_role_addresses,
            patterns=_patterns(reading),
        )
        return _about(request, named, response)


def _about(
    request: ProviderRequest, named: Sequence[FoundContact], response: ProviderResponse
) -> ProviderResponse:
    """Return the response with the values of the requested person, if the site names one such person."""
    try:
        wanted = parse_name(str(request.subject.name))
    except InvalidValue:  # a stored name without a letter, or no person's
        return response
    found = _namesakes(named, wanted)
    if len(found) != 1:
        return replace(response, reason="ambiguous_name") if found else response
    contact = found[0]
    has_value = {
        ProviderField.EMAIL: bool(contact.emails),
        ProviderField.PHONE: bool(contact.phones),
        ProviderField.PERSON: True,
    }[request.field]
    if not has_value:
        return replace(response, reason="no_value")
    return replace(
        response,
        outcome=TraceOutcome.HIT,
        reason=None,
        contact=replace(contact, emails=(), phones=()),
        emails=contact.emails if request.field is ProviderField.EMAIL else (),
        phones=contact.phones if request.field is ProviderField.PHONE else (),
    )


def _namesakes(named: Sequence[FoundContact], wanted: PersonName) -> list[FoundContact]:
    """Return the people of the name, else those who would match it in a lookup: not Möller for Müller."""
    keys = [person_key(str(contact.full_name)) for contact in named]
    same = [contact for contact, key in zip(named, keys, strict=True) if key == person_key(wanted.full)]
    return same or [contact for contact in named if _is_match(wanted, parse_name(str(contact.full_name)))]


def _is_match(wanted: PersonName, name: PersonName) -> bool:
    """Return whether the only person of this name at the company would match in a lookup."""
    score = name_score(wanted, name)
    confidence = similarity.confidence(matched_on=("company_domain",), name=score, company=None)
    return similarity.decide([confidence]) == "matched"


def _found(seen: PersonOnSite, domain: str) -> FoundContact | None:
    """Return the person with values of which this page is the source.

    A profile that the page links to is left out: a site could claim somebody else's.
    """
    source = replace(parsing.source_of(Website.name), url=seen.url)
    person = seen.person
    company = parsing.found_company(source, domain=domain)
    contact = parsing.found_contact(
        source,
        full_name=person.full_name,
        title=person.title,
        company=company,
    )
    if contact is None:
        return None
    email = parsing.found_email(person.email, EmailStatus.UNKNOWN, source, kind="work")
    phone = FoundPhone(e164=person.phone, source=source, type="work") if person.phone else None
    return replace(contact, emails=(email,) if email else (), phones=(phone,) if phone else ())


def _patterns(reading: WebsiteReading) -> tuple[PatternStat, ...]:
    """Count the forms of the addresses of people; one that is not written from the name is not a person's."""
    forms = (
        form_of(seen.person.email, parse_name(seen.person.full_name))
        for seen in reading.people
        if seen.person.email
    )
    counts = Counter(form for form in forms if form)
    return tuple(PatternStat(form, count) for form, count in counts.items())
