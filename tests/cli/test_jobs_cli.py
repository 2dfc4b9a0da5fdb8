from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result
from jobs_support import NOW, a_job, a_question, a_workspace, claim, submit

from app.domain.errors import FieldError, InvalidValue, ProviderFailed, ValidationFailed
from app.domain.kinds import Kind, Outcome
from app.engine.jobs import leases
from app.engine.jobs.jobs import JobItem
from app.engine.jobs.leases import JobResult
from app.infra.database.db import Database

Run = Callable[..., Result]
STAMP = "2026-11-20T09:30:00.000Z"
TRACE = [
    {"provider": "pattern", "outcome": "miss", "latency_ms": 4, "cost": 0},
    {
        "provider": "hunter",
        "field": "email",
        "outcome": "hit",
        "status": "valid",
        "latency_ms": 412,
        "cost": 0.5,
        "at": STAMP,
    },
]
RESULT = {"emails": [{"email": "ada@acme.example"}], "phones": [{"e164": "+12025550143"}]}


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(args=["jobs", *arguments])


@pytest.fixture
def workspace_id(database: Database) -> str:
    with database.transaction() as session:
        return a_workspace(session)


@pytest.fixture
def job_id(database: Database, workspace_id: str) -> str:
    """A job that held three credits and was charged one; its trace has an e-mail that must not be shown."""
    trace = [TRACE[0], {**TRACE[1], "email": "ada@acme.example"}]
    with database.transaction() as session:
        subject = {"subject": {"email": "ada@acme.example"}, "client_reference": "ada@acme.example"}
        job_id = a_job(session, workspace_id, price=3, request=subject)
        result = JobResult(outcome=Outcome.FOUND, result=RESULT, charge=1, trace=trace)
        leases.settle(session, claim(session, job_id), result, now=NOW)
        return job_id


def body_of(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_receipt_has_the_provider_calls_and_the_credits(run: Run, job_id: str, workspace_id: str) -> None:
    receipt = body_of(run("show", job_id, "--json"))

    assert receipt == {
        "job": {
            "id": job_id,
            "workspace_id": workspace_id,
            "kind": "reveal.email",
            "status": "succeeded",
            "outcome": "found",
            "created_at": STAMP,
            "finished_at": STAMP,
            "attempts": 1,
            "crashes": 0,
            "error": None,
        },
        "credits": {"held": 3, "charged": 1, "refunded": 2, "reserved": 0, "already_owned": False},
        "trace": TRACE,
        "items": [],
    }


def test_a_receipt_is_printed_as_tables(run: Run, job_id: str) -> None:
    lines = [line.split() for line in run("show", job_id).stdout.splitlines()]

    assert ["id", job_id] in lines
    assert ["refunded", "2"] in lines
    assert ["pattern", "miss", "4", "0"] in lines
    assert ["email", "hunter", "hit", "valid", "412", "0.5", STAMP] in lines


def test_contact_data_is_not_printed(run: Run, job_id: str) -> None:
    printed = "".join(run("show", job_id, *option).stdout for option in ((), ("--json",)))
    printed += "".join(run("list", *option).stdout for option in ((), ("--json",)))

    assert job_id in printed
    assert not re.search(r"\bada\b", printed)
    assert "+1" not in printed


def test_the_credits_of_an_unfinished_job_are_reserved(
    run: Run, database: Database, workspace_id: str
) -> None:
    with database.transaction() as session:
        job_id = a_job(session, workspace_id, price=3)

    receipt = body_of(run("show", job_id, "--json"))

    assert receipt["credits"] == {
        "held": 3,
        "charged": 0,
        "refunded": 0,
        "reserved": 3,
        "already_owned": False,
    }
    assert receipt["job"]["finished_at"] is None
    assert "No provider was called." in run("show", job_id).stdout


def test_a_failed_job_has_its_error_and_a_full_refund(
    run: Run, database: Database, workspace_id: str
) -> None:
    problem = ProviderFailed()
    with database.transaction() as session:
        job_id = a_job(session, workspace_id, price=3)
        leases.fail(session, claim(session, job_id), problem.as_dict(), trace=TRACE[:1], now=NOW)

    receipt, page = body_of(run("show", job_id, "--json")), run("show", job_id).stdout

    assert receipt["job"]["error"] == {"code": "provider_failed", "title": problem.title}
    assert receipt["credits"]["refunded"] == 3
    assert "provider_failed" in page


def test_an_enrichment_has_the_cost_of_each_item(run: Run, database: Database, workspace_id: str) -> None:
    error = ValidationFailed(
        detail=str(InvalidValue("ada@acme is no e-mail")), errors=(FieldError("/email", "No e-mail."),)
    ).as_dict()
    with database.transaction() as session:
        question = a_question(
            workspace_id,
            kind=Kind.ENRICHMENT_REQUEST,
            items=({"subject": {"email": "ada@acme.example"}}, {"error": error}),
            allow_partial_hold=True,
        )
        job_id = submit(session, question).job.id
        claimed = claim(session, job_id)
        for item in (
            JobItem(job_id=job_id, index=0, request={}, outcome="found", result=RESULT, charged=1),
            JobItem(job_id=job_id, index=1, request={}, error=error, charged=0),
        ):
            leases.complete_item(session, claimed, item, charge=item.charged, lease_until=NOW)
        trace = [{"item": 0, **TRACE[1]}]
        leases.settle(session, claimed, JobResult(outcome=Outcome.PARTIAL, trace=trace), now=NOW)

    receipt, page = body_of(run("show", job_id, "--json")), run("show", job_id).stdout

    assert receipt["items"] == [
        {"index": 0, "outcome": "found", "charged": 1, "error": None},
        {
            "index": 1,
            "outcome": None,
            "charged": 0,
            "error": {"code": "validation_error", "title": error["title"]},
        },
    ]
    assert receipt["trace"][0]["item"] == 0
    assert not re.search(r"\bada\b", page)
    assert ["1", "0", "validation_error"] in [line.split() for line in page.splitlines()]


def test_jobs_are_listed_by_workspace_and_status(
    run: Run, database: Database, job_id: str, workspace_id: str
) -> None:
    with database.transaction() as session:
        other = a_workspace(session)
        queued = a_job(session, other)

    def listed(*arguments: str) -> list[tuple[str, int]]:
        return [(job["id"], job["charged"]) for job in body_of(run("list", "--json", *arguments))["jobs"]]

    assert listed() == sorted([(queued, 0), (job_id, 1)], reverse=True)
    assert listed("--workspace", workspace_id) == [(job_id, 1)]
    assert listed("--status", "queued") == [(queued, 0)]
    assert listed("--workspace", other, "--status", "succeeded") == []
    assert len(listed("--limit", "1")) == 1
    assert job_id in run("list").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("show", "job_unknown"), 1, "There is no job 'job_unknown'"),
        (("list", "--workspace", "nobody"), 1, "There is no workspace 'nobody'"),
        (("list", "--status", "done"), 2, "--status"),
        (("list", "--limit", "0"), 2, "--limit"),
    ],
)
def test_unknown_ids_are_explained(run: Run, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    result = run(*arguments)

    assert result.exit_code == code
    assert sentence in result.stderr


def test_an_empty_list_is_explained(run: Run) -> None:
    assert run("list").stdout == "There are no matching jobs.\n"


@pytest.mark.parametrize("pattern", ["%", "_%", "\\%", "%" * 10_000])
def test_a_workspace_is_matched_by_its_exact_name(run: Run, job_id: str, pattern: str) -> None:
    result = run("list", "--workspace", pattern)

    assert result.exit_code == 1
    assert job_id not in result.output
    assert "Traceback" not in result.output
