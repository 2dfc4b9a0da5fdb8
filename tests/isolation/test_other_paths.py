"""Isolation of workspaces in saved profiles, in lists of a company's people, and in jobs."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from fake_providers import email, hit, person
from jobs_support import FRESH, NOW, a_question
from sqlalchemy import select
from worker_harness import ADA, WorkerHarness

from app.domain.normal.hashes import website_hash
from app.engine.contacts.contacts import Contact
from app.engine.jobs import submission
from app.engine.lookups import company_hashes, leads, profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.engine.matching.caller_identifiers import CallerIdentifier

ROOT = Path(__file__).parents[2]
LISTED = {"hashes": [website_hash("acme.com").hex()], "limit": 10}
PRICES = {"reveal.email": 1, "reveal.phone": 1}


def test_a_saved_profile_is_visible_to_its_workspace_only(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA))
    other = harness.other_workspace()
    read = {
        "full_name": "Mallory Evil",
        "title": "Fraud",
        "company_name": "Evil",
        "company_domain": "evil.com",
    }
    with harness.database.transaction() as session:
        profile_snapshots.save(
            session,
            workspace_id=harness.workspace_id,
            account_id="acc_1",
            snapshot=ProfileSnapshot(linkedin_url=ADA, captured_at=NOW, fields=read),
            now=NOW,
        )

    mine, theirs = harness.look_up(linkedin_url=ADA), other.look_up(linkedin_url=ADA)

    assert (mine["saved"] is not None, theirs["saved"]) == (True, None)
    assert theirs["contact"]["full_name"] == mine["contact"]["full_name"] == "Ada Lovelace"
    assert theirs["company"]["name"] == "Acme"


def test_a_person_known_only_from_a_request_is_not_listed_at_a_company(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA))
    harness.set_providers(one=hit(email("mallory.evil@acme.com")))
    harness.reveal({"full_name": "Mallory Evil", "company_domain": "acme.com"})

    with harness.database.reading() as session:
        workspace_id = harness.other_workspace().workspace_id
        listed = leads.by_website_hash(session, workspace_id, LISTED, prices=PRICES)
        company = company_hashes.find(session, workspace_id, {"kind": "website", "hashes": LISTED["hashes"]})

    assert listed is not None
    assert [entry["full_name"] for entry in listed["leads"]] == ["Ada Lovelace"]
    assert (listed["total"], listed["email_pattern"]) == (1, None)
    assert company is not None
    assert company["company"]["contacts_count"] == 1


def test_the_same_request_of_another_workspace_is_a_separate_job(harness: WorkerHarness) -> None:
    other = harness.other_workspace()
    with harness.database.transaction() as session:
        jobs = [
            submission.submit(
                session,
                a_question(workspace.workspace_id),
                freshness=FRESH,
                deadline=timedelta(hours=1),
                now=NOW,
            )
            for workspace in (harness, other)
        ]

    assert [job.is_new for job in jobs] == [True, True]


def test_caller_identifiers_are_stored_as_digests_and_deleted_with_the_contact(
    harness: WorkerHarness,
) -> None:
    harness.set_providers(one=hit(email()))
    harness.reveal({"linkedin_url": ADA, "full_name": "Ada", "company_domain": "acme.com"})

    with harness.database.transaction() as session:
        kept = session.execute(select(CallerIdentifier.__table__)).all()
        session.delete(session.scalars(select(Contact)).one())
        session.flush()
        left = session.execute(select(CallerIdentifier.__table__)).all()

    assert {row.kind for row in kept} == {"words", "linkedin_url", "name"}
    assert re.search("ada|acme", str([row.digest.hex() + row.kind for row in kept])) is None
    assert left == []


@pytest.mark.parametrize("page", ["docs/workspace-isolation.md"])
def test_every_test_named_in_the_documentation_exists(page: str) -> None:
    named = re.findall(r"(tests/[\w/]+\.py)::(\w+)", (ROOT / page).read_text())

    missing = [name for file, name in named if f"def {name}(" not in (ROOT / file).read_text()]

    assert named
    assert missing == []
