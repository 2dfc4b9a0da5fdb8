"""Values of several providers are merged into one person or company, with sources and conflicts."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from enriching_support import (
    ADA,
    BOB,
    ERROR,
    MISS,
    Bench,
    a_bench,
    address,
    firm,
    person,
    said_by,
    tells,
)
from jobs_support import NOW, set_clock
from sqlalchemy import func, select

from app.core.contacts import companies, contacts, suppressions
from app.core.contacts.contacts import Contact
from app.core.contacts.suppressions import Identifier
from app.domain.findings import Source, SourceKind
from app.domain.kinds import TraceOutcome
from app.domain.records.merging import sortable
from app.infra.db import Database
from app.infra.job_notifications import JobNotifier
from app.infra.queue import JobPublisher
from app.settings import Settings
from workers.execution.job_runner import WorkerServices
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
ITEM = {"subject": {"linkedin_url": ADA}}
ACME = {"company": {"domain": "acme.com"}}
FILE = Source("list.csv", SourceKind.IMPORT, NOW - MINUTE)


@pytest.fixture(autouse=True)
def at_half_past_nine(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, lambda: NOW)


@pytest.fixture
def bench(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(JobNotifier, "notify", lambda _self, _job_id: None)
    services = WorkerServices(
        settings, database, JobPublisher(settings.redis_url), JobNotifier(settings.redis_url)
    )
    return a_bench(services, monkeypatch).ordered("one", "two")


def store(bench: Bench, found: contacts.FoundContact) -> None:
    with bench.services.database.transaction() as session:
        contacts.upsert(session, found, now=NOW)


def test_two_providers_are_merged_with_sources_and_the_conflict_visible(bench: Bench) -> None:
    one, two = said_by("one", NOW - DAY), said_by("two", NOW)
    told = bench.providers(
        one=tells(person(one, title=None, linkedin_url=ADA, city="London", country="GB")),
        two=tells(person(two, title="CTO", company=firm(two, name="Other", domain="other.com"))),
    )

    item = bench.enrich(ITEM)

    assert [len(told[name].asked) for name in ("one", "two")] == [1, 1]
    assert item["outcome"] == "found"
    assert (item["contact"]["title"], item["contact"]["location"]["city"]) == ("CTO", "London")
    assert item["company"]["domain"] == "other.com"
    sources = item["sources"]["contact"]
    assert sources["title"] == {"source": "two", "at": sortable(NOW)}
    assert sources["city"] == sources["linkedin_url"] == {"source": "one", "at": sortable(NOW - DAY)}
    assert sources["company"]["source"] == "two"
    assert item["sources"]["company"]["name"]["source"] == "two"
    assert item["conflicts"] == [
        {
            "entity": "contact",
            "field": "company",
            "value": "Other",
            "source": "two",
            "at": sortable(NOW),
            "other": {"value": "Acme", "source": "one", "at": sortable(NOW - DAY)},
        }
    ]


@pytest.mark.parametrize(("day", "title"), [(timedelta(), "Engineer"), (DAY, "CTO")])
def test_of_one_day_the_more_trusted_wins_and_else_the_later(
    bench: Bench, day: timedelta, title: str
) -> None:
    one, two = said_by("one", NOW - MINUTE - day), said_by("two", NOW)
    bench.providers(
        one=tells(person(one, company=None)),
        two=tells(person(two, title="CTO")),
    )

    item = bench.enrich(ITEM)

    assert item["contact"]["title"] == title
    assert {item["conflicts"][0]["value"], item["conflicts"][0]["other"]["value"]} == {"Engineer", "CTO"}


def test_what_the_operator_imported_that_day_stands_above_a_provider(bench: Bench) -> None:
    store(bench, person(FILE, linkedin_url=ADA, title="Founder", company=None))
    bench.providers(one=tells(person(said_by("one", NOW))))

    item = bench.enrich(ITEM)

    assert item["contact"]["title"] == "Founder"
    assert item["sources"]["contact"]["title"] == {"source": "list.csv", "at": sortable(FILE.at)}
    assert item["conflicts"][0]["other"] == {"value": "Engineer", "source": "one", "at": sortable(NOW)}


def test_a_stored_value_that_loses_stays_visible(bench: Bench) -> None:
    old = dataclasses.replace(FILE, at=NOW - 400 * DAY)
    store(bench, person(old, linkedin_url=ADA, title="Founder"))
    bench.providers(one=tells(person(said_by("one", NOW))))

    item = bench.enrich(ITEM)

    assert item["contact"]["title"] == "Engineer"
    assert [one["other"]["value"] for one in item["conflicts"]] == ["Founder"]


def test_another_spelling_is_no_conflict(bench: Bench) -> None:
    one, two = said_by("one", NOW - DAY), said_by("two", NOW)
    bench.providers(
        one=tells(person(one, title=None)),
        two=tells(person(two, full_name="ADA LOVELACE", company=firm(two, name="ACME Inc."))),
    )

    assert bench.enrich(ITEM)["conflicts"] == []


def test_only_fields_that_are_shown_have_sources_and_conflicts(bench: Bench) -> None:
    one, two = said_by("one", NOW - DAY), said_by("two", NOW)
    bench.providers(
        one=tells(person(one, company=None)),
        two=tells(person(two, title="CTO", company=firm(two))),
    )

    item = bench.enrich(ITEM, fields=("company",))

    assert item["contact"] is None
    assert set(item["sources"]["contact"]) == {"company"}
    assert item["conflicts"] == []


def test_nobody_else_is_asked_once_everything_wanted_is_there(bench: Bench) -> None:
    told = bench.providers(one=tells(person(said_by("one", NOW))))

    bench.enrich(ITEM)

    assert told["two"].asked == []


@pytest.mark.parametrize(
    ("changes", "age", "asked"),
    [({}, DAY, 0), ({"title": None}, DAY, 1), ({"company": None}, DAY, 1), ({}, 181 * DAY, 1)],
    ids=["fresh and complete", "no title", "no company", "old"],
)
def test_a_stored_person_is_asked_about_if_something_is_wanting_or_old(
    bench: Bench, changes: dict[str, None], age: timedelta, asked: int
) -> None:
    source = dataclasses.replace(FILE, at=NOW - age)
    store(bench, person(source, linkedin_url=ADA, **changes))
    told = bench.providers(one=MISS)

    item = bench.enrich(ITEM)

    assert len(told["one"].asked) == asked
    assert item["contact"]["full_name"] == "Ada Lovelace"


def test_a_person_is_asked_about_with_all_that_is_stored(bench: Bench) -> None:
    store(bench, person(FILE, linkedin_url=ADA, title=None))
    told = bench.providers(one=MISS)

    bench.enrich({"subject": {"full_name": "Ada Lovelace", "company_domain": "acme.com"}})

    [ask] = told["one"].asked
    assert ask.subject.linkedin_url == ADA


def test_who_knew_nothing_is_not_asked_again(bench: Bench) -> None:
    store(bench, person(FILE, linkedin_url=ADA, title=None))
    told = bench.providers(one=MISS)
    bench.enrich(ITEM)

    bench.enrich(ITEM)

    assert len(told["one"].asked) == 1


def test_what_is_stored_is_shown_where_in_the_end_nobody_could_answer(bench: Bench) -> None:
    settings = dataclasses.replace(bench.services.settings, max_attempts=2)
    bench = dataclasses.replace(bench, services=dataclasses.replace(bench.services, settings=settings))
    store(bench, person(FILE, linkedin_url=ADA, title=None))
    bench.providers(one=ERROR, two=ERROR)
    job_id = bench.submit(ITEM)
    first = bench.run(job_id)

    last = bench.run(job_id)

    assert (first["job"]["status"], last["job"]["status"]) == ("queued", "succeeded")
    [item] = last["result"]["items"]
    assert (item["outcome"], item["error"]) == ("found", None)


def test_of_whom_nothing_is_stored_the_item_says_that_nobody_could_answer(bench: Bench) -> None:
    settings = dataclasses.replace(bench.services.settings, max_attempts=1)
    bench = dataclasses.replace(bench, services=dataclasses.replace(bench.services, settings=settings))
    bench.providers(one=ERROR, two=ERROR)

    item = bench.enrich(ITEM)

    assert item["error"]["code"] == "provider_failed"


def test_words_without_a_profile_about_one_name_are_about_one_person(bench: Bench) -> None:
    one, two = said_by("one", NOW - DAY), said_by("two", NOW)
    bench.providers(
        one=tells(person(one, title=None, linkedin_url=ADA)),
        two=tells(person(two, company=firm(two, name="Other", domain="other.com"))),
    )

    item = bench.enrich({"subject": {"full_name": "Ada Lovelace", "company_domain": "acme.com"}})

    assert (item["contact"]["linkedin_url"], item["contact"]["title"]) == (ADA, "Engineer")
    with bench.services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Contact)) == 1


def test_another_name_is_not_mixed_into_the_person(bench: Bench) -> None:
    one, two = said_by("one", NOW - DAY), said_by("two", NOW)
    bench.providers(
        one=tells(person(one, title=None, linkedin_url=ADA)),
        two=tells(person(two, full_name="Bob Ray", first_name="Bob", last_name="Ray")),
    )

    item = bench.enrich({"subject": {"full_name": "Ada Lovelace", "company_domain": "acme.com"}})

    assert (item["contact"]["full_name"], item["contact"]["title"]) == ("Ada Lovelace", None)
    assert item["conflicts"] == []


def test_who_is_found_by_an_address_is_shown_though_the_address_is_not_stored(bench: Bench) -> None:
    bench.providers(one=tells(person(said_by("one", NOW))))

    item = bench.enrich({"subject": {"email": "ada@acme.com"}})

    assert (item["outcome"], item["contact"]["full_name"]) == ("found", "Ada Lovelace")


def test_an_address_belongs_to_the_person_that_was_told_however_the_caller_spells_the_name(
    bench: Bench,
) -> None:
    source = said_by("one", NOW - DAY)
    replies = {
        ProviderField.PERSON: tells(person(source)),
        ProviderField.EMAIL: tells(address(said_by("one", NOW))),
    }
    bench.providers(one=lambda ask: replies[ask.field])
    subject = {"full_name": "ada lovelace", "company_domain": "acme.com"}

    item = bench.enrich({"subject": subject}, fields=("email", "profile"))

    assert [one["email"] for one in item["emails"]] == ["ada@acme.com"]
    assert item["contact"]["full_name"] == "Ada Lovelace"
    with bench.services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Contact)) == 1


def test_who_is_suppressed_while_the_providers_are_asked_is_not_shown(bench: Bench) -> None:
    store(bench, person(FILE, linkedin_url=ADA, title=None, emails=(address(FILE),)))

    def asks_to_be_left_alone(_ask: ProviderRequest) -> ProviderResponse:
        with bench.services.database.transaction() as session:
            suppressions.suppress(session, [Identifier("email", "ada@acme.com")], reason="asked", now=NOW)
        return MISS

    bench.providers(one=asks_to_be_left_alone)

    item = bench.enrich(ITEM)

    assert (item["outcome"], item["contact"]) == ("suppressed", None)


def test_a_profile_on_the_suppression_list_ends_it(bench: Bench) -> None:
    with bench.services.database.transaction() as session:
        suppressions.suppress(session, [Identifier("linkedin_url", BOB)], reason="asked", now=NOW)
    bench.providers(one=tells(person(said_by("one", NOW), linkedin_url=BOB)))

    item = bench.enrich({"subject": {"email": "ada@acme.com"}})

    assert (item["outcome"], item["contact"]) == ("suppressed", None)
    with bench.services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Contact)) == 0


def test_a_company_is_asked_about_until_it_is_complete(bench: Bench) -> None:
    one, two = said_by("one", NOW - DAY), said_by("two", NOW)
    told = bench.providers(
        one=tells(firm(one, domain=None, industry="Machinery", headcount="11-50")),
        two=tells(firm(two, headcount="51-200", country="GB")),
    )

    item = bench.enrich(ACME)

    assert [len(told[name].asked) for name in ("one", "two")] == [1, 1]
    company = item["company"]
    assert (company["name"], company["industry"], company["headcount"]) == ("Acme", "Machinery", "51-200")
    assert item["sources"]["company"]["industry"]["source"] == "one"
    assert item["sources"]["contact"] == {}
    assert [(line["entity"], line["field"], line["other"]["value"]) for line in item["conflicts"]] == [
        ("company", "headcount", "11-50")
    ]


@pytest.mark.parametrize(("industry", "asked"), [("Machinery", 0), (None, 1)])
def test_a_stored_company_is_asked_about_if_something_is_wanting(
    bench: Bench, industry: str | None, asked: int
) -> None:
    stored = firm(FILE, industry=industry, headcount="11-50", country="GB")
    with bench.services.database.transaction() as session:
        companies.upsert(session, stored, now=NOW)
    told = bench.providers(one=MISS)

    item = bench.enrich({"company": {"name": "Acme"}})

    assert [ask.subject.company_domain for ask in told["one"].asked] == ["acme.com"] * asked
    assert item["company"]["domain"] == "acme.com"


def test_what_the_caller_names_a_company_by_counts_where_a_provider_is_silent(bench: Bench) -> None:
    bench.providers(one=tells(firm(said_by("one", NOW), domain=None)))

    item = bench.enrich(ACME)

    assert (item["company"]["name"], item["company"]["domain"]) == ("Acme", "acme.com")


def test_another_companys_website_does_not_get_the_page_that_was_asked_about(bench: Bench) -> None:
    bench.providers(one=tells(firm(said_by("one", NOW), domain="other.com")))
    page = "https://www.linkedin.com/company/acme"

    item = bench.enrich({"company": {"domain": "acme.com", "linkedin_url": page}})

    assert (item["company"]["domain"], item["company"]["linkedin_url"]) == ("other.com", None)


def test_a_company_that_a_provider_will_not_speak_of_is_not_shown(bench: Bench) -> None:
    bench.providers(one=ProviderResponse(outcome=TraceOutcome.SUPPRESSED))

    item = bench.enrich(ACME)

    assert (item["outcome"], item["company"]) == ("suppressed", None)


def test_a_stored_employer_is_shown_as_it_is_after_the_merge(bench: Bench) -> None:
    store(bench, person(FILE, linkedin_url=ADA, title=None))
    source = said_by("one", NOW)
    bench.providers(one=tells(person(source, company=firm(source, industry="Machinery"))))

    item = bench.enrich(ITEM)

    assert item["company"]["industry"] == "Machinery"
    assert item["sources"]["company"]["industry"]["source"] == "one"


def test_what_the_employer_is_told_is_merged_and_shown_with_the_person(bench: Bench) -> None:
    one, two = said_by("one", NOW - DAY), said_by("two", NOW)
    bench.providers(
        one=tells(person(one, title=None, company=firm(one, industry="Machinery", headcount="11-50"))),
        two=tells(person(two, company=firm(two, headcount="51-200"))),
    )

    item = bench.enrich(ITEM)

    assert (item["company"]["industry"], item["company"]["headcount"]) == ("Machinery", "51-200")
    assert [(line["entity"], line["field"], line["value"]) for line in item["conflicts"]] == [
        ("company", "headcount", "51-200")
    ]
