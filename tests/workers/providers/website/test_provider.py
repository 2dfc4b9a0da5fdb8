from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import web_sites
from web_sites import Sites

from app.domain.email_patterns.patterns import PatternStat
from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.providers.base import Pending, ProviderField, ProviderRequest, ProviderResponse
from workers.providers.website.provider import Website

ADA = Subject(full_name="Ada Lovelace", company_domain="acme.de")
EMAIL = ProviderRequest(field=ProviderField.EMAIL, subject=ADA, types=("work",))
TEAM = """<div><h3>Dr. Ada Lovelace</h3><p>CTO</p><p>a.lovelace@acme.de</p><p>+49 30 901820</p>
<a href="https://www.linkedin.com/in/ada">x</a></div><div><h3>Bob Byron</h3><p>CFO</p></div>
<div><h3>Ann Turing</h3><p>COO</p></div><div><h3>Anne Turing</h3><p>CRO</p></div>"""


@pytest.fixture
def sites() -> Iterator[Sites]:
    with web_sites.serving() as served:
        served.add("/", "<a href=/team>Team</a>")
        served.add("/team", TEAM)
        yield served


def website(sites: Sites, **settings: Any) -> Website:
    return Website(ProviderSettings(contact="ops@example.com", base_url=sites.url, **settings))


def ask(sites: Sites, field: ProviderField, name: str) -> ProviderResponse:
    subject = Subject(full_name=name, company_domain="acme.de")
    reply = website(sites).call(ProviderRequest(field=field, subject=subject), seconds=5.0)
    assert isinstance(reply, ProviderResponse)
    return reply


def test_without_a_contact_it_is_off() -> None:
    assert Website(ProviderSettings()).unavailability(EMAIL) is TraceOutcome.UNCONFIGURED


@pytest.mark.parametrize(
    ("field", "subject", "types", "expected"),
    [
        (ProviderField.EMAIL, ADA, ("work",), None),
        (ProviderField.EMAIL, ADA, ("personal",), TraceOutcome.INELIGIBLE),
        (ProviderField.PHONE, ADA, ("mobile",), None),
        (ProviderField.PERSON, ADA, (), None),
        (ProviderField.COMPANY, ADA, (), TraceOutcome.INELIGIBLE),
        (ProviderField.EMAIL, Subject(full_name="Ada Lovelace"), (), TraceOutcome.INELIGIBLE),
        (ProviderField.EMAIL, Subject(company_domain="acme.de"), (), TraceOutcome.INELIGIBLE),
    ],
)
def test_it_needs_a_name_and_a_domain(
    sites: Sites,
    field: ProviderField,
    subject: Subject,
    types: tuple[str, ...],
    expected: TraceOutcome | None,
) -> None:
    request = ProviderRequest(field=field, subject=subject, types=types)

    assert website(sites).unavailability(request) is expected


def test_the_address_has_the_page_as_its_source_and_no_verdict(sites: Sites) -> None:
    reply = ask(sites, ProviderField.EMAIL, "Ada Lovelace")

    [email] = reply.emails
    assert (reply.outcome, reply.cost, reply.phones) == (TraceOutcome.HIT, 0, ())
    assert (email.email, email.type, email.status) == ("a.lovelace@acme.de", "work", EmailStatus.UNKNOWN)
    assert (email.source.provider, email.source.url) == ("website", "https://acme.de/team")
    assert reply.contact is not None
    assert (reply.contact.title, reply.contact.linkedin_url) == ("CTO", None)
    assert reply.contact.company is not None
    assert reply.contact.company.domain == "acme.de"


def test_the_number_is_found(sites: Sites) -> None:
    reply = ask(sites, ProviderField.PHONE, "Ada Lovelace")

    assert [(phone.e164, phone.type) for phone in reply.phones] == [("+4930901820", "work")]
    assert reply.emails == ()


def test_the_title_is_found(sites: Sites) -> None:
    reply = ask(sites, ProviderField.PERSON, "Bob Byron")

    assert reply.outcome is TraceOutcome.HIT
    assert reply.contact is not None
    assert reply.contact.title == "CFO"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Carl Gauss", "not_named"),
        ("Bob Byron", "no_value"),
        ("Ann Turing", "no_value"),
        ("Annie Turing", "ambiguous_name"),
        ("?", "not_named"),
    ],
)
def test_a_miss_has_a_reason_and_everybody_with_an_address(sites: Sites, name: str, reason: str) -> None:
    reply = ask(sites, ProviderField.EMAIL, name)

    assert (reply.outcome, reply.reason) == (TraceOutcome.MISS, reason)
    assert [person.full_name for person in reply.site_people] == ["Ada Lovelace"]
    assert reply.patterns == (PatternStat("{f}.{last}", 1),)


@pytest.mark.parametrize(
    ("named", "asked"),
    [
        ("Anna Möller", "Anna Müller"),
        ("Anna Meyer", "Anna Maier"),
        ("Anna Hofmann", "Anna Hoffmann"),
        ("José García", "María José García"),
        ("Paulo Silva Filho", "Paulo Silva"),
    ],
)
def test_a_colleague_with_a_similar_name_is_not_taken_for_the_person(
    sites: Sites, named: str, asked: str
) -> None:
    sites.add("/team", f"<div><h3>{named}</h3><p>CTO</p><p>+49 30 901820</p></div>")

    reply = ask(sites, ProviderField.PHONE, asked)

    assert (reply.outcome, reply.reason, reply.phones) == (TraceOutcome.MISS, "not_named", ())


@pytest.mark.parametrize(
    ("named", "asked"),
    [
        ("Anna Mueller", "Anna Müller"),
        ("Katharina Anna Müller", "Katharina Müller"),
        ("Müller, Anna", "Anna Müller"),
        ("Michael Turing", "Mike Turing"),
    ],
)
def test_another_form_of_the_name_is_found(sites: Sites, named: str, asked: str) -> None:
    sites.add("/team", f"<div><h3>{named}</h3><p>CTO</p><p>+49 30 901820</p></div>")

    reply = ask(sites, ProviderField.PHONE, asked)

    assert [phone.e164 for phone in reply.phones] == ["+4930901820"]


def test_a_site_that_another_thread_reads_is_pending(sites: Sites) -> None:
    provider = website(sites)
    deadline = time.monotonic() + 5.0

    with provider._reader._locks.lock_host("acme.de", deadline=deadline):  # noqa: SLF001 -- another thread
        reply = provider.call(EMAIL, seconds=3.1)

    assert isinstance(reply, Pending)


def test_the_days_of_a_reading_are_a_setting(sites: Sites) -> None:
    assert (website(sites).terms.site_days, website(sites, site_days=7.0).terms.site_days) == (30.0, 7.0)


def test_addresses_of_pages_that_may_name_a_person_are_not_kept(sites: Sites) -> None:
    sites.add("/", "<a href=/team>x</a><a href=/team/ada-lovelace>x</a><a href='/team?name=ada'>x</a>")
    sites.add("*", TEAM)

    reply = website(sites).call(EMAIL, seconds=5.0)

    assert isinstance(reply, ProviderResponse)
    assert [page.url for page in reply.pages] == ["https://acme.de/", "https://acme.de/team"]
