"""Nothing is revealed of people whom a workspace excludes: no provider is called, and nothing is charged."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_providers import MISS, company, email, hit, person
from sqlalchemy import delete
from stored_support import PRICES, exclude, own
from suppressed_support import EMAIL, FOUND, MEMBER, PHONE, ada_or_nothing
from worker_harness import ADA, BOB, NAMED, WorkerHarness

from app.domain.kinds import Kind, Outcome
from app.domain.normal.hashes import hex_hash, website_hash
from app.domain.records.subjects import Subject
from app.domain.reverse_lookups import ReverseLookupLimits
from app.engine.accounts import workspaces
from app.engine.contacts.contacts import Contact
from app.engine.enrichments import enrichment_estimates
from app.engine.exclusions.exclusions import Exclusion
from app.engine.jobs.jobs import Job
from app.engine.lookups import leads, lookups
from workers.providers.base import ProviderRequest, ProviderResponse

PAGE = "https://www.linkedin.com/company/acme"
ACME = company(linkedin_url=PAGE)
STORED = person(linkedin_url=ADA, member_url=MEMBER, company=ACME, emails=FOUND.emails, phones=FOUND.phones)
TOLD = [("domain", "acme.com"), ("linkedin_url", ADA), ("linkedin_url", MEMBER), ("linkedin_url", PAGE)]
SUBJECTS: tuple[dict[str, str], ...] = ({"linkedin_url": ADA}, {"email": EMAIL}, {"phone": PHONE}, NAMED)
BOTH = (Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE)
WHY = {"reason": "customer", "note": None, "vendor": None, "stage": None}


def held(harness: WorkerHarness) -> int:
    with harness.database.reading() as session:
        return workspaces.balance(session, harness.workspace_id).held


def hide_untold(harness: WorkerHarness) -> None:
    """Tell the workspace nothing about addresses that it does not own."""
    limits = ReverseLookupLimits(0, 0, 0)
    harness.database.settings = replace(harness.database.settings, reverse_lookup_limits=limits)


@pytest.mark.parametrize(("kind", "value"), TOLD)
def test_a_lookup_shows_the_name_and_offers_nothing(harness: WorkerHarness, kind: str, value: str) -> None:
    harness.store_contact(STORED)
    harness.exclude(kind, value)

    found = harness.look_up(linkedin_url=ADA)

    assert (found["excluded"], found["available"]) == (WHY | {"matched_on": kind}, [])
    assert (found["contact"]["full_name"], found["suppressed"]) == ("Ada Lovelace", False)


@pytest.mark.parametrize(("kind", "value"), TOLD)
def test_no_provider_is_called_about_an_excluded_person(
    harness: WorkerHarness, kind: str, value: str
) -> None:
    harness.store_contact(STORED)
    harness.exclude(kind, value)
    providers = harness.set_providers(one=hit(email()))

    jobs = [harness.reveal(subject, job, max_age_days=1) for subject in SUBJECTS for job in BOTH]
    items = [harness.enrich({"subject": subject}, ("profile", "email")) for subject in SUBJECTS]

    assert {(job.outcome, job.charged) for job in jobs} == {("excluded", 0)}
    assert {(item["outcome"], item["credits_charged"]) for item in items} == {("excluded", 0)}
    assert (providers["one"].requests, held(harness)) == ([], 0)


@pytest.mark.parametrize("exclusion", [("email", EMAIL), ("domain", "acme.com")])
def test_an_address_is_excluded_by_itself_and_by_its_domain(
    harness: WorkerHarness, exclusion: tuple[str, str]
) -> None:
    harness.exclude(*exclusion)
    providers = harness.set_providers(one=hit(email()))

    job = harness.reveal({"email": EMAIL}, Kind.REVEAL_PHONE)

    assert (job.outcome, job.charged, providers["one"].requests) == ("excluded", 0, [])
    assert job.result == {"excluded": WHY | {"matched_on": exclusion[0]}}


def test_an_address_that_is_not_owned_is_not_told_by_an_exclusion(harness: WorkerHarness) -> None:
    """Else a workspace could try addresses for nothing, one exclusion after the other."""
    harness.store_contact(STORED)
    harness.exclude("email", EMAIL)

    found, job = harness.look_up(linkedin_url=ADA), harness.reveal({"linkedin_url": ADA})

    assert (found["excluded"], next(entry["masked"] for entry in found["available"])) == (
        None,
        "a•••••@acme.com",
    )
    assert (job.outcome, job.charged) == ("found", 1)


def test_the_owner_of_an_owned_address_is_excluded_by_it(harness: WorkerHarness) -> None:
    contact_id = harness.store_contact(STORED)
    with harness.database.transaction() as session:
        own(session, harness.workspace_id, session.get_one(Contact, contact_id), "email")
    harness.exclude("email", EMAIL)

    found, job = harness.look_up(linkedin_url=ADA), harness.reveal({"linkedin_url": ADA}, Kind.REVEAL_PHONE)

    assert found["excluded"] == WHY | {"matched_on": "email"}
    assert [value["email"] for value in found["revealed"]["emails"]] == [EMAIL]
    assert (job.outcome, job.charged) == ("excluded", 0)


def test_a_person_without_a_company_is_excluded_by_the_domain_that_the_mask_shows(
    harness: WorkerHarness,
) -> None:
    harness.store_contact(person(linkedin_url=ADA, company=None, emails=FOUND.emails))
    harness.exclude("domain", "acme.com")

    found = harness.look_up(linkedin_url=ADA)

    assert found["excluded"] == WHY | {"matched_on": "domain"}


def test_an_exclusion_of_another_workspace_changes_nothing(harness: WorkerHarness) -> None:
    harness.store_contact(STORED)
    harness.other_workspace().exclude("domain", "acme.com")

    job = harness.reveal({"linkedin_url": ADA})

    assert (job.outcome, job.charged, harness.look_up(linkedin_url=ADA)["excluded"]) == ("found", 1, None)


def test_workspaces_that_look_up_together_are_told_of_their_own_exclusions(harness: WorkerHarness) -> None:
    harness.store_contact(STORED)
    other = harness.other_workspace()
    other.exclude("domain", "acme.com")
    ada = Subject(linkedin_url=ADA)
    wanted = [(harness.workspace_id, ada), (other.workspace_id, ada)]

    with harness.database.reading() as session:
        mine, theirs = lookups.look_up_by_key(session, wanted, prices=PRICES)

    assert mine
    assert theirs
    assert (mine["excluded"], theirs["excluded"]) == (None, WHY | {"matched_on": "domain"})


def test_a_suppressed_person_stays_suppressed_and_nothing_is_said_about_an_exclusion(
    harness: WorkerHarness,
) -> None:
    harness.store_contact(STORED)
    harness.exclude("domain", "acme.com")
    harness.suppress("email", EMAIL)

    found, job = harness.look_up(linkedin_url=ADA), harness.reveal({"linkedin_url": ADA})
    item = harness.enrich({"subject": {"linkedin_url": ADA}})

    assert (found["suppressed"], found["excluded"], found["contact"]) == (True, None, None)
    assert (job.outcome, item["outcome"]) == (Outcome.SUPPRESSED, Outcome.SUPPRESSED)


def test_an_answer_that_shows_an_excluded_company_is_not_disclosed(harness: WorkerHarness) -> None:
    harness.exclude("domain", "acme.com")
    harness.set_providers(one=ada_or_nothing)
    unknown = {"full_name": "Ada Lovelace", "company_name": "Acme"}

    job = harness.reveal(unknown)
    item = harness.enrich({"subject": {"linkedin_url": ADA}}, ("profile", "email"))

    assert (job.outcome, job.charged) == ("excluded", 0)
    assert (item["outcome"], item["emails"], item["credits_charged"]) == ("excluded", [], 0)


@pytest.mark.parametrize("kind", [Kind.REVEAL_EMAIL, Kind.ENRICHMENT_REQUEST])
@pytest.mark.parametrize("exclusion", [("linkedin_url", ADA), ("domain", "acme.com")])
def test_an_exclusion_that_is_added_while_a_provider_answers_is_respected(
    harness: WorkerHarness, kind: Kind, exclusion: tuple[str, str]
) -> None:
    def excluded_meanwhile(request: ProviderRequest) -> ProviderResponse:
        with harness.database.transaction() as session:
            session.execute(delete(Exclusion))
        harness.exclude(*exclusion)
        return ada_or_nothing(request)

    harness.set_providers(one=excluded_meanwhile)

    if kind is Kind.REVEAL_EMAIL:
        outcome, charged = (job := harness.reveal({"linkedin_url": ADA})).outcome, job.charged
    else:
        item = harness.enrich({"subject": {"linkedin_url": ADA}}, ("profile", "email"))
        outcome, charged = item["outcome"], item["credits_charged"]

    assert (outcome, charged, held(harness)) == ("excluded", 0, 0)


def test_a_profile_is_not_enriched_of_a_person_who_was_excluded_meanwhile(harness: WorkerHarness) -> None:
    def excluded_meanwhile(request: ProviderRequest) -> ProviderResponse:
        harness.exclude("linkedin_url", ADA)
        return ada_or_nothing(request)

    harness.set_providers(one=excluded_meanwhile)

    item = harness.enrich({"subject": {"linkedin_url": ADA}}, ("profile",))

    assert (item["outcome"], item["contact"]) == ("excluded", None)


def test_an_exclusion_that_is_added_after_the_submission_is_respected(harness: WorkerHarness) -> None:
    harness.store_contact(STORED)
    job_id = harness.submit_reveal({"linkedin_url": ADA})
    harness.exclude("domain", "acme.com")

    job = harness.run_reveal(job_id)

    assert (job.outcome, job.charged, held(harness)) == ("excluded", 0, 0)


def test_an_enrichment_says_why_each_excluded_item_is(harness: WorkerHarness) -> None:
    harness.exclude("linkedin_url", ADA)
    harness.set_providers(one=MISS)
    items = [{"subject": {"linkedin_url": url}} for url in (ADA, BOB)]

    only = harness.run_enrichment(harness.submit_enrichment(items[0]))
    both = harness.run_enrichment(harness.submit_enrichment(*items))

    assert (only["job"]["outcome"], both["job"]["outcome"]) == ("excluded", "not_found")
    excluded = both["result"]["items"][0]["excluded"]
    assert (excluded["reason"], excluded["matched_on"]) == ("customer", "linkedin_url")
    assert "An admin can remove the exclusion" in excluded["message"]


def test_an_estimate_counts_excluded_people(harness: WorkerHarness) -> None:
    harness.exclude("linkedin_url", ADA)
    requests = [{"subject": {"linkedin_url": url}} for url in (ADA, BOB)]

    with harness.database.reading() as session:
        counted = enrichment_estimates.estimate(
            session,
            harness.workspace_id,
            requests,
            ["email"],
            settings=harness.services.settings,
            now=harness.clock.now,
        )

    assert (counted.excluded, counted.credits_max) == (1, 1)


def test_above_the_limit_of_reverse_lookups_an_exclusion_tells_nothing_of_a_company(
    harness: WorkerHarness,
) -> None:
    """Whether a private address belongs to somebody at an excluded company is not told for nothing."""
    private = "ada@gmail.com"
    harness.store_contact(
        person(
            linkedin_url=ADA,
            company=ACME,
            emails=(replace(email(private), type="personal"),),
            phones=FOUND.phones,
        )
    )
    harness.exclude("domain", "acme.com")
    hide_untold(harness)
    providers = harness.set_providers(one=MISS)

    found = [harness.look_up(email=address) for address in (private, "nobody@gmail.com")]
    jobs = [
        harness.reveal({"email": address}, Kind.REVEAL_PHONE) for address in (private, "nobody@gmail.com")
    ]
    items = [harness.enrich({"subject": {"email": address}}) for address in (private, "nobody@gmail.com")]

    assert found[0] == found[1]
    assert {(job.outcome, job.charged) for job in jobs} == {("not_found", 0)}
    assert {item["outcome"] for item in items} == {"not_found"}
    assert all(request.subject.email == "nobody@gmail.com" for request in providers["one"].requests)


def test_above_the_limit_of_reverse_lookups_an_excluded_address_is_excluded_whoever_has_it(
    harness: WorkerHarness,
) -> None:
    harness.store_contact(STORED)
    harness.suppress("email", "eve@acme.com")
    harness.exclude("domain", "acme.com")
    hide_untold(harness)
    addresses = (EMAIL, "nobody@acme.com", "eve@acme.com")

    found = [harness.look_up(email=address) for address in addresses]
    jobs = [harness.reveal({"email": address}, Kind.REVEAL_PHONE) for address in addresses]

    assert found[0] == found[1] == found[2]
    assert found[0]["excluded"] == WHY | {"matched_on": "domain"}
    assert {job.outcome for job in jobs} == {"excluded"}


def test_a_job_of_an_excluded_person_keeps_the_subject(harness: WorkerHarness) -> None:
    harness.exclude("linkedin_url", ADA)

    job = harness.reveal({"linkedin_url": ADA})

    with harness.database.reading() as session:
        assert session.get_one(Job, job.id).request["subject"] == {"linkedin_url": ADA}


def test_a_list_of_the_people_of_a_company_says_who_is_excluded(harness: WorkerHarness) -> None:
    harness.store_contact(STORED)
    harness.exclude("linkedin_url", ADA)
    request = {"hashes": [hex_hash(website_hash("acme.com"))], "limit": 25}

    with harness.database.reading() as session:
        found = [
            leads.by_website_hash(session, each.workspace_id, request, prices=PRICES)
            for each in (harness, harness.other_workspace())
        ]

    shown = [(lead["excluded"], bool(lead["available"])) for each in found if each for lead in each["leads"]]
    assert shown == [(WHY | {"matched_on": "linkedin_url"}, False), (None, True)]


def test_two_workspaces_may_exclude_the_same(harness: WorkerHarness) -> None:
    other = harness.other_workspace()

    with harness.database.transaction() as session:
        ids = {exclude(session, each.workspace_id, "domain", "acme.com") for each in (harness, other)}

    assert len(ids) == 2
