from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from jobs_support import a_workspace, at_once
from sqlalchemy import func, literal, select
from stored_support import ADA_URL, NOW, STAMP

from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved import saved_profiles
from app.engine.contacts.saved.saved_profiles import SavedProfile, SavedSummary
from app.engine.lookups import profile_snapshots
from app.engine.lookups.profile_snapshots import FieldChange, Position, ProfileSnapshot, SaveResult
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.infra.database.statements import Statement

DAY = timedelta(days=1)
READ = {
    "full_name": "Ada Lovelace",
    "title": "Engineer",
    "company_name": "Acme",
    "company_domain": "acme.com",
}


def save(
    session: Session,
    workspace_id: str,
    *,
    at: timedelta = timedelta(0),
    marks: Any = None,
    **read: str | None,
) -> SaveResult:
    """Save a profile snapshot, captured and received at NOW plus `at`."""
    snapshot = ProfileSnapshot(
        linkedin_url=ADA_URL, captured_at=NOW + at, fields=read, annotations=marks or {}
    )
    return profile_snapshots.save(
        session, workspace_id=workspace_id, account_id="acc_x", snapshot=snapshot, now=NOW + at
    )


def test_the_first_save_inserts_a_profile(session: Session, workspace_id: str) -> None:
    saved = save(
        session,
        workspace_id,
        headline="Thinks",
        marks={"list_name": "Prospects", "tags": ["a"], "note": "hi"},
        **READ,
    )

    assert (saved.created, saved.changes, saved.previous_position) == (True, (), None)
    assert saved_profiles.saved_object(saved.profile) == {
        "id": saved.profile.id,
        "linkedin_url": ADA_URL,
        "full_name": "Ada Lovelace",
        "headline": "Thinks",
        "title": "Engineer",
        "location": None,
        "company": {"name": "Acme", "domain": "acme.com", "linkedin_url": None},
        "list": "Prospects",
        "tags": ["a"],
        "note": "hi",
        "saved_by": "acc_x",
        "captured_at": STAMP,
        "created_at": STAMP,
        "updated_at": STAMP,
    }


def test_saving_twice_changes_nothing(session: Session, workspace_id: str) -> None:
    first = save(session, workspace_id, marks={"tags": ["a"]}, **READ)
    updated_at = first.profile.updated_at

    again = save(session, workspace_id, at=DAY, marks={"tags": ["a"]}, **READ)

    assert (again.created, again.changes, again.previous_position) == (False, (), None)
    assert (again.profile.id, again.profile.updated_at) == (first.profile.id, updated_at)


def test_a_newer_snapshot_wins_and_its_changes_are_returned(session: Session, workspace_id: str) -> None:
    save(session, workspace_id, **READ)

    saved = save(session, workspace_id, at=DAY, title="Director", company_name="Beta")

    assert saved.changes == (
        FieldChange("title", "Engineer", "Director"),
        FieldChange("company.name", "Acme", "Beta"),
        FieldChange("company.domain", "acme.com", None),
    )
    assert saved.previous_position == Position("Engineer", "Acme", "acme.com")
    assert saved.position == Position("Director", "Beta", None)
    assert saved.profile.updated_at == NOW + DAY


def test_an_older_snapshot_only_fills_empty_fields(session: Session, workspace_id: str) -> None:
    save(session, workspace_id, title="Director")

    saved = save(session, workspace_id, at=-DAY, title="Engineer", headline="Thinks")

    assert saved.changes == (FieldChange("headline", None, "Thinks"),)
    assert saved.profile.title == "Director"
    assert saved.previous_position is None


def test_an_older_snapshot_does_not_restore_the_previous_companys_website(
    session: Session, workspace_id: str
) -> None:
    save(session, workspace_id, **READ)
    save(session, workspace_id, at=2 * DAY, company_name="Beta")

    saved = save(session, workspace_id, at=DAY, company_name="Acme", company_domain="acme.com")

    assert (saved.changes, saved.profile.company_name, saved.profile.company_domain) == ((), "Beta", None)


def test_a_website_from_a_newer_snapshot_is_not_removed(session: Session, workspace_id: str) -> None:
    save(session, workspace_id, company_name="Acme")
    save(session, workspace_id, at=2 * DAY, company_domain="beta.com")

    saved = save(session, workspace_id, at=DAY, company_name="Beta")

    assert saved.profile.company_domain == "beta.com"


def test_missing_and_null_fields_keep_their_value(session: Session, workspace_id: str) -> None:
    save(session, workspace_id, marks={"note": "hi"}, **READ)

    saved = save(session, workspace_id, at=DAY, full_name=None, company_name="Acme")

    assert saved.changes == ()
    assert (saved.profile.full_name, saved.profile.company_domain) == ("Ada Lovelace", "acme.com")
    assert saved.profile.note == "hi"


def test_list_tags_and_note_are_replaced_and_null_removes_them(session: Session, workspace_id: str) -> None:
    save(session, workspace_id, marks={"list_name": "Prospects", "tags": ["a"], "note": "hi"})

    saved = save(session, workspace_id, at=DAY, marks={"list_name": None, "tags": ["b"]})

    assert saved.changes == (FieldChange("list", "Prospects", None), FieldChange("tags", ["a"], ["b"]))
    assert saved.profile.note == "hi"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"title": "Engineer"}, {"title": "engineer"}),
        ({"company_name": "Acme"}, {"company_name": "ACME Inc."}),
        ({"company_domain": "acme.com"}, {"company_name": "Acme"}),
        ({"headline": "Engineer"}, {"title": "Engineer"}),
        ({"company_name": "Acme", "company_domain": "acme.com"}, {"company_domain": "acme.io"}),
    ],
)
def test_another_spelling_or_a_filled_field_is_not_a_job_change(
    session: Session, workspace_id: str, before: dict[str, str], after: dict[str, str]
) -> None:
    save(session, workspace_id, **before)

    saved = save(session, workspace_id, at=DAY, **after)

    assert saved.changes
    assert saved.previous_position is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"title": "Engineer"}, {"title": "Director"}),
        ({"company_name": "Acme"}, {"company_name": "Beta"}),
        ({"company_domain": "acme.com"}, {"company_domain": "beta.com"}),
    ],
)
def test_another_title_or_company_is_a_job_change(
    session: Session, workspace_id: str, before: dict[str, str], after: dict[str, str]
) -> None:
    save(session, workspace_id, **before)

    saved = save(session, workspace_id, at=DAY, **after)

    assert saved.previous_position is not None


def test_each_workspace_has_its_own_profile_and_contacts_do_not_change(
    session: Session, workspace_id: str
) -> None:
    other = a_workspace(session)

    ours, theirs = save(session, workspace_id, **READ), save(session, other, title="Other")

    assert (ours.created, theirs.created) == (True, True)
    query = saved_profiles.summaries_by_url(literal(ADA_URL), literal(workspace_id))
    saved_summaries = Statement(SavedSummary, lambda _dialect: query).all(session, {})
    assert [row.id for row in saved_summaries] == [ours.profile.id]
    assert saved_profiles.get(session, workspace_id, ours.profile.id) == ours.profile
    assert saved_profiles.get(session, workspace_id, theirs.profile.id) is None
    assert saved_profiles.get(session, workspace_id, "prf_none") is None
    assert session.scalar(select(func.count()).select_from(Contact)) == 0


def test_two_concurrent_first_saves_are_merged_into_one_profile(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session)
    fields = [{"title": "Engineer"}, {"headline": "Thinks"}, {"location": "London"}, {"full_name": "Ada"}]

    def one(number: int) -> bool:
        with database.transaction() as session:
            return save(session, workspace_id, **fields[number]).created

    created = at_once(4, one)

    with database.reading() as session:
        [profile] = session.scalars(select(SavedProfile))
    assert sorted(created) == [False, False, False, True]
    assert (profile.title, profile.headline, profile.location, profile.full_name) == (
        "Engineer",
        "Thinks",
        "London",
        "Ada",
    )


def test_a_note_from_an_older_snapshot_does_not_replace_a_newer_one(
    session: Session, workspace_id: str
) -> None:
    save(session, workspace_id, marks={"note": "new"})

    saved = save(session, workspace_id, at=-DAY, marks={"note": "old"})

    assert (saved.profile.note, saved.changes) == ("new", ())
