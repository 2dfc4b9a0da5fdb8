"""What a search finds, stores and charges."""

from __future__ import annotations

from typing import Any

import pytest
from audit_support import STUCK_AFTER
from fake_providers import ERROR, MISS, company, email
from jobs_support import NOW, at_once, claim, figures
from people_search_support import ADA, BOB, CAT, ELSEWHERE, Searches, named, people
from sqlalchemy import func, select

from app.domain.kinds import Kind, Outcome, Status
from app.engine.audit import rule_checks
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.jobs import leases
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import LeaseLost
from app.features.people_searches import job_results, work
from app.infra import clock
from workers.execution import job_runner
from workers.providers.base import ProviderField


def violations(searches: Searches) -> list[str]:
    with searches.harness.database.reading() as session:
        found = rule_checks.check(session, stuck_after=STUCK_AFTER, now=clock.now())
        return [fault.rule for result in found for fault in result.faults]


def credits(searches: Searches) -> tuple[int, int, int]:
    with searches.harness.database.reading() as session:
        return figures(session, searches.harness.workspace_id)


def claim_of(searches: Searches, job_id: str) -> Claim:
    """Claim the job as a worker does that is not heard of again."""
    with searches.harness.database.transaction() as session:
        return claim(session, job_id, now=clock.now())


def test_each_person_who_was_not_stored_is_charged_once(searches: Searches) -> None:
    searches.set_providers(one=people(ADA, BOB))

    job = searches.search()

    assert (job.status, job.outcome, job.charged) == (Status.SUCCEEDED, Outcome.FOUND, 2)
    assert credits(searches) == (8, 0, 2)
    assert [(row["full_name"], row["credits_charged"]) for row in searches.shown(job)["people"]] == [
        ("Ada Lovelace", 1),
        ("Bob Ray", 1),
    ]
    assert violations(searches) == []


def test_nothing_found_is_never_charged(searches: Searches) -> None:
    searches.set_providers(one=MISS)

    job = searches.search()

    assert (job.outcome, job.charged, searches.names(job)) == (Outcome.NOT_FOUND, 0, [])
    assert credits(searches) == (10, 0, 0)
    assert [line["outcome"] for line in job.trace] == ["miss"]
    assert violations(searches) == []


def test_a_person_who_was_stored_before_is_free(searches: Searches) -> None:
    searches.set_providers(one=people(ADA, BOB))
    searches.harness.store_contact(ADA)

    job = searches.search()

    assert job.charged == 1
    assert [row["credits_charged"] for row in searches.shown(job)["people"]] == [0, 1]


def test_a_person_found_by_a_second_search_costs_nothing_again(searches: Searches) -> None:
    searches.set_providers(one=people(ADA, BOB))
    searches.search()

    again = searches.search(titles=["engineer"])

    assert (again.outcome, again.charged, len(searches.names(again))) == (Outcome.FOUND, 0, 2)
    assert credits(searches) == (8, 0, 2)


def test_a_person_whom_two_providers_found_is_charged_once(searches: Searches) -> None:
    searches.set_providers(one=people(ADA), two=people(ADA, BOB))

    job = searches.search()

    assert (job.charged, searches.names(job)) == (2, ["Ada Lovelace", "Bob Ray"])


def test_the_next_provider_is_asked_only_while_people_are_missing(searches: Searches) -> None:
    fakes = searches.set_providers(one=people(ADA, BOB), two=people(CAT))

    job = searches.search(limit=2, held=2)

    assert [len(fake.requests) for fake in fakes.values()] == [1, 0]
    assert job.charged == 2


def test_no_more_are_charged_than_the_hold_pays_for(searches: Searches) -> None:
    fakes = searches.set_providers(one=people(ADA, BOB, CAT))

    job = searches.search(held=5, price=2)

    (asked,) = fakes["one"].requests
    assert (asked.people.limit, job.charged, searches.names(job)) == (2, 4, ["Ada Lovelace", "Bob Ray"])
    assert credits(searches) == (6, 0, 4)
    assert violations(searches) == []


def test_without_credits_no_provider_is_asked(searches: Searches) -> None:
    fakes = searches.set_providers(one=people(ADA))

    job = searches.search(held=0)

    assert (fakes["one"].requests, job.outcome, job.charged) == ([], Outcome.NOT_FOUND, 0)


def test_a_search_at_no_price_asks_for_everybody(searches: Searches) -> None:
    fakes = searches.set_providers(one=people(ADA))

    job = searches.search(held=0, price=0)

    assert fakes["one"].requests[0].people.limit == 5
    assert (job.outcome, job.charged) == (Outcome.FOUND, 0)


def test_a_suppressed_person_is_neither_stored_nor_charged(searches: Searches) -> None:
    searches.set_providers(one=people(ADA, BOB))
    searches.harness.suppress("linkedin_url", str(ADA.linkedin_url))

    job = searches.search()

    assert (job.charged, searches.names(job)) == (1, ["Bob Ray"])
    with searches.harness.database.reading() as session:
        assert session.scalars(select(Contact.full_name)).all() == ["Bob Ray"]


def test_a_search_that_finds_only_suppressed_people_finds_nobody(searches: Searches) -> None:
    searches.set_providers(one=people(ADA))
    searches.harness.suppress("linkedin_url", str(ADA.linkedin_url))

    job = searches.search()

    assert (job.outcome, job.charged) == (Outcome.NOT_FOUND, 0)


def test_an_excluded_person_is_not_charged_and_other_workspaces_find_them(searches: Searches) -> None:
    searches.set_providers(one=people(ADA, BOB))
    searches.harness.exclude("linkedin_url", str(ADA.linkedin_url))

    job = searches.search()
    other = searches.other_workspace()
    theirs = other.search(held=0)

    assert (job.charged, searches.names(job)) == (1, ["Bob Ray"])
    assert sorted(other.names(theirs, "stored")) == ["Ada Lovelace", "Bob Ray"]


def test_nobody_is_asked_about_a_suppressed_company(searches: Searches) -> None:
    fakes = searches.set_providers(one=people(ADA))
    searches.harness.suppress("domain", "acme.com")

    job = searches.search()

    assert (fakes["one"].requests, job.outcome, job.charged) == ([], Outcome.SUPPRESSED, 0)
    assert searches.names(job) == []


def test_nobody_is_asked_about_a_company_that_the_workspace_excludes(searches: Searches) -> None:
    fakes = searches.set_providers(one=people(ADA))
    searches.harness.exclude("domain", "acme.com")

    job = searches.search()

    assert (fakes["one"].requests, job.outcome, job.charged) == ([], Outcome.EXCLUDED, 0)
    assert job.result is not None
    assert job.result["excluded"]["matched_on"] == "domain"


def test_a_company_that_is_suppressed_during_the_calls_is_not_charged(searches: Searches) -> None:
    def suppressing(_request: Any) -> Any:
        searches.harness.suppress("domain", "acme.com")
        return people(ADA)

    searches.set_providers(one=suppressing)

    job = searches.search()

    assert (job.outcome, job.charged) == (Outcome.SUPPRESSED, 0)


@pytest.mark.parametrize(
    "stranger",
    [
        ELSEWHERE,
        named("Eve Moor", company=None),
        named("Eve Moor", company=company(name="Other", domain=None)),
        named("Eve Moor", company=company(name=None, domain=None, linkedin_url="https://x.example")),
        named("Eve Moor", full_name=None),
        named("Eve Moor", country="FR"),
    ],
    ids=["other domain", "no company", "other name", "no name of the company", "no name", "other country"],
)
def test_a_person_who_does_not_meet_the_criteria_is_neither_stored_nor_charged(
    searches: Searches, stranger: Any
) -> None:
    searches.set_providers(one=people(stranger, ADA))

    job = searches.search(countries=["DE"])

    assert (job.charged, searches.names(job)) == (1, ["Ada Lovelace"])
    with searches.harness.database.reading() as session:
        assert session.scalars(select(func.count()).select_from(Contact)).one() == 1


def test_the_name_of_the_stored_company_decides_without_a_domain(searches: Searches) -> None:
    searches.harness.store_contact(ADA)
    searches.set_providers(one=people(named("Bob Ray", company=company(name="ACME Inc.", domain=None))))

    job = searches.search()

    assert searches.names(job) == ["Bob Ray"]


def test_a_company_is_searched_by_its_stored_website(searches: Searches) -> None:
    fakes = searches.set_providers(one=MISS)
    searches.harness.store_contact(ADA)

    searches.search(company_domain=None, company_name="Acme")

    (request,) = fakes["one"].requests
    assert (request.field, request.subject.company_domain, request.subject.company_name) == (
        ProviderField.PEOPLE,
        "acme.com",
        None,
    )


def test_a_company_that_is_not_stored_is_searched_by_its_name(searches: Searches) -> None:
    fakes = searches.set_providers(one=people(ADA))

    job = searches.search(company_domain=None, company_name="ACME")

    (request,) = fakes["one"].requests
    assert (request.subject.company_domain, request.subject.company_name) == (None, "ACME")
    assert searches.names(job) == ["Ada Lovelace"]


def test_addresses_are_stored_with_their_source_and_shown_masked(searches: Searches) -> None:
    searches.set_providers(one=people(named("Ada Lovelace", emails=(email(),))))

    job = searches.search()

    (row,) = searches.shown(job)["people"]
    assert [(value["masked"], value["owned"]) for value in row["available"]] == [("a•••••@acme.com", False)]
    with searches.harness.database.reading() as session:
        (stored,) = session.scalars(select(Email))
        assert [source["provider"] for source in stored.sources] == ["one"]


def test_the_same_search_of_another_workspace_costs_the_operator_nothing(searches: Searches) -> None:
    fakes = searches.set_providers(one=people(ADA))
    searches.search()
    other = searches.other_workspace()

    job = other.search()

    assert len(fakes["one"].requests) == 1
    assert ([line["outcome"] for line in job.trace], job.charged) == (["known_miss"], 0)
    assert other.names(job, "stored") == ["Ada Lovelace"]
    assert other.shown(job)["next_page"] == 2


@pytest.mark.parametrize(
    ("request_", "has_more", "next_page"), [({}, True, 2), ({}, False, None), ({"page": 20}, True, None)]
)
def test_the_next_page_is_named_if_a_provider_has_one(
    searches: Searches, request_: dict[str, Any], *, has_more: bool, next_page: int | None
) -> None:
    fakes = searches.set_providers(one=people(ADA, has_more=has_more))

    job = searches.search(**request_)

    assert searches.shown(job)["next_page"] == next_page
    assert fakes["one"].requests[0].people.page == request_.get("page", 1)


def test_a_search_whose_providers_fail_is_tried_again_and_charged_nothing(searches: Searches) -> None:
    searches.set_providers(one=ERROR)
    job_id = searches.submit()

    first = searches.run(job_id)
    for _attempt in range(10):
        searches.move_clock(minutes=10)
        last = searches.run(job_id)

    assert (first.status, last.status, last.charged) == (Status.QUEUED, Status.FAILED, 0)
    assert credits(searches) == (10, 0, 0)
    assert violations(searches) == []


def test_a_worker_killed_after_the_response_leads_to_one_call_and_one_charge(
    searches: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes = searches.set_providers(one=people(ADA, BOB))
    job_id = searches.submit()

    class Killed(BaseException):
        pass

    def kill(*_arguments: Any) -> Any:
        raise Killed

    with monkeypatch.context() as killing:
        killing.setattr(work.PeopleFound, "settle", kill)
        with pytest.raises(Killed):
            searches.run(job_id)
    searches.move_clock(minutes=5)
    job = searches.run(job_id)

    assert (job.status, job.charged, len(fakes["one"].requests)) == (Status.SUCCEEDED, 2, 1)
    assert credits(searches) == (8, 0, 2)
    assert violations(searches) == []


def test_a_worker_that_lost_its_lease_charges_and_stores_nothing(searches: Searches) -> None:
    searches.set_providers(one=people(ADA))
    job_id, harness = searches.submit(), searches.harness
    lost = claim_of(searches, job_id)
    found = work.people_search(lost, harness.services)
    searches.move_clock(minutes=5)
    job = searches.run(job_id)

    with pytest.raises(LeaseLost), harness.database.transaction() as session:
        leases.settle(session, lost, found.settle(session, clock.now()), now=clock.now())

    assert (job.charged, searches.read(job_id).charged) == (1, 1)
    assert credits(searches) == (9, 0, 1)


def test_two_searches_that_find_the_same_person_charge_one_of_them(searches: Searches) -> None:
    searches.set_providers(one=people(ADA))
    first, second = searches.submit(titles=["a"]), searches.submit(titles=["b"])
    found = []
    for job_id in (first, second):  # both have asked before one of them is settled
        held = claim_of(searches, job_id)
        found.append((held, work.people_search(held, searches.harness.services)))

    for held, people_found in found:
        with searches.harness.database.transaction() as session:
            leases.settle(session, held, people_found.settle(session, clock.now()), now=clock.now())

    assert sorted(searches.read(job_id).charged for job_id in (first, second)) == [0, 1]
    assert credits(searches) == (9, 0, 1)
    assert violations(searches) == []


def test_searches_that_are_settled_at_the_same_time_charge_each_person_once(searches: Searches) -> None:
    searches.set_providers(one=people(ADA, BOB, CAT))
    job_ids = [searches.submit(titles=[title], held=2, limit=2) for title in "abcd"]
    held = [claim_of(searches, job_id) for job_id in job_ids]
    found = [work.people_search(one, searches.harness.services) for one in held]

    def settle(number: int) -> None:
        with searches.harness.database.transaction() as session:
            leases.settle(session, held[number], found[number].settle(session, NOW), now=clock.now())

    at_once(len(held), settle)

    assert sum(searches.read(job_id).charged for job_id in job_ids) == 2
    assert credits(searches) == (8, 0, 2)
    assert violations(searches) == []


def test_the_job_keeps_ids_and_no_personal_data(searches: Searches) -> None:
    searches.set_providers(one=people(ADA))

    job = searches.search()

    assert "Ada" not in f"{job.result} {job.request} {job.trace}"
    assert job_runner.JOBS[Kind.PEOPLE_SEARCH] is work.people_search


def test_a_search_whose_request_was_deleted_shows_nothing(searches: Searches) -> None:
    searches.set_providers(one=people(ADA))
    job = searches.search()

    with searches.harness.database.reading() as session:
        shown = job_results.show(session, job._replace(request={}, result=None), {})

    assert shown is None
