from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import web_sites
from jobs_support import a_question, a_workspace, read, submit
from sqlalchemy import select, update
from stored_support import ADA_URL, a_company, a_contact, a_phone, an_email
from web_sites import Sites
from worker_harness import make_services

from app.domain.email_patterns.patterns import PatternStat
from app.domain.kinds import Outcome, Queue, TraceOutcome
from app.domain.providers.throttles import Permit
from app.domain.providers.website_pages import PageState
from app.engine.contacts import learned_patterns, website_addresses, website_readings
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.website_readings import Turn, WebsiteForm, WebsiteReading
from app.engine.jobs.jobs import Job
from app.engine.providers import provider_throttles
from app.infra import clock
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import job_runner
from workers.execution.worker_services import WorkerServices
from workers.jobs import reveal
from workers.providers import registry

TEAM = """<h1>Team</h1>
<div><h3>Ada Lovelace</h3><p>CTO</p><p>ada.lovelace@acme.com</p></div>
<div><h3>Bob Byron</h3><p>CFO</p><p>bob.byron@acme.com</p></div>
<div><h3>Identification Registry</h3><p>Executive Director</p></div>"""


@pytest.fixture
def sites() -> Iterator[Sites]:
    with web_sites.serving() as served:
        served.add("/", "<a href=/team>Team</a>")
        served.add("/team", TEAM)
        yield served


@pytest.fixture
def services(settings: Settings, database: Database, sites: Sites) -> WorkerServices:
    registry.load.cache_clear()
    settings = dataclasses.replace(
        settings,
        providers_email=("website", "pattern"),
        providers_verification=(),
        provider_variables=(("WEBSITE_CONTACT", "ops@example.com"), ("WEBSITE_BASE_URL", sites.url)),
    )
    return make_services(settings, database)


def revealed(services: WorkerServices, name: str) -> Job:
    """Return the job of a reveal of somebody at acme.com, of any status, after its run."""
    request: dict[str, Any] = {
        "subject": {"full_name": name, "company_domain": "acme.com"},
        "types": ["work"],
        "min_status": "any",
    }
    with services.database.transaction() as session:
        job = submit(session, a_question(a_workspace(session), request=request), now=clock.now()).job
        session.execute(update(Job).where(Job.id == job.id).values(queue=Queue.PROVIDERS.value))
        job_id = job.id
    job_runner.run(job_id, reveal.email, services)
    with services.database.reading() as session:
        job = read(session, job_id)
        session.expunge(job)
        return job


def lines(job: Job) -> list[tuple[str, str, str | None]]:
    return [(line["provider"], line["outcome"], line.get("reason")) for line in job.trace]


def test_an_address_on_the_website_is_revealed_with_its_page(services: WorkerServices) -> None:
    job = revealed(services, "Ada Lovelace")

    assert (job.outcome, lines(job)) == (Outcome.FOUND, [("website", "hit", None)])
    assert job.result is not None
    [email] = job.result["emails"]
    [source] = email["sources"]
    assert (email["email"], email["status"]) == ("ada.lovelace@acme.com", "unknown")
    assert (source["provider"], source["kind"], source["url"]) == (
        "website",
        "provider",
        "https://acme.com/team",
    )


def test_everybody_whom_a_website_names_with_an_address_is_stored_with_the_title(
    services: WorkerServices,
) -> None:
    revealed(services, "Ada Lovelace")

    with services.database.reading() as session:
        people = {contact.full_name: contact.title for contact in session.scalars(select(Contact))}
        addresses = sorted(session.scalars(select(Email.email)))
    assert people == {"Ada Lovelace": "CTO", "Bob Byron": "CFO"}
    assert addresses == ["ada.lovelace@acme.com", "bob.byron@acme.com"]


def test_a_person_whom_an_earlier_reading_found_costs_no_request(
    services: WorkerServices, sites: Sites
) -> None:
    revealed(services, "Ada Lovelace")
    requests = len(sites.requests)

    job = revealed(services, "Bob Byron")

    assert (job.outcome, len(sites.requests)) == (Outcome.FOUND, requests)


def test_the_guess_after_it_follows_what_the_website_taught(services: WorkerServices) -> None:
    job = revealed(services, "Carl Gauss")

    assert job.result is not None
    assert [email["email"] for email in job.result["emails"]] == ["carl.gauss@acme.com"]
    assert lines(job) == [("website", "miss", "not_named"), ("pattern", "hit", None)]


def test_a_website_is_not_read_again_for_some_days(services: WorkerServices, sites: Sites) -> None:
    revealed(services, "Carl Gauss")
    requests = len(sites.requests)

    job = revealed(services, "Dan Bernoulli")

    assert lines(job)[0] == ("website", "known_miss", None)
    assert len(sites.requests) == requests


def test_after_that_only_what_changed_is_sent(services: WorkerServices, sites: Sites) -> None:
    sites.add("/", "<a href=/team>Team</a>", etag='"1"')
    revealed(services, "Carl Gauss")
    with services.database.transaction() as session:
        session.execute(update(WebsiteReading).values(read_at=clock.now() - timedelta(days=31)))

    revealed(services, "Dan Bernoulli")

    assert [headers.get("If-None-Match") for headers in sites.headers if headers.get("If-None-Match")] == [
        '"1"'
    ]


def test_addresses_of_roles_are_stored_with_their_page(services: WorkerServices, sites: Sites) -> None:
    sites.add("/", "<a href=/team>Team</a><p>info@acme.com</p>")

    job = revealed(services, "Carl Gauss")

    with services.database.reading() as session:
        found = [(one.email, one.url) for one in website_addresses.shown(session, "acme.com")]
    assert found == [("info@acme.com", "https://acme.com/")]
    assert "info@" not in str(job.result)


def test_a_suppressed_person_is_not_stored(services: WorkerServices) -> None:
    with services.database.transaction() as session:
        bob = Identifier("email", "bob.byron@acme.com")
        suppressions.suppress(session, [bob], reason="asked", now=clock.now())

    revealed(services, "Ada Lovelace")

    with services.database.reading() as session:
        assert list(session.scalars(select(Contact.full_name))) == ["Ada Lovelace"]


def test_what_a_website_claims_of_others_does_not_change_them(services: WorkerServices, sites: Sites) -> None:
    with services.database.transaction() as session:
        eve = a_contact(
            session, a_company(session, domain="victim.example"), "Eve Noether", linkedin_url=ADA_URL
        )
        eve.title = "CEO"
        an_email(session, eve, "eve@victim.example")
        a_phone(session, eve, "+16175550155")
        eve_id = eve.id
    claims = "<p>eve@victim.example</p><p>noether@acme.com</p><p>+1 617 555 0155</p>"
    sites.add("/team", f"<div><h3>Eve Noether</h3><p>Intern</p>{claims}<a href='{ADA_URL}'>in</a></div>")

    job = revealed(services, "Carl Gauss")

    assert job.outcome is not None
    with services.database.reading() as session:
        stored = session.get_one(Contact, eve_id)
        addresses = list(session.scalars(select(Email.email).where(Email.contact_id == eve_id)))
        assert (stored.title, addresses) == ("CEO", ["eve@victim.example"])


def test_a_failure_is_a_line_in_the_trace(services: WorkerServices, sites: Sites) -> None:
    sites.add("/robots.txt", "User-agent: *\nDisallow: /\n")

    job = revealed(services, "Ada Lovelace")

    assert (job.outcome, lines(job)[0]) == (Outcome.NOT_FOUND, ("website", "miss", "robots_disallowed"))


def test_a_website_that_another_job_reads_is_awaited(services: WorkerServices, sites: Sites) -> None:
    with services.database.transaction() as session:
        now = clock.now()
        website_readings.claim(session, "acme.com", fresh_since=now, now=now)

    job = revealed(services, "Ada Lovelace")

    assert (job.outcome, job.finished_at, sites.requests) == (None, None, [])


def test_a_website_that_could_not_be_read_is_tried_again_after_a_day(
    services: WorkerServices, sites: Sites
) -> None:
    sites.add("/", "", status=503)
    revealed(services, "Ada Lovelace")
    sites.add("/", TEAM)
    soon = revealed(services, "Bob Byron")
    with services.database.transaction() as session:
        session.execute(update(WebsiteReading).values(read_at=clock.now() - timedelta(hours=25)))

    later = revealed(services, "Bob Byron")

    assert lines(soon)[0] == ("website", "known_miss", None)
    assert lines(later)[0] == ("website", "hit", None)


def test_a_reading_without_an_answer_keeps_the_pages_of_the_last_one(database: Database) -> None:
    now = clock.now()
    page = PageState(url="https://acme.com/", digest="1")
    with database.transaction() as session:
        website_readings.claim(session, "acme.com", fresh_since=now, now=now)
        website_readings.store(session, "acme.com", [page], [], now=now)
        website_readings.store(session, "acme.com", [], [], now=now)

    with database.reading() as session:
        reading = session.get_one(WebsiteReading, "acme.com")
        assert (reading.reason, website_readings.pages_of(session, "acme.com")) == ("no_answer", (page,))


def test_one_reads_a_website_at_a_time_and_takes_over_what_did_not_end(database: Database) -> None:
    now = clock.now()
    later = now + website_readings.LEASE + timedelta(seconds=1)
    moments = (now, now, later)
    turns = []
    for moment in moments:
        with database.transaction() as session:
            turns.append(website_readings.claim(session, "acme.com", fresh_since=now, now=moment))

    assert turns == [Turn.YOURS, Turn.BUSY, Turn.YOURS]


def test_patterns_of_a_website_count_and_are_kept_if_a_reading_teaches_none(database: Database) -> None:
    now = clock.now()
    with database.transaction() as session:
        website_readings.claim(session, "acme.com", fresh_since=now, now=now)
        for patterns in ([PatternStat("{first}", 1)], [PatternStat("{f}{last}", 3)], []):
            website_readings.store(session, "acme.com", [], patterns, now=now)
        website_readings.store(session, "other.com", [], [], now=now)

    with database.reading() as session:
        learned = learned_patterns.pattern_counts(session, "acme.com")
        pages = website_readings.pages_of(session, "other.com")
    assert (learned, pages) == ([PatternStat("{f}{last}", 3)], ())


def test_old_readings_are_purged_with_their_patterns(database: Database) -> None:
    now = clock.now()
    with database.transaction() as session:
        website_readings.claim(session, "acme.com", fresh_since=now, now=now)
        website_readings.store(session, "acme.com", [], [PatternStat("{first}", 1)], now=now)

    with database.transaction() as session:
        website_readings.purge_expired(session, before=now + timedelta(days=1))

    with database.reading() as session:
        rows = [*session.scalars(select(WebsiteReading)), *session.scalars(select(WebsiteForm))]
    assert rows == []


def test_a_call_that_the_rate_limit_refuses_leaves_the_site_to_others(
    services: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Permit(refused=TraceOutcome.RATE_LIMITED, retry_after=60.0)
    monkeypatch.setattr(provider_throttles, "admit", lambda *_values, **_options: refused)

    job = revealed(services, "Ada Lovelace")

    assert lines(job)[0] == ("website", "rate_limited", None)
    now = clock.now()
    with services.database.transaction() as session:
        assert website_readings.claim(session, "acme.com", fresh_since=now, now=now) is Turn.YOURS
