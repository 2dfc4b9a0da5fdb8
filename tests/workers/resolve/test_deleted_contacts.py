"""A contact is deleted while a provider is called, or the database fails when the reply is stored."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
from fake_providers import email, hit, person
from jobs_support import read
from sqlalchemy import delete
from worker_harness import ADA, BOB, WorkerHarness

from app.domain.errors import Unavailable
from app.domain.kinds import Status
from app.engine.contacts.contacts import Contact
from app.engine.jobs import jobs, leases
from workers.execution import job_runner
from workers.jobs import enrichment_request
from workers.providers.base import ProviderRequest, ProviderResponse


@pytest.fixture
def contact_id(harness: WorkerHarness) -> str:
    """The id of a contact that is deleted while the provider is called about it."""
    contact_id = harness.store_contact(person(linkedin_url=ADA))

    def reply(request: ProviderRequest) -> ProviderResponse:
        if request.subject.linkedin_url == BOB:
            return hit(email("bob@acme.com"))
        with harness.database.transaction() as session:
            session.execute(delete(Contact).where(Contact.id == contact_id))
        return hit(email())

    harness.set_providers(one=reply)
    return contact_id


def test_a_deleted_contact_fails_its_item_and_no_other(harness: WorkerHarness, contact_id: str) -> None:
    items = ({"subject": {"contact_id": contact_id}}, {"subject": {"linkedin_url": BOB}})
    job_id = harness.submit_enrichment(*items, fields=("email",), price=2)

    first, second = (harness.run_enrichment(job_id) for _ in range(2))

    assert (first["job"]["status"], first["job"]["progress"]["done"]) == ("queued", 1)
    assert second["job"]["status"] == "succeeded"
    gone, found = second["result"]["items"]
    assert (gone["error"]["code"], found["outcome"]) == ("contact_not_found", "found")
    assert len(second["trace"]) == 2
    assert harness.attempts(job_id) == 1


def test_a_reveal_whose_contact_was_deleted_runs_again(harness: WorkerHarness, contact_id: str) -> None:
    job_id = harness.submit_reveal({"contact_id": contact_id})

    first = harness.run_reveal(job_id)
    second = harness.run_reveal(job_id)

    assert (first.status, first.attempts, len(first.trace)) == (Status.QUEUED, 0, 1)
    assert second.error is not None
    assert (second.status, second.error["code"]) == (Status.FAILED, "contact_not_found")


@pytest.mark.parametrize(
    ("module", "name"), [(leases, "complete_item"), (enrichment_request, "_complete_item")]
)
def test_an_item_is_completed_once_if_the_database_fails_before_or_after_the_commit(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str
) -> None:
    monkeypatch.setattr(job_runner, "DATABASE_RETRY_DELAYS", (0.0,))
    harness.set_providers(one=hit(email()))
    fails_once(monkeypatch, module, name)
    job_id = harness.submit_enrichment({"subject": {"linkedin_url": ADA}}, fields=("email",))

    shown = harness.run_enrichment(job_id)

    assert (shown["job"]["status"], shown["job"]["progress"]["done"]) == ("succeeded", 1)
    assert len(shown["trace"]) == 1
    with harness.database.reading() as session:
        job, [item] = read(session, job_id), jobs.items(session, job_id)
        assert (job.charged, item.charged, item.outcome) == (1, 1, "found")


def fails_once(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> None:
    """Let the function raise once after it is done."""
    function: Callable[..., object] = getattr(module, name)
    errors = [Unavailable()]

    def call(*values: object, **options: object) -> object:
        returned = function(*values, **options)
        if errors:
            raise errors.pop()
        return returned

    monkeypatch.setattr(module, name, call)
