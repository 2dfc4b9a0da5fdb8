"""Values of several providers are merged into one person or company, with sources and conflicts."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from fake_providers import ERROR, MISS, company, email, hit, person, source_of
from jobs_support import NOW
from sqlalchemy import func, select
from worker_harness import ADA, BOB, WorkerHarness

from app.domain.findings import Source, SourceKind
from app.domain.kinds import TraceOutcome
from app.domain.records.merging import sortable
from app.engine.contacts import companies
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
ITEM = {"subject": {"linkedin_url": ADA}}
ACME = {"company": {"domain": "acme.com"}}
FILE = Source("list.csv", SourceKind.IMPORT, NOW - MINUTE)


def test_values_of_two_providers_are_merged_with_sources_and_conflicts(harness: WorkerHarness) -> None:
    one, two = source_of("one", NOW - DAY), source_of("two", NOW)
    providers = harness.set_providers(
        one=hit(person(one, title=None, linkedin_url=ADA, city="London", country="GB")),
        two=hit(person(two, title="CTO", company=company(two, name="Other", domain="other.com"))),
    )

    item = harness.enrich(ITEM)

    assert [len(providers[name].requests) for name in ("one", "two")] == [1, 1]
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
def test_the_more_trusted_source_wins_within_a_day_else_the_later_one(
    harness: WorkerHarness, day: timedelta, title: str
) -> None:
    one, two = source_of("one", NOW - MINUTE - day), source_of("two", NOW)
    harness.set_providers(
        one=hit(person(one, company=None)),
        two=hit(person(two, title="CTO")),
    )

    item = harness.enrich(ITEM)

    assert item["contact"]["title"] == title
    assert {item["conflicts"][0]["value"], item["conflicts"][0]["other"]["value"]} == {"Engineer", "CTO"}


def test_a_same_day_import_wins_over_a_provider(harness: WorkerHarness) -> None:
    harness.store_contact(person(FILE, linkedin_url=ADA, title="Founder", company=None))
    harness.set_providers(one=hit(person()))

    item = harness.enrich(ITEM)

    assert item["contact"]["title"] == "Founder"
    assert item["sources"]["contact"]["title"] == {"source": "list.csv", "at": sortable(FILE.at)}
    assert item["conflicts"][0]["other"] == {"value": "Engineer", "source": "one", "at": sortable(NOW)}


def test_a_losing_stored_value_is_a_conflict(harness: WorkerHarness) -> None:
    old = dataclasses.replace(FILE, at=NOW - 400 * DAY)
    harness.store_contact(person(old, linkedin_url=ADA, title="Founder"))
    harness.set_providers(one=hit(person()))

    item = harness.enrich(ITEM)

    assert item["contact"]["title"] == "Engineer"
    assert [entry["other"]["value"] for entry in item["conflicts"]] == ["Founder"]


def test_another_spelling_is_not_a_conflict(harness: WorkerHarness) -> None:
    one, two = source_of("one", NOW - DAY), source_of("two", NOW)
    harness.set_providers(
        one=hit(person(one, title=None)),
        two=hit(person(two, full_name="ADA LOVELACE", company=company(two, name="ACME Inc."))),
    )

    assert harness.enrich(ITEM)["conflicts"] == []


def test_only_fields_that_are_shown_have_sources_and_conflicts(harness: WorkerHarness) -> None:
    one, two = source_of("one", NOW - DAY), source_of("two", NOW)
    harness.set_providers(
        one=hit(person(one, company=None)),
        two=hit(person(two, title="CTO", company=company(two))),
    )

    item = harness.enrich(ITEM, fields=("company",))

    assert item["contact"] is None
    assert set(item["sources"]["contact"]) == {"company"}
    assert item["conflicts"] == []


def test_no_further_provider_is_called_once_the_profile_is_complete(harness: WorkerHarness) -> None:
    providers = harness.set_providers(one=hit(person()), two=MISS)

    harness.enrich(ITEM)

    assert providers["two"].requests == []


@pytest.mark.parametrize(
    ("changes", "age", "asked"),
    [({}, DAY, 0), ({"title": None}, DAY, 1), ({"company": None}, DAY, 1), ({}, 181 * DAY, 1)],
    ids=["fresh and complete", "no title", "no company", "old"],
)
def test_a_provider_is_called_for_an_incomplete_or_old_profile(
    harness: WorkerHarness, changes: dict[str, None], age: timedelta, asked: int
) -> None:
    source = dataclasses.replace(FILE, at=NOW - age)
    harness.store_contact(person(source, linkedin_url=ADA, **changes))
    providers = harness.set_providers(one=MISS)

    item = harness.enrich(ITEM)

    assert len(providers["one"].requests) == asked
    assert item["contact"]["full_name"] == "Ada Lovelace"


def test_a_provider_receives_all_stored_identifiers(harness: WorkerHarness) -> None:
    harness.store_contact(person(FILE, linkedin_url=ADA, title=None))
    providers = harness.set_providers(one=MISS)

    harness.enrich({"subject": {"full_name": "Ada Lovelace", "company_domain": "acme.com"}})

    [request] = providers["one"].requests
    assert request.subject.linkedin_url == ADA


def test_a_provider_that_missed_is_not_called_again(harness: WorkerHarness) -> None:
    harness.store_contact(person(FILE, linkedin_url=ADA, title=None))
    providers = harness.set_providers(one=MISS)
    harness.enrich(ITEM)

    harness.enrich(ITEM)

    assert len(providers["one"].requests) == 1


def test_the_stored_profile_is_shown_if_all_providers_fail(harness: WorkerHarness) -> None:
    harness.change_settings(max_attempts=2)
    harness.store_contact(person(FILE, linkedin_url=ADA, title=None))
    harness.set_providers(one=ERROR, two=ERROR)
    job_id = harness.submit_enrichment(ITEM)
    first = harness.run_enrichment(job_id)

    last = harness.run_enrichment(job_id)

    assert (first["job"]["status"], last["job"]["status"]) == ("queued", "succeeded")
    [item] = last["result"]["items"]
    assert (item["outcome"], item["error"]) == ("found", None)


def test_an_item_without_stored_data_reports_that_all_providers_failed(harness: WorkerHarness) -> None:
    harness.change_settings(max_attempts=1)
    harness.set_providers(one=ERROR, two=ERROR)

    item = harness.enrich(ITEM)

    assert item["error"]["code"] == "provider_failed"


def test_responses_about_one_name_without_a_profile_are_one_person(harness: WorkerHarness) -> None:
    one, two = source_of("one", NOW - DAY), source_of("two", NOW)
    harness.set_providers(
        one=hit(person(one, title=None, linkedin_url=ADA)),
        two=hit(person(two, company=company(two, name="Other", domain="other.com"))),
    )

    item = harness.enrich({"subject": {"full_name": "Ada Lovelace", "company_domain": "acme.com"}})

    assert (item["contact"]["linkedin_url"], item["contact"]["title"]) == (ADA, "Engineer")
    with harness.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Contact)) == 1


def test_a_response_with_another_name_is_not_merged(harness: WorkerHarness) -> None:
    one, two = source_of("one", NOW - DAY), source_of("two", NOW)
    harness.set_providers(
        one=hit(person(one, title=None, linkedin_url=ADA)),
        two=hit(person(two, full_name="Bob Ray", first_name="Bob", last_name="Ray")),
    )

    item = harness.enrich({"subject": {"full_name": "Ada Lovelace", "company_domain": "acme.com"}})

    assert (item["contact"]["full_name"], item["contact"]["title"]) == ("Ada Lovelace", None)
    assert item["conflicts"] == []


def test_a_person_found_by_an_unstored_email_is_shown(harness: WorkerHarness) -> None:
    harness.set_providers(one=hit(person()))

    item = harness.enrich({"subject": {"email": "ada@acme.com"}})

    assert (item["outcome"], item["contact"]["full_name"]) == ("found", "Ada Lovelace")


def test_an_email_belongs_to_the_found_person_whatever_the_spelling_of_the_name(
    harness: WorkerHarness,
) -> None:
    source = source_of("one", NOW - DAY)
    replies = {
        ProviderField.PERSON: hit(person(source)),
        ProviderField.EMAIL: hit(email()),
    }
    harness.set_providers(one=lambda request: replies[request.field])
    subject = {"full_name": "ada lovelace", "company_domain": "acme.com"}

    item = harness.enrich({"subject": subject}, fields=("email", "profile"))

    assert [entry["email"] for entry in item["emails"]] == ["ada@acme.com"]
    assert item["contact"]["full_name"] == "Ada Lovelace"
    with harness.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Contact)) == 1


def test_a_person_suppressed_during_an_enrichment_is_not_shown(harness: WorkerHarness) -> None:
    harness.store_contact(person(FILE, linkedin_url=ADA, title=None, emails=(email(source=FILE),)))

    def asks_to_be_left_alone(_request: ProviderRequest) -> ProviderResponse:
        with harness.database.transaction() as session:
            suppressions.suppress(session, [Identifier("email", "ada@acme.com")], reason="asked", now=NOW)
        return MISS

    harness.set_providers(one=asks_to_be_left_alone)

    item = harness.enrich(ITEM)

    assert (item["outcome"], item["contact"]) == ("suppressed", None)


def test_a_suppressed_profile_ends_the_item(harness: WorkerHarness) -> None:
    with harness.database.transaction() as session:
        suppressions.suppress(session, [Identifier("linkedin_url", BOB)], reason="asked", now=NOW)
    harness.set_providers(one=hit(person(linkedin_url=BOB)))

    item = harness.enrich({"subject": {"email": "ada@acme.com"}})

    assert (item["outcome"], item["contact"]) == ("suppressed", None)
    with harness.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Contact)) == 0


def test_providers_are_called_until_the_company_is_complete(harness: WorkerHarness) -> None:
    one, two = source_of("one", NOW - DAY), source_of("two", NOW)
    providers = harness.set_providers(
        one=hit(company(one, domain=None, industry="Machinery", headcount="11-50")),
        two=hit(company(two, headcount="51-200", country="GB")),
    )

    item = harness.enrich(ACME)

    assert [len(providers[name].requests) for name in ("one", "two")] == [1, 1]
    shown = item["company"]
    assert (shown["name"], shown["industry"], shown["headcount"]) == ("Acme", "Machinery", "51-200")
    assert item["sources"]["company"]["industry"]["source"] == "one"
    assert item["sources"]["contact"] == {}
    assert [(line["entity"], line["field"], line["other"]["value"]) for line in item["conflicts"]] == [
        ("company", "headcount", "11-50")
    ]


@pytest.mark.parametrize(("industry", "asked"), [("Machinery", 0), (None, 1)])
def test_a_provider_is_called_for_an_incomplete_stored_company(
    harness: WorkerHarness, industry: str | None, asked: int
) -> None:
    stored = company(FILE, industry=industry, headcount="11-50", country="GB")
    with harness.database.transaction() as session:
        companies.upsert(session, stored, now=NOW)
    providers = harness.set_providers(one=MISS)

    item = harness.enrich({"company": {"name": "Acme"}})

    assert [request.subject.company_domain for request in providers["one"].requests] == ["acme.com"] * asked
    assert item["company"]["domain"] == "acme.com"


def test_the_requested_domain_fills_a_company_without_one(harness: WorkerHarness) -> None:
    harness.set_providers(one=hit(company(domain=None)))

    item = harness.enrich(ACME)

    assert (item["company"]["name"], item["company"]["domain"]) == ("Acme", "acme.com")


def test_a_company_with_another_domain_does_not_get_the_requested_profile(harness: WorkerHarness) -> None:
    harness.set_providers(one=hit(company(domain="other.com")))
    page = "https://www.linkedin.com/company/acme"

    item = harness.enrich({"company": {"domain": "acme.com", "linkedin_url": page}})

    assert (item["company"]["domain"], item["company"]["linkedin_url"]) == ("other.com", None)


def test_a_suppressed_company_is_not_shown(harness: WorkerHarness) -> None:
    harness.set_providers(one=ProviderResponse(outcome=TraceOutcome.SUPPRESSED))

    item = harness.enrich(ACME)

    assert (item["outcome"], item["company"]) == ("suppressed", None)


def test_a_stored_employer_is_shown_with_merged_values(harness: WorkerHarness) -> None:
    harness.store_contact(person(FILE, linkedin_url=ADA, title=None))
    harness.set_providers(one=hit(person(company=company(industry="Machinery"))))

    item = harness.enrich(ITEM)

    assert item["company"]["industry"] == "Machinery"
    assert item["sources"]["company"]["industry"]["source"] == "one"


def test_employer_values_of_two_providers_are_merged_and_shown(harness: WorkerHarness) -> None:
    one, two = source_of("one", NOW - DAY), source_of("two", NOW)
    harness.set_providers(
        one=hit(person(one, title=None, company=company(one, industry="Machinery", headcount="11-50"))),
        two=hit(person(two, company=company(two, headcount="51-200"))),
    )

    item = harness.enrich(ITEM)

    assert (item["company"]["industry"], item["company"]["headcount"]) == ("Machinery", "51-200")
    assert [(line["entity"], line["field"], line["value"]) for line in item["conflicts"]] == [
        ("company", "headcount", "51-200")
    ]
