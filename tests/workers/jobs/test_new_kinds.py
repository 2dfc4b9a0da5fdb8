"""A new kind of job is its specification with an endpoint, its worker job, and its test; no more changes.

This file has all three for the number of contacts of a company, which the service does not sell.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import pytest
from apiflask import APIBlueprint, APIFlask
from audit_support import STUCK_AFTER
from flask import Response
from sqlalchemy import func, select
from stored_support import a_company, a_contact
from users_support import CREDITS, SignedInUser, bearer
from worker_harness import deliver, make_services

from app import settings as app_settings
from app.domain.callers import Scope
from app.domain.kinds import KINDS, KindSpec, Outcome, register
from app.engine.audit import rule_checks
from app.engine.contacts.contacts import Contact
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.engine.jobs.submission import JobRequest
from app.engine.queues import backlog
from app.factory import create_app
from app.infra import clock
from app.infra.broker import celery_app
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings
from app.web.jobs.job_requests import submit_and_wait
from app.web.pages import rendering
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import bearer as bearer_auth
from app.web.sign_in.auth import caller
from workers.execution import job_runner
from workers.execution.job_runner import job
from workers.execution.worker_services import WorkerServices

# The specification and the endpoint.

SIZE = KindSpec(name="company_size", label="size of a company", scope=Scope.ENRICH, price=2)
PATH = "/api/ext/company-size"
blueprint = APIBlueprint("company_size", __name__)


@blueprint.post(PATH)
@blueprint.auth_required(bearer_auth, roles=[SIZE.scope])
@limited(Policy.SPEND)
def company_size() -> Response:
    return submit_and_wait(
        JobRequest(
            kind=SIZE.name,
            workspace_id=caller().workspace_id,
            account_id=caller().account_id,
            request={},
            dedup_key={},
            price=services().settings.prices[SIZE.name],
        )
    )


# The job of the worker.


@dataclass(frozen=True)
class ContactCount:
    claim: Claim

    def settle(self, session: Session, _now: datetime) -> JobResult:
        size = session.scalars(select(func.count()).select_from(Contact)).one()
        return JobResult(outcome=Outcome.FOUND, result={"size": size}, charge=self.claim.budget)


def resolve(claim: Claim, _services: WorkerServices) -> ContactCount:
    return ContactCount(claim)


# The test.


@pytest.fixture
def _registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the kind, its price and its job during the test."""
    monkeypatch.setenv(SIZE.price_setting, "3")
    register(SIZE)
    job(SIZE.name)(resolve)
    yield
    monkeypatch.undo()  # a test's change of the kind; undone later, it would bring the kind back
    celery_app.celery.tasks.pop(SIZE.name)
    del job_runner.JOBS[SIZE.name], KINDS[SIZE.name]


@pytest.fixture
def app(_registered: None, settings: Settings, database: Database, redis_url: str) -> Iterator[APIFlask]:
    prices = app_settings.read()[0].prices
    app = create_app(dataclasses.replace(settings, redis_url=redis_url, prices=prices))
    app.register_blueprint(blueprint)
    yield app
    app.extensions["services"].listener.close()
    app.extensions["services"].database.close()


def submit(user: SignedInUser) -> str:
    response = user.client.post(PATH, headers=user.headers | {"Prefer": "respond-async"})
    assert response.status_code == 202, response.get_json()
    assert response.get_json()["credits"]["reserved"] == 3
    job_id: str = response.get_json()["job"]["id"]
    return job_id


def settle(app: APIFlask, job_id: str) -> None:
    api = app.extensions["services"]
    deliver(make_services(api.settings, api.database), job_id)


def violations(session: Session) -> list[str]:
    """Return the names of the rules that the complete audit finds violated."""
    results = rule_checks.check(session, stuck_after=STUCK_AFTER, now=clock.now())
    return [fault.rule for result in results for fault in result.faults]


def test_a_new_kind_is_submitted_settled_with_its_price_and_audited(
    app: APIFlask, user: SignedInUser
) -> None:
    with user.database.transaction() as session:
        a_contact(session, a_company(session))
    job_id = submit(user)

    settle(app, job_id)

    body = user.client.get(f"/api/ext/jobs?id={job_id}", headers=user.headers).get_json()
    assert (body["job"]["status"], body["result"]) == ("succeeded", {"size": 1})
    assert (body["credits"]["charged"], body["credits"]["balance"]) == (3, CREDITS - 3)
    with user.database.reading() as session:
        assert violations(session) == []


def test_the_audit_reports_a_charge_of_a_kind_that_has_no_price(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(app, submit(user))
    monkeypatch.setitem(KINDS, SIZE.name, dataclasses.replace(SIZE, price=None))

    with user.database.reading() as session:
        assert violations(session) == ["charged_for_an_answer"]


def test_the_audit_reports_a_reveal_of_a_new_kind_that_nobody_owns(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session))
    found = JobResult(outcome=Outcome.FOUND, result={"contact_id": contact.id}, charge=3)
    monkeypatch.setattr(ContactCount, "settle", lambda *_arguments: found)
    settle(app, submit(user))
    monkeypatch.setitem(KINDS, SIZE.name, dataclasses.replace(SIZE, reveals="email"))

    with user.database.reading() as session:
        assert violations(session) == ["paid_reveal_is_owned"]


def test_a_new_kind_is_visible_to_its_scope_only(app: APIFlask, user: SignedInUser) -> None:
    job_id = submit(user)
    with_scope, without = user.make_key(SIZE.scope), user.make_key(Scope.REVEAL)

    listed = [
        [entry["id"] for entry in user.client.get(path, headers=bearer(token)).get_json()["jobs"]]
        for token in (with_scope, without)
        for path in ("/api/ext/jobs", f"/api/ext/jobs?kind={SIZE.name}", f"/api/jobs?kind={SIZE.name}")
    ]

    assert listed == [[job_id]] * 3 + [[]] * 3


def test_a_new_kind_has_a_label_on_pages_and_a_metric(app: APIFlask, user: SignedInUser) -> None:
    submit(user)

    assert rendering.kind(SIZE.name) == SIZE.label
    with user.database.reading() as session:
        assert {count.kind: count.jobs for count in backlog.counts(session) if count.jobs} == {SIZE.name: 1}
