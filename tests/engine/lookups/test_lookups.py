from __future__ import annotations

from typing import Any

import pytest
from jobs_support import a_workspace
from local_servers import POSTGRES
from stored_support import (
    ADA_URL,
    NOW,
    PRICES,
    a_company,
    a_contact,
    a_phone,
    an_email,
    own,
    scans,
    statements,
    suppress,
)

from app.domain.records.subjects import Subject
from app.engine.lookups import lookups, profile_snapshots, representations
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.engine.matching import reverse_lookups
from app.infra.database import database_clock
from app.infra.database.session import Session

NOTHING: dict[str, Any] = {
    "outcome": "none",
    "match": {"confidence": 0.0, "matched_on": []},
    "candidates": [],
    "contact": None,
    "company": None,
    "available": [],
    "revealed": {"emails": [], "phones": []},
    "suppressed": False,
    "excluded": None,
    "saved": None,
}


def look_up(session: Session, workspace_id: str, **values: str) -> dict[str, Any]:
    subjects = [Subject(**values)]
    reverse_lookups.admit(session, workspace_id, subjects, now=database_clock.now())
    [answer] = lookups.look_up(session, workspace_id, subjects, prices=PRICES)
    return answer


def save(session: Session, workspace_id: str, url: str = ADA_URL) -> str:
    snapshot = ProfileSnapshot(
        linkedin_url=url, captured_at=NOW, annotations={"list_name": "Prospects", "tags": ["x"]}
    )
    saved = profile_snapshots.save(
        session, workspace_id=workspace_id, account_id="acc_x", snapshot=snapshot, now=NOW
    )
    return saved.profile.id


def test_a_match_shows_the_contact_and_the_available_values(session: Session, workspace_id: str) -> None:
    company = a_company(session)
    ada = a_contact(session, company, linkedin_url=ADA_URL)
    an_email(session, ada, "ada@acme.com")
    a_phone(session, ada, "+12025550143")
    own(session, workspace_id, ada, "phone")

    answer = look_up(session, workspace_id, linkedin_url=ADA_URL)

    assert (answer["outcome"], answer["match"]["matched_on"]) == ("matched", ["linkedin_url"])
    assert answer["contact"] == representations.contact_card(ada)
    assert answer["company"] == representations.company_card(company)
    assert [item["field"] for item in answer["available"]] == ["email", "phone"]
    assert answer["revealed"]["emails"] == []
    assert [item["e164"] for item in answer["revealed"]["phones"]] == ["+12025550143"]
    assert (answer["candidates"], answer["saved"], answer["suppressed"]) == ([], None, False)


def test_a_result_without_a_match_has_the_same_shape(session: Session, workspace_id: str) -> None:
    answer = look_up(session, workspace_id, linkedin_url=ADA_URL)

    assert answer == NOTHING


def test_an_unknown_person_at_a_known_company_has_the_company(session: Session, workspace_id: str) -> None:
    company = a_company(session)

    answer = look_up(session, workspace_id, linkedin_url=ADA_URL, company_domain="acme.com")

    assert answer == NOTHING | {"company": representations.company_card(company)}


def test_several_matches_are_candidates_without_their_addresses(session: Session, workspace_id: str) -> None:
    company = a_company(session)
    ada, grace = a_contact(session, company), a_contact(session, full_name="Grace Hopper")
    for person in (ada, grace):
        an_email(session, person, "info@acme.com")

    answer = look_up(session, workspace_id, email="info@acme.com")

    assert (answer["outcome"], answer["contact"], answer["company"]) == ("ambiguous", None, None)
    candidates = {item["contact"]["id"]: (item["contact"], item["company"]) for item in answer["candidates"]}
    assert candidates == {
        ada.id: (representations.contact_card(ada), representations.company_card(company)),
        grace.id: (representations.contact_card(grace), None),
    }
    assert answer["available"] == []


def test_a_suppressed_person_is_not_matched(session: Session, workspace_id: str) -> None:
    ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)
    an_email(session, ada, "ada@acme.com")
    suppress(session, "email", "ada@acme.com")

    answer = look_up(session, workspace_id, linkedin_url=ADA_URL)

    assert answer == NOTHING | {"suppressed": True}


def test_an_unknown_suppressed_person_is_marked_as_suppressed(session: Session, workspace_id: str) -> None:
    suppress(session, "linkedin_url", ADA_URL)

    answer = look_up(session, workspace_id, linkedin_url=ADA_URL)

    assert answer == NOTHING | {"suppressed": True}


def test_suppressed_candidates_are_left_out(session: Session, workspace_id: str) -> None:
    ada, grace = a_contact(session, linkedin_url=ADA_URL), a_contact(session, full_name="Grace Hopper")
    an_email(session, ada, "info@acme.com")
    an_email(session, grace, "info@acme.com")
    suppress(session, "linkedin_url", ADA_URL)

    answer = look_up(session, workspace_id, email="info@acme.com")

    assert [item["contact"]["id"] for item in answer["candidates"]] == [grace.id]


def test_if_all_candidates_are_suppressed_there_is_no_match(session: Session, workspace_id: str) -> None:
    for url in (ADA_URL, f"{ADA_URL}-2"):
        an_email(session, a_contact(session, linkedin_url=url), "info@acme.com")
        suppress(session, "linkedin_url", url)

    answer = look_up(session, workspace_id, email="info@acme.com")

    assert answer == NOTHING | {"suppressed": True}


@pytest.mark.parametrize("values", [{"linkedin_url": ADA_URL}, {"email": "ada@acme.com"}])
def test_a_saved_profile_is_found_by_the_url_of_the_subject_or_contact(
    session: Session, workspace_id: str, values: dict[str, str]
) -> None:
    an_email(session, a_contact(session, linkedin_url=ADA_URL), "ada@acme.com")
    profile_id = save(session, workspace_id)

    answer = look_up(session, workspace_id, **values)

    assert answer["saved"] == {
        "id": profile_id,
        "list": "Prospects",
        "tags": ["x"],
        "note": None,
        "updated_at": "2026-11-20T09:30:00.000Z",
    }


def test_another_workspaces_saved_profile_is_not_shown(session: Session, workspace_id: str) -> None:
    save(session, a_workspace(session))

    answer = look_up(session, workspace_id, linkedin_url=ADA_URL)

    assert answer["saved"] is None


def test_one_subject_needs_three_queries_and_fifty_need_no_more(session: Session, workspace_id: str) -> None:
    people = [a_contact(session, linkedin_url=f"{ADA_URL}-{n}") for n in range(50)]
    for number, person in enumerate(people):
        an_email(session, person, f"ada{number}@acme.com")
    subjects = [Subject(linkedin_url=person.linkedin_url) for person in people]

    with statements(session.get_bind()) as item:  # type: ignore[arg-type]
        lookups.look_up(session, workspace_id, subjects[:1], prices=PRICES)
    with statements(session.get_bind()) as fifty:  # type: ignore[arg-type]
        answers = lookups.look_up(session, workspace_id, subjects, prices=PRICES)

    assert [answer["contact"]["id"] for answer in answers] == [person.id for person in people]
    assert len(item) == len(fifty) == 3


@pytest.mark.skipif(POSTGRES is not None, reason="reads SQLite's plans")
def test_a_lookup_scans_no_whole_table(session: Session, workspace_id: str) -> None:
    ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)
    an_email(session, ada, "ada@acme.com")

    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        look_up(session, workspace_id, linkedin_url=ADA_URL)

    assert scans(session, seen) == []
