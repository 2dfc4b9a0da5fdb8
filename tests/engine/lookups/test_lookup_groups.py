"""Lookups of several workspaces in the same queries: each has the answer that it has alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import pytest
from bounce_support import a_report
from jobs_support import a_workspace, at_once
from stored_support import (
    ADA_URL,
    NOW,
    PRICES,
    a_company,
    a_contact,
    a_phone,
    an_email,
    own,
    statements,
    suppress,
)

from app.domain.records.subjects import Subject
from app.engine.lookups import lookups, profile_snapshots
from app.engine.lookups.lookups import Lookups
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.infra import grouping
from app.infra.database.db import Database
from app.infra.database.session import Session

BOB_URL = "https://www.linkedin.com/in/bob"
ADA, BOB, NOBODY = (
    Subject(linkedin_url=url) for url in (ADA_URL, BOB_URL, "https://www.linkedin.com/in/nobody")
)


def stored(session: Session) -> tuple[str, str]:
    """Store Ada and Bob, of whom two workspaces own, save and report different things; return their ids."""
    mine, theirs = a_workspace(session), a_workspace(session)
    ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)
    bob = a_contact(
        session, a_company(session, domain="other.com"), linkedin_url=BOB_URL, full_name="Bob Other"
    )
    address = an_email(session, ada, "ada@acme.com")
    an_email(session, bob, "bob@other.com")
    a_phone(session, ada, "+493012345678")
    own(session, mine, ada, "email")
    own(session, theirs, ada, "phone")
    own(session, theirs, bob, "email")
    a_report(session, mine, address, now=NOW)
    for workspace_id, name in ((mine, "Prospects"), (theirs, "Candidates")):
        snapshot = ProfileSnapshot(linkedin_url=ADA_URL, captured_at=NOW, annotations={"list_name": name})
        profile_snapshots.save(
            session, workspace_id=workspace_id, account_id="acc_x", snapshot=snapshot, now=NOW
        )
    return mine, theirs


def alone(session: Session, workspace_id: str, subject: Subject) -> dict[str, Any]:
    (result,) = lookups.look_up(session, workspace_id, [subject], prices=PRICES)
    return result


def test_each_workspace_has_the_answer_that_it_has_alone(session: Session) -> None:
    mine, theirs = stored(session)
    wanted = [(workspace_id, subject) for workspace_id in (mine, theirs) for subject in (ADA, BOB)]

    together = lookups.look_up_by_key(session, wanted, prices=PRICES)

    assert together == [alone(session, *one) for one in wanted]
    my_ada, my_bob, their_ada, their_bob = filter(None, together)
    assert [my_ada["saved"]["list"], their_ada["saved"]["list"]] == ["Prospects", "Candidates"]
    assert [bool(ada["revealed"]["emails"]) for ada in (my_ada, their_ada)] == [True, False]
    assert [bool(ada["revealed"]["phones"]) for ada in (my_ada, their_ada)] == [False, True]
    assert [bool(bob["revealed"]["emails"]) for bob in (my_bob, their_bob)] == [False, True]


def test_a_person_whom_no_key_leads_to_is_left_out(session: Session) -> None:
    mine, theirs = stored(session)
    named = Subject(
        linkedin_url="https://www.linkedin.com/in/x", full_name="Bob Other", company_domain="other.com"
    )

    results = lookups.look_up_by_key(session, [(mine, NOBODY), (theirs, ADA), (theirs, named)], prices=PRICES)

    assert [result is not None for result in results] == [False, True, False]


def test_a_suppressed_person_is_suppressed_for_everybody_and_nobody_else(session: Session) -> None:
    mine, theirs = stored(session)
    suppress(session, "linkedin_url", ADA_URL)
    wanted = [(mine, ADA), (theirs, ADA), (theirs, BOB)]

    together = lookups.look_up_by_key(session, wanted, prices=PRICES)

    assert [result and result["suppressed"] for result in together] == [True, True, False]
    assert together == [alone(session, *one) for one in wanted]


def test_the_number_of_queries_does_not_depend_on_the_number_of_lookups(session: Session) -> None:
    mine, theirs = stored(session)

    counts = []
    for wanted in ([(mine, ADA)], [(mine, ADA), (theirs, BOB), (theirs, ADA), (mine, BOB)]):
        with statements(session.get_bind()) as executed:  # type: ignore[arg-type]
            lookups.look_up_by_key(session, wanted, prices=PRICES)
        counts.append(len(executed))

    assert counts[0] == counts[1] == 3


def test_concurrent_lookups_run_together_and_each_has_its_own_answer(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction() as session:
        mine, theirs = stored(session)
    with database.reading() as session:
        expected = {
            one: alone(session, *one) for one in ((mine, ADA), (theirs, ADA), (mine, BOB), (theirs, NOBODY))
        }
    service = Lookups(database, PRICES, lambda _workspace_id: nullcontext())
    groups: list[int] = []
    look_up_by_key = lookups.look_up_by_key

    def noted(session: Session, wanted: Sequence[Any], **options: Any) -> Any:
        groups.append(len(wanted))
        time.sleep(0.01)  # the others gather meanwhile
        return look_up_by_key(session, wanted, **options)

    monkeypatch.setattr(grouping, "PATIENCE_SECONDS", 30)  # however busy the machine is
    monkeypatch.setattr(lookups, "look_up_by_key", noted)
    requests = list(expected) * 8

    results = at_once(
        len(requests), lambda number: service.look_up(requests[number][0], [requests[number][1]])
    )

    assert [result for (result,) in results] == [expected[request] for request in requests]
    assert groups


@pytest.mark.parametrize(
    ("subjects", "is_grouped"),
    [
        ([ADA], True),
        ([Subject(contact_id="con_1")], True),
        ([ADA, BOB], False),
        ([Subject(linkedin_url=ADA_URL, email="ada@acme.com")], False),
        ([Subject(full_name="Ada Lovelace", company_domain="acme.com")], False),
    ],
)
def test_only_one_person_with_a_key_is_looked_up_with_others(
    subjects: list[Subject], *, is_grouped: bool
) -> None:
    assert lookups._has_one_key(subjects) is is_grouped  # noqa: SLF001 -- the rule
