from __future__ import annotations

from typing import Any

import pytest
from jobs_support import a_question, claim, submit
from users_support import SignedInUser, bearer
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.domain.errors import InsufficientCredits
from app.domain.ids import new_id
from app.domain.kinds import KINDS, Kind, Outcome
from app.engine.jobs import leases
from app.engine.jobs.leases import JobResult
from app.infra import clock

PATH = "/api/ext/jobs"
SAME = {"X-Request-Id": "same"}
SUBJECT = {"subject": {"email": "ada@acme.com"}}
PAID = {
    Kind.REVEAL_EMAIL: "/api/ext/reveal/email",
    Kind.REVEAL_PHONE: "/api/ext/reveal/phone",
    Kind.ENRICHMENT_REQUEST: "/api/ext/enrichment-request",
}


def a_job(user: SignedInUser, kind: Kind = Kind.REVEAL_EMAIL, about: str = "ada") -> str:
    with user.database.transaction() as session:
        question = a_question(user.workspace_id, f"{about} {kind}", kind=kind)
        return submit(session, question).job.id


def poll(user: SignedInUser, job_id: str, token: str) -> TestResponse:
    return user.client.get(f"{PATH}?id={job_id}", headers=bearer(token) | SAME)


def pages(user: SignedInUser, token: str, *, limit: int, status: str = "") -> list[list[str]]:
    """Return the ids of the jobs on each page of the list."""
    listed, query = [], f"{PATH}?limit={limit}{status}"
    cursor: str | None = ""
    while cursor is not None:
        body = user.client.get(f"{query}{cursor and f'&cursor={cursor}'}", headers=bearer(token)).get_json()
        listed.append([job["id"] for job in body["jobs"]])
        cursor = body["next_cursor"]
    return listed


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("scope", list(Scope))
def test_a_key_can_poll_only_jobs_of_its_scopes(user: SignedInUser, kind: Kind, scope: Scope) -> None:
    job_id, token = a_job(user, kind), user.make_key(scope)

    response, unknown = poll(user, job_id, token), poll(user, new_id("job"), token)

    if scope is KINDS[kind].scope:
        assert response.get_json()["job"]["id"] == job_id
    else:
        assert (response.status_code, response.get_json()["code"]) == (404, "job_not_found")
        assert response.data == unknown.data
        assert [header for header in response.headers if header[0] not in {"RateLimit", "Date"}] == [
            header for header in unknown.headers if header[0] not in {"RateLimit", "Date"}
        ]


@pytest.mark.parametrize("kind", list(Kind))
def test_a_session_and_a_key_with_every_scope_can_poll_every_job(user: SignedInUser, kind: Kind) -> None:
    job_id = a_job(user, kind)

    statuses = {poll(user, job_id, token).status_code for token in (user.session_token, user.make_key())}

    assert statuses == {202}


@pytest.mark.parametrize(
    "scopes", [(Scope.REVEAL,), (Scope.ENRICH, Scope.LOOKUP), (Scope.SAVE,), tuple(Scope)]
)
def test_the_list_has_full_pages_of_the_jobs_in_scope(user: SignedInUser, scopes: tuple[Scope, ...]) -> None:
    created = [(a_job(user, kind, f"{number}"), kind) for number in range(4) for kind in Kind]
    expected = [job_id for job_id, kind in reversed(created) if KINDS[kind].scope in scopes]

    listed = pages(user, user.make_key(*scopes), limit=3)

    assert [job_id for page in listed for job_id in page] == expected
    assert all(len(page) == 3 for page in listed[:-1])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_pages_show_every_job_once_and_the_last_one_ends_the_list(user: SignedInUser, count: int) -> None:
    created = [a_job(user, about=f"{number}") for number in range(count)]

    listed = pages(user, user.session_token, limit=2, status="&status=queued")

    assert [job_id for page in listed for job_id in page] == created[::-1]
    assert len(listed) == max(1, -(-count // 2))


def test_an_idempotency_key_does_not_reveal_a_job_of_another_scope(user: SignedInUser) -> None:
    headers = {"Idempotency-Key": "one click", "Prefer": "respond-async"}
    first = user.client.post(PAID[Kind.REVEAL_EMAIL], json=SUBJECT, headers=user.headers | headers)

    refused = {
        scope: user.client.post(path, json=SUBJECT, headers=bearer(user.make_key(scope)) | headers)
        for scope, path in ((Scope.SAVE, PAID[Kind.REVEAL_EMAIL]), (Scope.LOOKUP, "/api/ext/company-by-hash"))
    }

    job_id = first.get_json()["job"]["id"]
    assert {response.status_code for response in refused.values()} == {403, 422}
    assert all(job_id not in response.text for response in refused.values())


def test_one_idempotency_key_and_equal_bodies_at_two_paths_are_two_requests(user: SignedInUser) -> None:
    headers = user.headers | {"Idempotency-Key": "one click", "Prefer": "respond-async"}
    first = user.client.post(PAID[Kind.REVEAL_EMAIL], json=SUBJECT, headers=headers)

    other = user.client.post(PAID[Kind.REVEAL_PHONE], json=SUBJECT, headers=headers)

    assert first.status_code == 202
    assert (other.status_code, other.get_json()["code"]) == (422, "idempotency_key_reused")


@pytest.mark.parametrize("again", [{}, {"Idempotency-Key": "one click"}])
def test_a_repeated_request_costs_nothing_and_a_replay_reports_the_first_charge(
    user: SignedInUser, again: dict[str, Any]
) -> None:
    headers = user.headers | {"Prefer": "respond-async"} | again
    job_id = user.client.post(PAID[Kind.REVEAL_EMAIL], json=SUBJECT, headers=headers).get_json()["job"]["id"]
    now = clock.now()
    with user.database.transaction() as session:
        result = JobResult(
            outcome=Outcome.FOUND, result={"contact_id": new_id("con"), "emails": []}, charge=1
        )
        leases.settle(session, claim(session, job_id, now=now), result, now=now)

    repeated = user.client.post(PAID[Kind.REVEAL_EMAIL], json=SUBJECT, headers=headers)

    charged = 1 if again else 0
    assert (repeated.status_code, repeated.get_json()["job"]["id"]) == (200, job_id)
    assert repeated.headers["X-Credits-Charged"] == str(charged)
    assert repeated.get_json()["credits"]["charged"] == charged
    assert ("Idempotent-Replay" in repeated.headers) == bool(again)


@pytest.mark.parametrize(
    ("language", "detail"),
    [
        (
            "en",
            (
                "This needs 1 credit and the workspace has 0 credits. Ask your admin to grant credits; "
                "the same request with the same Idempotency-Key then works."
            ),
        ),
        ("de", "Dafür braucht es 1 Credit, der Arbeitsbereich hat 0 Credits. Bitten Sie "),
    ],
)
def test_the_error_of_a_job_is_in_the_language_of_whoever_reads_it(
    user: SignedInUser, language: str, detail: str
) -> None:
    job_id = a_job(user)
    with user.database.transaction() as session:
        problem = InsufficientCredits(required=1, balance=0)
        leases.settle(
            session, claim(session, job_id), JobResult(outcome=None, error=problem), now=clock.now()
        )

    headers = user.headers | {"Accept-Language": language}
    one = user.client.get(f"{PATH}?id={job_id}", headers=headers)
    lists = [user.client.get(path, headers=headers) for path in (PATH, "/api/jobs")]

    jobs = [one.get_json()["job"], *(listed.get_json()["jobs"][0] for listed in lists)]
    assert all(job["error"]["detail"].startswith(detail) for job in jobs)
    assert {response.headers["Content-Language"] for response in (one, *lists)} == {language}
