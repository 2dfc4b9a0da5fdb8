from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from jobs_support import NOW, a_job
from users_support import SignedInUser, bearer, create_user

from app.domain.callers import Scope
from app.domain.kinds import Kind, Outcome, Status
from app.engine.jobs.jobs import Job
from app.web.jobs import receipt_files

TRACE = [
    {"provider": "pattern", "outcome": "miss", "cost": 0},
    {"provider": "hunter", "outcome": "hit", "cost": 1.5},
]


def ask(user: SignedInUser, name: str, days: int = 0, kind: Kind = Kind.REVEAL_EMAIL, **changes: Any) -> str:
    """Store a job that the member requested so many days after NOW; return its id."""
    with user.database.transaction() as session:
        request = {"subject": {"full_name": name, "company_name": "Acme"}}
        job_id = a_job(
            session, user.workspace_id, name, account_id=user.account_id, request=request, kind=kind
        )
        job = session.get_one(Job, job_id)
        job.created_at = NOW + timedelta(days=days)
        for field, value in changes.items():
            setattr(job, field, value)
    return job_id


def found() -> dict[str, Any]:
    return {
        "status": Status.SUCCEEDED.value,
        "outcome": Outcome.FOUND.value,
        "result": {"emails": [{"email": "ada@acme.com"}]},
        "trace": TRACE,
        "charged": 1,
        "finished_at": NOW,
    }


def listed(user: SignedInUser, query: str = "", **headers: str) -> list[str]:
    response = user.client.get(f"/api/jobs?{query}", headers=headers or user.headers)
    assert response.status_code == 200, response.get_json()
    return [job["id"] for job in response.get_json()["jobs"]]


def test_jobs_are_listed_with_their_receipts(app: APIFlask, user: SignedInUser) -> None:
    ask(user, "Ada Lovelace", **found())
    stranger = create_user(app, email="eve@babbage.example")

    (job,) = user.client.get("/api/jobs", headers=user.headers).get_json()["jobs"]

    assert (job["asked_by"]["id"], job["subject"]["full_name"]) == (user.account_id, "Ada Lovelace")
    assert (job["trace"], job["charged"], job["already_owned"]) == (TRACE, 1, False)
    assert listed(stranger) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("kind=reveal.phone", {"phone"}),
        ("status=succeeded", {"found"}),
        ("status=queued", {"phone", "colleague"}),
        ("outcome=found", {"found"}),
        ("outcome=not_found", set()),
        ("account=me", {"found", "phone"}),
        ("since=2026-11-21T09:30:00Z", {"phone", "colleague"}),
    ],
)
def test_a_filter_selects_jobs(user: SignedInUser, query: str, expected: set[str]) -> None:
    names = {
        ask(user, "Ada Lovelace", **found()): "found",
        ask(user, "Bob Ray", 1, Kind.REVEAL_PHONE): "phone",
        ask(user.colleague(), "Cleo Clarke", 2): "colleague",
    }

    assert {names[job_id] for job_id in listed(user, query)} == expected


def test_a_key_sees_only_the_kinds_that_its_scopes_allow(user: SignedInUser) -> None:
    ask(user, "Ada Lovelace")
    headers = bearer(user.make_key(Scope.LOOKUP))

    assert listed(user, **headers) == listed(user, "kind=reveal.email", **headers) == []


def test_pages_follow_the_cursor(user: SignedInUser) -> None:
    expected = [ask(user, name, days) for days, name in enumerate(["Cleo", "Bob", "Ada"])][::-1]

    first = user.client.get("/api/jobs?limit=2", headers=user.headers).get_json()

    assert [job["id"] for job in first["jobs"]] + listed(user, f"cursor={first['next_cursor']}") == expected


@pytest.mark.parametrize(
    "query", ["cursor=x", "kind=x", "since=x", "since=0001-01-01T00:00:00%2B23:59", "limit=0", "format=pdf"]
)
def test_an_invalid_query_is_rejected(user: SignedInUser, query: str) -> None:
    response = user.client.get(f"/api/jobs?{query}", headers=user.headers)

    assert response.status_code == 422
    assert [error["pointer"] for error in response.get_json()["errors"]] == [f"/{query.partition('=')[0]}"]


def test_the_receipts_of_a_file_name_no_person(user: SignedInUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipt_files, "BATCH_SIZE", 1)
    ask(user, "Ada Lovelace", **found())
    ask(user, "Bob Ray", 1)

    as_csv = user.client.get("/api/jobs?format=csv", headers=user.headers).text
    as_json = user.client.get("/api/jobs?format=json", headers=user.headers)

    rows = list(csv.DictReader(io.StringIO(as_csv)))
    assert [row["status"] for row in rows] == ["queued", "succeeded"]
    assert (rows[1]["providers"], rows[1]["provider_cost"]) == ("pattern miss; hunter hit", "1.5")
    assert [job["charged"] for job in as_json.get_json()["jobs"]] == [0, 1]
    assert all(word not in text for text in (as_csv, as_json.text) for word in ("Lovelace", "ada@", "Bob"))
