"""The people of a report of Salesforce are enriched on a schedule."""

from __future__ import annotations

from typing import Any

import pytest
from crm_schedule_support import Scheduler, answer
from crm_support import CrmHarness
from fake_crms import FakeReport, FakeSalesforce
from jobs_support import NOW

from app.features.crm.index.crm_people import RecordKind
from app.features.crm.schedules import sentences

REPORT = "00O5g00000AbCdE"
TABULAR = "T!T"
COLUMNS = {"EMAIL": "email", "FULL_NAME": "string", "AMOUNT": "currency"}


@pytest.fixture
def vendor() -> str:
    return "salesforce"


@pytest.fixture
def scheduler(harness: CrmHarness, vendor: str, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    scheduler = Scheduler.of(harness, vendor)
    scheduler.set_providers(monkeypatch, one=answer)
    return scheduler


@pytest.fixture
def salesforce(scheduler: Scheduler) -> FakeSalesforce:
    assert isinstance(scheduler.harness.crm, FakeSalesforce)
    return scheduler.harness.crm


def a_report(ids: list[str | None], column: str = "FULL_NAME", **options: Any) -> FakeReport:
    """Return a tabular report with these values in one column."""
    columns = COLUMNS | ({} if column in COLUMNS else {column: "id"})
    rows = [{column: id_, "EMAIL": "-", "AMOUNT": {"amount": 1}} for id_ in ids]
    return FakeReport(columns, {TABULAR: rows}, **options)


def test_the_people_of_a_report_are_enriched(scheduler: Scheduler, salesforce: FakeSalesforce) -> None:
    ids = scheduler.has(1, 2)
    salesforce.reports[REPORT] = a_report([*ids, None, ids[0]])
    scheduler.schedule(list_id=REPORT)

    run = scheduler.run()

    assert (run.members, run.people, run.charged, run.is_partial) == (2, 2, 2, False)
    assert "person2@acme.com" in str(salesforce.people[ids[1]])


def test_only_columns_that_may_name_people_or_are_used_otherwise_are_read(
    scheduler: Scheduler, salesforce: FakeSalesforce
) -> None:
    [id_] = scheduler.has(1)
    report = a_report([id_], sorted_by="EMAIL")
    salesforce.reports[REPORT] = report
    scheduler.schedule(list_id=REPORT)

    scheduler.run()
    sorted_columns = report.run_with
    report.sorted_by, report.aggregates = "", ["s!AMOUNT", "RowCount"]
    scheduler.run()

    assert sorted_columns == ["EMAIL", "FULL_NAME"]
    assert report.run_with == ["FULL_NAME", "AMOUNT"]


def test_ids_of_15_characters_name_the_same_records(scheduler: Scheduler, salesforce: FakeSalesforce) -> None:
    salesforce.people["0035g00000AbCdEAAV"] = {
        "FirstName": "Ada",
        "LastName": "Lovelace",
        "AccountId": "001",
        "SystemModstamp": NOW.isoformat(timespec="milliseconds"),
    }
    scheduler.has(1)
    salesforce.reports[REPORT] = a_report(["0035g00000AbCdE"], "CONTACT_ID")
    scheduler.schedule(list_id=REPORT)

    scheduler.run()

    assert [record.crm_id for record in scheduler.records()] == ["0035g00000AbCdEAAV"]


def test_the_rows_of_all_groups_of_a_report_are_read(
    scheduler: Scheduler, salesforce: FakeSalesforce
) -> None:
    ids = scheduler.has(1, 2)
    groups = {"0!T": [{"FULL_NAME": ids[0]}], "1!T": [{"FULL_NAME": ids[1]}], TABULAR: []}
    salesforce.reports[REPORT] = FakeReport(COLUMNS, groups)
    scheduler.schedule(list_id=REPORT)

    run = scheduler.run()

    assert (run.members, scheduler.outcomes()) == (2, ["found", "found"])


def test_a_report_of_leads_is_read_by_the_ids_of_leads(
    scheduler: Scheduler, salesforce: FakeSalesforce
) -> None:
    stamp = NOW.isoformat(timespec="milliseconds")
    lead = {"FirstName": "Ada", "LastName": "Person7", "Company": "Acme", "SystemModstamp": stamp}
    salesforce.leads["00Q000000000007EAA"] = lead
    salesforce.reports[REPORT] = a_report(["00Q000000000007"], "LEAD_ID")
    scheduler.schedule(list_id=REPORT, kind=RecordKind.LEAD.value)

    scheduler.run()

    assert scheduler.outcomes() == ["found"]
    assert "person7@acme.com" in str(salesforce.leads["00Q000000000007EAA"])


def test_a_report_with_more_rows_than_are_returned_is_read_in_part(
    scheduler: Scheduler, salesforce: FakeSalesforce
) -> None:
    salesforce.reports[REPORT] = a_report([*scheduler.has(1)], is_whole=False)
    scheduler.schedule(list_id=REPORT)

    run = scheduler.run()

    assert (run.is_partial, run.members, run.reason) == (True, 1, None)


@pytest.mark.parametrize("values", [["Ada Person1"], ["00Q000000000007EAA"], [None]])
def test_a_report_that_does_not_say_which_records_its_people_are_stops_the_schedule(
    scheduler: Scheduler, salesforce: FakeSalesforce, values: list[str | None]
) -> None:
    scheduler.has(1)
    salesforce.reports[REPORT] = a_report(values)
    scheduler.schedule(list_id=REPORT)

    run = scheduler.run()

    assert (run.reason, run.members, scheduler.stored().state) == ("list_without_ids", 0, "stopped")
    assert "Add the column Contact ID" in sentences.reason_sentence(run.reason)


def test_a_report_without_a_column_that_can_have_ids_is_not_run(
    scheduler: Scheduler, salesforce: FakeSalesforce
) -> None:
    scheduler.has(1)
    salesforce.reports[REPORT] = FakeReport({"EMAIL": "email"}, {TABULAR: []})
    scheduler.schedule(list_id=REPORT)

    run = scheduler.run()

    assert (
        run.reason,
        ("POST", f"/services/data/v62.0/analytics/reports/{REPORT}") in salesforce.requests,
    ) == (
        "list_without_ids",
        False,
    )


def test_a_report_without_rows_asks_for_nobody(scheduler: Scheduler, salesforce: FakeSalesforce) -> None:
    scheduler.has(1)
    salesforce.reports[REPORT] = a_report([])
    scheduler.schedule(list_id=REPORT)

    run = scheduler.run()

    assert (run.status, run.members, run.reason) == ("finished", 0, None)


def test_a_report_that_is_gone_stops_the_schedule(scheduler: Scheduler, salesforce: FakeSalesforce) -> None:
    scheduler.has(1)
    scheduler.schedule(list_id=REPORT)

    assert scheduler.run().reason == "list_gone"
