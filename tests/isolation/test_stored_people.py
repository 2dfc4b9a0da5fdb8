"""Isolation of workspaces in the search for stored people."""

from __future__ import annotations

from fake_providers import email, hit, person
from jobs_support import NOW
from worker_harness import ADA, WorkerHarness

from app.domain.people_criteria import PeopleCriteria
from app.engine.lookups import people_search, profile_snapshots
from app.engine.lookups.people_search import StoredPeople
from app.engine.lookups.profile_snapshots import ProfileSnapshot

PRICES = {"reveal.email": 1, "reveal.phone": 1}


def search(harness: WorkerHarness, criteria: PeopleCriteria = PeopleCriteria()) -> StoredPeople:  # noqa: B008 -- a value
    with harness.database.reading() as session:
        return people_search.search(session, harness.workspace_id, criteria, limit=10, prices=PRICES)


def test_a_person_known_only_from_a_request_is_not_found(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA))
    harness.set_providers(one=hit(email("mallory.evil@acme.com")))
    harness.reveal({"full_name": "Mallory Evil", "company_domain": "acme.com"})

    for workspace in (harness, harness.other_workspace()):
        found = search(workspace)
        assert [one["full_name"] for one in found.people] == ["Ada Lovelace"]
        assert found.total == 1


def test_what_a_workspace_saved_about_a_person_changes_no_search(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA))
    fields = {
        "full_name": "Mallory Evil",
        "title": "Fraudster",
        "company_name": "Evil",
        "company_domain": "evil.com",
    }
    with harness.database.transaction() as session:
        profile_snapshots.save(
            session,
            workspace_id=harness.workspace_id,
            account_id="acc_1",
            snapshot=ProfileSnapshot(linkedin_url=ADA, captured_at=NOW, fields=fields),
            now=NOW,
        )

    [mine], [theirs] = (search(one).people for one in (harness, harness.other_workspace()))

    assert (mine["saved"] is not None, theirs["saved"]) == (True, None)
    assert theirs["full_name"] == mine["full_name"] == "Ada Lovelace"
    for criteria in (PeopleCriteria(titles=("fraudster",)), PeopleCriteria(company_domain="evil.com")):
        assert search(harness, criteria).people == search(harness.other_workspace(), criteria).people == []
