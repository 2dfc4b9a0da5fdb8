"""Races and attempts of strangers on searches for people, verifications, lists, reports and permissions.

Each request goes to the production server with its workers, and the books are checked after each.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from audit_support import STUCK_AFTER, faults
from e2e_stack import ApiResponse, Stack, running
from jobs_support import at_once
from local_servers import empty_database
from polling import wait_until
from sqlalchemy import delete, func, select
from stored_support import suppress

from app.domain.ids import new_id
from app.domain.permissions import Permission
from app.engine.accounts import accounts, permissions
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.workspaces import Workspace
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions.suppressions import Suppression
from app.engine.jobs.jobs import Job
from app.infra import clock

SEARCH = {"company_domain": "sandbox.example", "limit": 5, "max_credits": 5}
TITLES = ("sample", "person", "sample person", "found")
WAIT = {"Prefer": "wait=25"}
LATER = {"Prefer": "respond-async"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("races")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"races_{worker_id}"))
        yield stop.enter_context(running(folder, url, PROVIDERS_PEOPLE="default,sandbox"))


def call(stack: Stack, method: str, path: str, body: Any, token: str, **headers: str) -> ApiResponse:
    response = stack.call(method, path, body, Authorization=token, **headers)
    assert response.status < 500, (path, response.body)
    return response


def send_file(stack: Stack, path: str, content: bytes, token: str, **headers: str) -> ApiResponse:
    """Send a CSV file; the stack sends JSON only."""
    all_headers = {"Content-Type": "text/csv", "Authorization": token} | headers
    request = urllib.request.Request(stack.base_url + path, content, all_headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=40) as reply:
            return ApiResponse(reply.status, dict(reply.headers), json.load(reply))
    except urllib.error.HTTPError as error:
        with error:
            response = ApiResponse(error.code, dict(error.headers), json.load(error))
    assert response.status < 500, (path, response.body)
    return response


def spent_by(stack: Stack, workspace_id: str) -> int:
    """Wait until nothing is open; the books are right and nothing is held; return what was spent."""

    def is_over() -> bool:
        with stack.database.reading() as session:
            is_open = (Job.workspace_id == workspace_id, Job.finished_at.is_(None))
            return not session.scalar(select(func.count()).select_from(Job).where(*is_open))

    wait_until(is_over, 60)
    with stack.database.reading() as session:
        found = faults(session, workspace_id=workspace_id, stuck_after=STUCK_AFTER, now=clock.now())
        row = session.execute(
            select(Workspace.held, Workspace.spent).where(Workspace.id == workspace_id)
        ).one()
    assert (found, row.held) == ([], 0)
    return int(row.spent)


def account_of(stack: Stack, workspace_id: str) -> str:
    """Return the only account of the workspace."""
    with stack.database.reading() as session:
        return session.scalars(select(Account.id).where(Account.workspace_id == workspace_id)).one()


def forget_the_people(stack: Stack) -> None:
    """Delete the people of the sandbox, so that a search finds them anew."""
    with stack.database.transaction() as session:
        session.execute(delete(Contact).where(Contact.full_name.like("% Sandbox")))


def search(stack: Stack, token: str, headers: dict[str, str] = WAIT, **changes: Any) -> ApiResponse:
    return call(stack, "POST", "/api/people-searches", SEARCH | changes, token, **headers)


def verify(stack: Stack, token: str, *addresses: str, **headers: str) -> ApiResponse:
    content = "\n".join(("email", *addresses, "")).encode()
    return send_file(stack, "/api/verifications/lists", content, token, **headers)


def reveal(stack: Stack, token: str) -> dict[str, str]:
    """Reveal the address of a new contact; return the report that it bounced."""
    [contact_id] = stack.create_contacts(1)
    body = {"subject": {"contact_id": contact_id}}
    answer = call(stack, "POST", "/api/ext/reveal/email", body, token, **WAIT)
    [email] = answer.body["result"]["emails"]
    return {"contact_id": contact_id, "email": email["email"], "kind": "bounce"}


def test_equal_searches_at_once_are_one_job(stack: Stack) -> None:
    forget_the_people(stack)
    workspace_id, token = stack.create_workspace()

    answers = at_once(8, lambda _number: search(stack, token))

    assert len({answer.body["job"]["id"] for answer in answers}) == 1
    assert spent_by(stack, workspace_id) == 5


def test_of_searches_by_workspaces_at_once_each_new_person_is_paid_once(stack: Stack) -> None:
    forget_the_people(stack)
    made = [stack.create_workspace() for _workspace in range(4)]

    at_once(4, lambda number: search(stack, made[number][1], limit=5 - number % 2))

    assert 4 <= sum(spent_by(stack, workspace_id) for workspace_id, _token in made) <= 5


def test_a_key_with_a_cap_spends_no_more_by_searches_at_once(stack: Stack) -> None:
    forget_the_people(stack)
    workspace_id, token = stack.create_workspace()
    made = call(stack, "POST", "/api/keys", {"name": "agent", "spending_cap": 3}, token)
    key = f"Bearer {made.body['key']}"

    answers = at_once(4, lambda number: search(stack, key, limit=3, titles=[TITLES[number]]))

    spent, [limit] = (
        spent_by(stack, workspace_id),
        call(stack, "GET", "/api/limits", None, key).body["limits"],
    )
    assert Counter(answer.status for answer in answers)[402] >= 1
    assert (limit["spent"], limit["held"], spent <= 3) == (spent, 0, True)


def test_an_idempotency_key_of_a_search_is_refused_for_everything_else(stack: Stack) -> None:
    workspace_id, token = stack.create_workspace()
    again = {"Idempotency-Key": secrets.token_hex(8)}
    address = "ada@sandbox.example"
    search(stack, token, WAIT | again)

    others = [
        call(stack, "POST", path, body, token, **LATER, **again)
        for path, body in (
            ("/api/verifications", {"values": [address]}),
            ("/api/ext/reveal/email", {"subject": {"email": address}}),
            ("/api/keys", {"name": "agent"}),
            ("/api/lists", {"name": "Leeds"}),
            ("/api/feedback", {"email": address, "kind": "bounce"}),
        )
    ]
    others += [verify(stack, token, address, **again)]
    others += [send_file(stack, "/api/uploads", b"email\nada@sandbox.example\n", token, **again)]

    assert {other.body["code"] for other in others} == {"idempotency_key_reused"}
    assert spent_by(stack, workspace_id) <= 5


def test_an_idempotency_key_of_another_workspace_is_another_one(stack: Stack) -> None:
    again = WAIT | {"Idempotency-Key": secrets.token_hex(8)}
    tokens = [stack.create_workspace()[1] for _workspace in range(2)]

    answers = at_once(2, lambda number: search(stack, tokens[number], again))

    assert len({answer.body["job"]["id"] for answer in answers}) == 2
    assert not any("Idempotent-Replay" in answer.headers for answer in answers)


def test_what_another_workspace_has_looks_like_what_never_was(stack: Stack) -> None:
    _workspace_id, token = stack.create_workspace()
    _other_id, stranger = stack.create_workspace()
    listed = verify(stack, token, "ada@sandbox.example").body["id"]
    sent = send_file(stack, "/api/uploads", b"email\nada@sandbox.example\n", token).body["id"]
    job = search(stack, token).body["job"]["id"]
    paths = [
        ("GET", "/api/verifications/{}", listed, "vrf"),
        ("GET", "/api/verifications/{}/result?format=json", listed, "vrf"),
        ("GET", "/api/uploads/{}", sent, "upl"),
        ("GET", "/api/uploads/{}/result?format=json", sent, "upl"),
        ("POST", "/api/uploads/{}/cancel", sent, "upl"),
        ("DELETE", "/api/uploads/{}", sent, "upl"),
        ("GET", "/api/ext/jobs?id={}", job, "job"),
    ]

    for method, path, theirs, prefix in paths:
        seen = [
            call(stack, method, path.format(each), None, stranger)
            for each in (theirs, new_id(prefix))  # type: ignore[arg-type]
        ]
        bodies = [{**each.body, "request_id": ""} for each in seen]
        assert (seen[0].status, bodies[0]) == (404, bodies[1])
    assert call(stack, "GET", f"/api/uploads/{sent}", None, token).status == 200


def test_reports_of_a_bounce_at_once_refund_it_once(stack: Stack) -> None:
    workspace_id, token = stack.create_workspace()
    report = reveal(stack, token)
    file = f"email\n{report['email']}\n".encode()

    def send(number: int) -> ApiResponse:
        if number % 2:
            return call(stack, "POST", "/api/feedback", report, token)
        return send_file(stack, "/api/feedback/import", file, token)

    at_once(6, send)

    assert spent_by(stack, workspace_id) == 0


def test_a_report_by_a_stranger_refunds_nothing(stack: Stack) -> None:
    workspace_id, token = stack.create_workspace()
    other_id, stranger = stack.create_workspace()
    report = reveal(stack, token)

    refused = call(stack, "POST", "/api/feedback", report, stranger)

    assert refused.status == 404
    assert [spent_by(stack, each) for each in (workspace_id, other_id)] == [1, 0]


def test_an_account_that_ends_while_its_jobs_run_leaves_no_hold(stack: Stack) -> None:
    workspace_id, token = stack.create_workspace()
    with stack.suspended_workers():
        search(stack, token, LATER)
        verify(stack, token, "ada@b.example", "bob@b.example")
        with stack.database.transaction() as session:
            account_id = account_of(stack, workspace_id)
            accounts.disable(session, account_id, by_operator=False, now=clock.now())

    assert spent_by(stack, workspace_id) <= 5
    assert call(stack, "GET", "/api/ext/session", None, token).status == 401


def test_permissions_that_are_taken_while_a_list_runs_apply_at_once(stack: Stack) -> None:
    workspace_id, token = stack.create_workspace()
    with stack.suspended_workers():
        path = f"/api/verifications/{verify(stack, token, 'ada@b.example').body['id']}"
        with stack.database.transaction() as session:
            account_id = account_of(stack, workspace_id)
            accounts.set_role(session, account_id, Role.MEMBER)
            permissions.set_of_account(session, account_id, dict.fromkeys(Permission, False))
        credits = call(stack, "GET", path, None, token).body["credits"]

    refused = [
        call(stack, "GET", f"{path}/result?format=json", None, token),
        verify(stack, token, "bob@b.example"),
    ]
    assert (credits["charged"], credits["reserved"]) == (None, None)
    assert [each.body["permission"] for each in refused] == ["export", "start_uploads"]
    assert spent_by(stack, workspace_id) == 0


@pytest.mark.parametrize("how", ["excluded", "suppressed"])
def test_a_company_that_opts_out_during_a_search_costs_nothing(stack: Stack, how: str) -> None:
    forget_the_people(stack)
    workspace_id, token = stack.create_workspace()
    company = {"domain": "sandbox.example"}
    with stack.suspended_workers():
        job_id = search(stack, token, LATER).body["job"]["id"]
        if how == "excluded":
            entries = {"entries": [company | {"reason": "customer"}]}
            assert call(stack, "POST", "/api/exclusions", entries, token).status < 300
        else:
            with stack.database.transaction() as session:
                suppress(session, "domain", company["domain"])
    try:
        assert spent_by(stack, workspace_id) == 0
        job = call(stack, "GET", f"/api/ext/jobs?id={job_id}", None, token).body["job"]
        assert job["outcome"] == how
    finally:
        with stack.database.transaction() as session:
            session.execute(delete(Suppression))


def test_lists_at_once_hold_no_more_than_the_balance(stack: Stack) -> None:
    workspace_id, token = stack.create_workspace(grant=7)
    with stack.suspended_workers():
        answers = at_once(
            8, lambda number: verify(stack, token, f"ada{number}@b.example", f"bob{number}@b.example")
        )

    assert Counter(answer.status for answer in answers) == {201: 3, 402: 5}
    assert spent_by(stack, workspace_id) == 0


def test_a_worker_that_is_killed_during_searches_and_lists_loses_no_hold(stack: Stack) -> None:
    forget_the_people(stack)
    workspace_id, token = stack.create_workspace()
    for title in ("found", "slow", "timeout", "error", "not found"):
        search(stack, token, LATER, titles=[title], max_credits=2)
    verify(stack, token, *(f"ada{number}@b.example" for number in range(80)))

    for worker in stack.workers:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    stack.workers.clear()
    stack.start_worker()

    assert spent_by(stack, workspace_id) <= 5
