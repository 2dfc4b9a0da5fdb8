"""A list of a CRM is enriched on a schedule: what its records lack is found, paid for, and filled in."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from types import SimpleNamespace

import pytest
from crm_schedule_support import LISTS, Scheduler, answer, with_phones
from crm_support import CrmHarness
from fake_crms import FakeSalesforce, FakeZoho
from fake_providers import ERROR, MISS
from jobs_support import NOW, at_once
from sqlalchemy import delete, select
from stored_support import a_company, a_contact, an_email, exclude, own, suppress

from app.engine.contacts.contacts import Contact
from app.engine.jobs.jobs import Job, JobItem
from app.engine.own_records import own_records
from app.engine.work.turns import LeaseLost
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.schedules import enrichment, results, runs, selection
from app.features.crm.schedules.list_reading import ListReading
from app.features.crm.schedules.tables import SCHEDULING
from app.features.crm.turn import pace
from app.features.crm.vendors.hubspot.hubspot import HubSpot
from app.features.crm.vendors.members import Members

every_vendor = pytest.mark.parametrize("vendor", sorted(LISTS))


@pytest.fixture
def scheduler(harness: CrmHarness, vendor: str, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    scheduler = Scheduler.of(harness, vendor)
    scheduler.set_providers(monkeypatch, one=answer)
    return scheduler


@every_vendor
def test_a_run_fills_what_the_records_of_a_list_lack(scheduler: Scheduler, vendor: str) -> None:
    ids = scheduler.has(1, 2, 3)
    scheduler.schedule()

    run = scheduler.run()

    assert (run.status, run.members, run.people, run.charged, run.reason) == ("finished", 3, 3, 3, None)
    assert [(record.crm_id, record.outcome, record.charged) for record in scheduler.records()] == [
        (id_, "found", 1) for id_ in ids
    ]
    assert [item.outcome for item in scheduler.pushed()] == ["updated"] * 3
    assert len(scheduler.harness.crm.people) == 3
    for number, id_ in enumerate(ids, 1):
        assert f"person{number}@acme.com" in str(scheduler.harness.crm.people[id_])
    assert scheduler.balance().available == 7


def test_a_refresh_is_not_answered_by_the_record_itself(scheduler: Scheduler) -> None:
    scheduler.has(1, phone="+16502530000")
    scheduler.services = dataclasses.replace(
        scheduler.services, own_records=own_records.load_all(scheduler.services.settings)
    )
    scheduler.schedule(fields=["phone"], refresh_days=1)
    scheduler.harness.later(seconds=3 * 86400)

    run = scheduler.run()

    assert (run.people, scheduler.outcomes()) == (1, ["not_found"])


@every_vendor
def test_what_people_wrote_in_the_crm_is_kept(scheduler: Scheduler, vendor: str) -> None:
    [id_] = scheduler.has(1)
    scheduler.schedule()
    scheduler.write(id_, email="ada@home.example", title="Countess")  # after it was read

    scheduler.run()

    [item] = scheduler.pushed()
    assert scheduler.outcomes() == ["found"]
    assert "ada@home.example" in str(scheduler.harness.crm.people[id_])
    assert "Countess" in str(scheduler.harness.crm.people[id_])
    assert "person1@acme.com" not in str(scheduler.harness.crm.people[id_])
    assert list(item.actions.values()).count("keep") >= 2


@every_vendor
def test_a_number_is_filled_in_though_the_workspace_owns_no_address(
    scheduler: Scheduler, vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [id_] = scheduler.has(1)
    scheduler.set_providers(monkeypatch, one=with_phones)
    scheduler.schedule(fields=["phone"])

    scheduler.run()

    assert [item.outcome for item in scheduler.pushed()] == ["updated"]
    assert "6175550101" in str(scheduler.harness.crm.people[id_])
    assert len(scheduler.harness.crm.people) == 1


@pytest.mark.parametrize("vendor", ["salesforce", "zoho"])
def test_leads_of_a_list_are_filled(scheduler: Scheduler, vendor: str) -> None:
    crm = scheduler.harness.crm
    assert isinstance(crm, (FakeSalesforce, FakeZoho))
    stamp = (NOW - timedelta(days=1)).isoformat()
    names = ("FirstName", "LastName", "SystemModstamp")
    if isinstance(crm, FakeZoho):
        names = ("First_Name", "Last_Name", "Modified_Time")
    crm.leads["77"] = {**dict(zip(names, ("Ada", "Person7", stamp), strict=True)), "Company": "Acme"}
    crm.lists[LISTS[vendor]] = ["77"]
    scheduler.schedule(kind=RecordKind.LEAD.value)

    scheduler.run()

    assert scheduler.outcomes() == ["found"]
    assert [item.outcome for item in scheduler.pushed()] == ["updated"]
    assert "person7@acme.com" in str(crm.leads["77"])
    assert crm.people == {}


def test_only_what_a_record_lacks_is_asked_for_and_paid(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1)
    scheduler.has(2, email="ada.two@acme.com")
    scheduler.has(3, phone="+16502530000")
    scheduler.has(4, email="ada.four@acme.com", phone="+16502530001")
    scheduler.set_providers(monkeypatch, one=with_phones)
    scheduler.schedule(fields=["email", "phone"])

    run = scheduler.run()

    asked = {record.crm_id: (record.asked, record.charged) for record in scheduler.records()}
    assert asked == {"1": ("email,phone", 2), "2": ("phone", 1), "3": ("email", 1)}
    assert (run.jobs, run.charged, run.members) == (3, 4, 4)


def test_a_person_of_whom_one_field_is_found_is_found_in_part(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule(fields=["email", "phone"])

    run = scheduler.run()

    assert (scheduler.outcomes(), run.charged) == (["partial"], 1)


def test_a_run_asks_for_so_many_people_at_most_and_the_next_one_for_the_others(scheduler: Scheduler) -> None:
    scheduler.has(1, 2, 3, 4, 5)
    scheduler.schedule(max_people=3)

    first = scheduler.run()
    second = scheduler.run()

    assert (first.people, second.people, second.due_at - first.due_at) == (3, 2, timedelta(days=1))
    assert [record.crm_id for record in scheduler.records()] == ["1", "2", "3", "4", "5"]


def test_a_person_of_whom_nothing_is_found_is_asked_for_again_after_a_month(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1)
    scheduler.set_providers(monkeypatch, one=MISS)
    scheduler.schedule()
    scheduler.run()

    next_day = scheduler.run()
    scheduler.harness.now += selection.ASK_AGAIN
    after_a_month = scheduler.run()

    assert (next_day.people, next_day.members, after_a_month.people) == (0, 1, 1)
    assert scheduler.outcomes() == ["not_found", "not_found"]


def test_a_person_of_whom_providers_failed_is_asked_for_again_in_the_next_run(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1)
    scheduler.set_providers(monkeypatch, one=ERROR)
    scheduler.schedule()
    scheduler.run()
    scheduler.set_providers(monkeypatch, one=answer)

    scheduler.run()

    assert [(record.outcome, record.error) for record in scheduler.records()] == [
        ("failed", "provider_failed"),
        ("found", None),
    ]


def test_a_record_that_was_not_changed_for_long_is_asked_for_in_full(scheduler: Scheduler) -> None:
    old = (NOW - timedelta(days=91)).isoformat()
    scheduler.has(1, email="person1@acme.com", lastmodifieddate=old)
    scheduler.has(2, email="person2@acme.com")
    scheduler.has(3, email="person3@acme.com", lastmodifieddate=None)
    scheduler.schedule(refresh_days=90)

    scheduler.run()
    again = scheduler.run()

    assert [(record.crm_id, record.asked) for record in scheduler.records()] == [("1", "email")]
    assert again.people == 0


def test_members_that_are_not_in_the_index_are_counted_and_left_out(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.harness.crm.lists["42"] += ["2", "1"]
    scheduler.schedule()

    run = scheduler.run()

    assert (run.members, run.unindexed, run.people) == (3, 1, 1)


@every_vendor
def test_an_empty_list_asks_for_nobody_and_pushes_nothing(scheduler: Scheduler, vendor: str) -> None:
    scheduler.has()
    scheduler.schedule()

    run = scheduler.run()

    assert (run.status, run.members, run.people, run.push_id) == ("finished", 0, 0, None)


def test_a_list_that_is_too_long_is_read_in_part(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule()
    monkeypatch.setattr(selection, "MAX_MEMBERS", 2)

    assert scheduler.run().members == 2


def test_a_record_that_names_nobody_costs_nothing(scheduler: Scheduler) -> None:
    scheduler.has(1, company="")
    scheduler.has(2, company="", phone="+16502530000")
    scheduler.schedule()

    run = scheduler.run()

    nobody, somebody = scheduler.records()
    assert (nobody.outcome, nobody.job_id) == ("unidentified", None)
    assert somebody.job_id is not None
    assert run.jobs == 1


def test_nothing_is_asked_if_no_record_names_anybody(scheduler: Scheduler) -> None:
    scheduler.has(1, 2, company="")
    scheduler.schedule()

    run = scheduler.run()

    assert (scheduler.outcomes(), run.jobs) == (["unidentified"] * 2, 0)


def test_a_record_that_is_gone_from_the_index_when_it_is_asked_for_is_left_out(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    scheduler.turn()
    scheduler.harness.crm.people.clear()
    scheduler.harness.later(days=1)
    scheduler.harness.read_to_the_end()

    scheduler.go_on()

    assert scheduler.outcomes() == ["unidentified"]


def test_people_who_opted_out_or_are_excluded_cost_nothing_and_are_not_pushed(scheduler: Scheduler) -> None:
    scheduler.has(1, hs_linkedin_url="https://www.linkedin.com/in/ada-one")
    scheduler.has(2, hs_linkedin_url="https://www.linkedin.com/in/ada-two")
    scheduler.schedule()
    with scheduler.harness.database.transaction() as session:
        suppress(session, "linkedin_url", "https://www.linkedin.com/in/ada-one")
        workspace_id = scheduler.harness.workspace_id
        exclude(session, workspace_id, "linkedin_url", "https://www.linkedin.com/in/ada-two", now=NOW)

    run = scheduler.run()

    assert (scheduler.outcomes(), run.charged, scheduler.pushed()) == (["suppressed", "excluded"], 0, [])


def test_a_person_whom_the_workspace_pushes_to_another_record_is_not_pushed_to_this_one(
    scheduler: Scheduler,
) -> None:
    scheduler.has(1, hs_linkedin_url="https://www.linkedin.com/in/ada-one")
    scheduler.has(
        2, firstname="Ada", lastname="Person1", hs_linkedin_url="https://www.linkedin.com/in/ada-one"
    )
    scheduler.schedule()

    scheduler.run()

    assert [record.error for record in scheduler.records()] == [None, "other_record"]
    assert len(scheduler.pushed()) == 1


def test_a_record_that_was_deleted_meanwhile_is_not_created_again(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.submit()
    scheduler.harness.crm.people.clear()

    scheduler.go_on()

    [item] = scheduler.pushed()
    assert (item.outcome, item.error) == ("failed", "record_gone")
    assert scheduler.harness.crm.people == {}


def test_an_address_that_bounced_and_a_change_of_company_are_marked(scheduler: Scheduler) -> None:
    profile = "https://www.linkedin.com/in/ada-lovelace"
    scheduler.has(
        1, email="old@acme.com", company="Globex", website="globex.example", hs_linkedin_url=profile
    )
    contact_id = scheduler.harness.owned_contact("ada@acme.com", linkedin_url=profile)
    with scheduler.harness.database.transaction() as session:
        contact = session.get_one(Contact, contact_id)
        an_email(session, contact, "old@acme.com", status="invalid")
        own(session, scheduler.harness.workspace_id, contact, "email")
    scheduler.harness.later(days=100)
    scheduler.schedule(refresh_days=90)

    scheduler.run()

    [record] = scheduler.records()
    assert (record.contact_id, record.marks) == (contact_id, ["bounced", "job_changed"])


def test_an_address_that_the_workspace_does_not_own_is_not_marked(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = "https://www.linkedin.com/in/ada-lovelace"
    scheduler.has(1, email="old@acme.com", company="Acme Engines", hs_linkedin_url=profile)
    with scheduler.harness.database.transaction() as session:
        contact = a_contact(session, a_company(session), "Ada Lovelace", linkedin_url=profile)
        an_email(session, contact, "old@acme.com", status="invalid")
        contact_id = contact.id
    scheduler.set_providers(monkeypatch, one=with_phones)
    scheduler.schedule(fields=["phone"])

    scheduler.run()

    [record] = scheduler.records()
    assert (record.contact_id, record.outcome, record.marks) == (contact_id, "found", [])


def test_a_run_happens_once_however_many_workers_are_told(scheduler: Scheduler) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule()
    scheduler.at_due_time()

    at_once(4, lambda _number: scheduler.turn())
    at_once(4, lambda _number: scheduler.turn())
    run = scheduler.go_on()

    assert len(scheduler.runs()) == 1
    assert (run.jobs, run.charged, len(scheduler.pushed())) == (1, 3, 3)


def test_a_schedule_that_is_not_due_does_nothing(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()

    scheduler.turn()

    assert (scheduler.runs(), scheduler.due_at()) == ([], scheduler.stored().next_at)


def test_a_worker_that_takes_over_reads_the_list_on(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule()
    scheduler.at_due_time()
    page = ListReading._page  # noqa: SLF001 -- the place at which the worker is killed

    def is_killed(reading: ListReading, position: str | None) -> Members:
        if position is not None:
            raise KeyboardInterrupt
        return page(reading, position)

    scheduler.turn()
    scheduler.harness.later(seconds=60)
    with monkeypatch.context() as killing:
        killing.setattr(ListReading, "_page", is_killed)
        with pytest.raises(KeyboardInterrupt):
            scheduler.turn()
    half = len(scheduler.records())
    scheduler.turn()  # the dead worker still has the lease
    scheduler.harness.later(seconds=SCHEDULING.lease.seconds + 1)

    run = scheduler.go_on()

    assert (half, run.members, run.charged, scheduler.outcomes()) == (2, 3, 3, ["found"] * 3)
    assert len(scheduler.runs()) == 1


@pytest.mark.parametrize("place", ["_collect", "_submit"])
def test_a_worker_that_takes_over_submits_and_counts_each_enrichment_once(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule()
    scheduler.at_due_time()
    original = getattr(enrichment, place)

    def is_killed(*arguments: object, **options: object) -> None:
        original(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as killing:
        killing.setattr(enrichment, place, is_killed)
        with pytest.raises(KeyboardInterrupt):
            scheduler.go_on()
    scheduler.harness.later(seconds=SCHEDULING.lease.seconds + 1)

    run = scheduler.go_on()

    assert (run.jobs, run.charged, scheduler.outcomes()) == (1, 3, ["found"] * 3)
    assert scheduler.balance().available == 7


def test_a_worker_that_takes_over_at_the_end_pushes_once(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1)
    scheduler.schedule()
    end = results.end

    def is_killed(*arguments: object, **options: object) -> None:
        end(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as killing:
        killing.setattr(results, "end", is_killed)
        with pytest.raises(KeyboardInterrupt):
            scheduler.run()
    scheduler.harness.later(seconds=SCHEDULING.lease.seconds + 1)

    scheduler.go_on()

    assert len(scheduler.pushed()) == 1
    assert len(scheduler.runs()) == 1


def test_a_worker_that_is_late_stores_nothing(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule()
    scheduler.at_due_time()
    page = ListReading._page  # noqa: SLF001 -- as above
    others: list[int] = []

    def is_slow(reading: ListReading, position: str | None) -> Members:
        found = page(reading, position)
        if not others:
            others.append(1)
            scheduler.harness.later(seconds=SCHEDULING.lease.seconds + 1)
            scheduler.turn()
        return found

    monkeypatch.setattr(ListReading, "_page", is_slow)
    scheduler.turn()

    assert [record.crm_id for record in scheduler.records()] == ["1", "2"]
    assert scheduler.go_on().members == 3


def test_times_that_pass_while_a_run_is_under_way_are_skipped(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.submit()
    scheduler.run_jobs()
    scheduler.harness.later(days=3)

    run = scheduler.go_on()

    next_at = scheduler.stored().next_at
    assert run.due_at == NOW.replace(hour=12, minute=0)
    assert next_at is not None
    assert next_at > scheduler.harness.now
    assert len(scheduler.runs()) == 1


def test_an_enrichment_that_was_deleted_counts_as_failed(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.submit()
    with scheduler.harness.database.transaction() as session:
        session.execute(delete(JobItem))
        session.execute(delete(Job))

    run = scheduler.go_on()

    assert [(record.outcome, record.error) for record in scheduler.records()] == [("failed", "job_expired")]
    assert run.charged == 0


def test_an_enrichment_that_expired_counts_as_failed(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.submit()
    with scheduler.harness.database.transaction() as session:
        job = session.scalars(select(Job)).one()
        job.status, job.finished_at = "expired", scheduler.harness.now

    scheduler.go_on()

    assert [(record.outcome, record.error) for record in scheduler.records()] == [("failed", "job_expired")]


def test_a_person_who_is_erased_meanwhile_has_no_receipt_of_a_contact(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.submit()
    scheduler.run_jobs()
    with scheduler.harness.database.transaction() as session:
        session.execute(delete(Contact))

    scheduler.go_on()

    [record] = scheduler.records()
    assert (record.contact_id, scheduler.pushed()) == (None, [])


def test_a_large_list_is_enriched_in_parts(scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule()
    monkeypatch.setattr(enrichment, "SIZE", 2)

    run = scheduler.run()

    assert (run.jobs, run.charged) == (2, 3)


def test_values_without_a_price_are_found_though_there_are_no_credits(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1)
    scheduler.set_prices(0)
    scheduler.schedule()

    run = scheduler.run()

    assert (scheduler.outcomes(), run.charged) == (["found"], 0)


def test_a_list_is_read_evenly_with_a_tenth_of_the_rate(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1, 2, 3)
    scheduler.schedule()
    monkeypatch.setattr(HubSpot, "calls_per_minute", 120)
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: 0.0))
    scheduler.at_due_time()

    scheduler.turn()  # two requests: the list, and its first page
    after_a_turn, pause = len(scheduler.records()), scheduler.due_at() - scheduler.harness.now
    run = scheduler.go_on()

    assert (after_a_turn, pause, run.members) == (2, timedelta(seconds=10), 3)


def test_a_schedule_that_is_deleted_while_it_runs_ends(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    page = ListReading._page  # noqa: SLF001 -- as above

    def is_deleted(reading: ListReading, position: str | None) -> Members:
        scheduler.delete()
        return page(reading, position)

    monkeypatch.setattr(ListReading, "_page", is_deleted)
    scheduler.turn()

    assert (scheduler.runs(), scheduler.records(), scheduler.due_at()) == ([], [], None)


def test_the_work_of_a_schedule_whose_connection_was_deleted_ends(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    scheduler.disconnect()

    scheduler.turn()

    assert scheduler.due_at() is None


def test_a_schedule_without_a_run_is_not_held(scheduler: Scheduler) -> None:
    scheduler.has(1)
    scheduler.schedule()
    scheduler.at_due_time()
    held: list[runs.Step] = []
    scheduler.steps(held)
    scheduler.forget_run()

    with scheduler.harness.database.transaction() as session, pytest.raises(LeaseLost):
        runs.hold(session, held[0], now=scheduler.harness.now)
