"""One person under a profile URL with the chosen name and one with LinkedIn's id of the member."""

from __future__ import annotations

import pytest
from findings_support import ADA, BOB, NOW, company, email, person
from jobs_support import a_workspace
from sqlalchemy import func, select
from stored_support import suppress

from app.domain.findings import FoundContact
from app.domain.lists.warning_kinds import SHARED_PROFILE, SPLIT_PROFILE, WEAK_PROFILE
from app.domain.records.subjects import Subject
from app.engine.contacts import contacts
from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved import saved_profile_urls
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.lookups import contact_data, profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot
from app.engine.matching import caller_identifiers, contact_matching
from app.engine.matching.caller_identifiers import CallerIdentifier
from app.engine.privacy import erasure
from app.infra.database.session import Session

MEMBER = "https://www.linkedin.com/in/ACoAAAbCdEf_-123"
OTHER_MEMBER = "https://www.linkedin.com/in/ACoAAABCDEF_-123"
ACME = company("Acme Inc.", "acme.example")
BOTH = person(linkedin_url=ADA, member_url=MEMBER)


def store(session: Session, *found: FoundContact) -> list[Contact]:
    """Upsert each record in a batch of its own; return all contacts, oldest first."""
    for record in found:
        contacts.upsert(session, record, now=NOW)
    return list(session.scalars(select(Contact).order_by(Contact.id)))


def urls_of(contact: Contact) -> tuple[str | None, str | None]:
    return contact.linkedin_url, contact.member_url


@pytest.mark.parametrize("first", [ADA, MEMBER])
def test_a_record_with_both_urls_links_them(session: Session, first: str) -> None:
    [ada] = store(session, person(linkedin_url=first), BOTH)

    assert urls_of(ada) == (ADA, MEMBER)


@pytest.mark.parametrize("urls", [(ADA, MEMBER), (MEMBER, ADA)])
def test_an_address_links_the_urls_of_two_records(session: Session, urls: tuple[str, str]) -> None:
    records = (person(linkedin_url=url, emails=(email(),)) for url in urls)

    [ada] = store(session, *records)

    assert urls_of(ada) == (ADA, MEMBER)


def test_records_of_one_batch_are_linked_as_those_of_several(session: Session) -> None:
    records = [person(linkedin_url=MEMBER), BOTH, person(linkedin_url=ADA)]

    results = contacts.upsert_many(session, records, now=NOW)

    assert len({result.contact_id for result in results}) == 1


def test_ids_that_differ_in_their_capitals_are_two_people(session: Session) -> None:
    shared = (email(),)

    stored = store(
        session,
        person(linkedin_url=MEMBER, emails=shared),
        person(linkedin_url=OTHER_MEMBER, emails=shared),
    )

    assert len(stored) == 2


def test_an_id_of_another_person_is_not_taken(session: Session) -> None:
    store(session, person(linkedin_url=BOB, member_url=MEMBER), person(linkedin_url=ADA))

    ada, bob = store(session, person(linkedin_url=ADA, member_url=MEMBER))

    assert {urls_of(ada), urls_of(bob)} == {(BOB, MEMBER), (ADA, None)}


def test_a_contact_stored_without_the_capitals_of_the_id_gets_them(session: Session) -> None:
    [ada] = store(session, person(linkedin_url=MEMBER.lower()), person(linkedin_url=MEMBER))

    assert urls_of(ada) == (MEMBER, None)


@pytest.mark.parametrize("url", [ADA, MEMBER])
def test_both_urls_match_the_contact(session: Session, url: str) -> None:
    [ada] = store(session, BOTH)

    match = contact_matching.find(session, Subject(linkedin_url=url))

    assert (match.contact, match.matched_on) == (ada, ("linkedin_url",))


def test_several_subjects_match_by_either_url(session: Session) -> None:
    [ada] = store(session, BOTH)
    subjects = [Subject(linkedin_url=ADA), Subject(linkedin_url=MEMBER), Subject(linkedin_url=BOB)]

    found = [match.contact for match in contact_matching.find_many(session, subjects)]

    assert found == [ada, ada, None]


def test_a_subject_with_both_urls_matches_by_the_second(session: Session) -> None:
    [ada] = store(session, person(linkedin_url=MEMBER))

    match = contact_matching.find(session, Subject(linkedin_url=ADA, member_url=MEMBER))

    assert match.contact == ada


def test_a_contact_stored_without_the_capitals_of_the_id_is_matched(session: Session) -> None:
    [ada] = store(session, person(linkedin_url=MEMBER.lower()))

    assert contact_matching.find(session, Subject(linkedin_url=MEMBER)).contact == ada


def test_a_name_at_a_company_matches_beside_a_url_of_the_other_kind(session: Session) -> None:
    [ada] = store(session, person(linkedin_url=ADA, company=ACME))
    subject = Subject(full_name="Ada Lovelace", company_domain="acme.example", linkedin_url=MEMBER)
    other = Subject(full_name="Ada Lovelace", company_domain="acme.example", linkedin_url=BOB)

    assert contact_matching.find(session, subject).contact == ada
    assert contact_matching.find(session, other).contact is None


@pytest.mark.parametrize("listed", [ADA, MEMBER, MEMBER.lower()])
def test_a_person_suppressed_under_one_url_is_suppressed_under_both(session: Session, listed: str) -> None:
    [ada] = store(session, BOTH)
    suppress(session, "linkedin_url", listed)

    data = contact_data.load(session, a_workspace(session), [ada])

    assert data.is_suppressed(ada)


def test_another_persons_id_with_other_capitals_is_not_suppressed(session: Session) -> None:
    suppress(session, "linkedin_url", MEMBER)

    assert not suppression_checks.suppressed(session, [Identifier("linkedin_url", OTHER_MEMBER)])


@pytest.mark.parametrize("url", [ADA, MEMBER])
def test_a_person_is_erased_by_either_url_with_both(session: Session, url: str) -> None:
    [ada] = store(session, BOTH)
    identifiers = [Identifier("linkedin_url", url)]

    found = erasure.find_contacts(session, identifiers, ())
    plan = erasure.plan(session, found, identifiers)

    assert found == [ada]
    assert set(plan.to_suppress) == {Identifier("linkedin_url", ADA), Identifier("linkedin_url", MEMBER)}


def test_what_was_stored_without_the_capitals_of_the_id_is_erased(session: Session) -> None:
    workspace_id = a_workspace(session)
    saved = save(session, workspace_id, MEMBER.lower())
    [ada] = store(session, person(linkedin_url=MEMBER.lower()))
    caller_identifiers.remember(session, workspace_id, Subject(linkedin_url=MEMBER.lower()), ada.id, now=NOW)
    asked = Subject(linkedin_url=MEMBER)

    known = caller_identifiers.find(session, workspace_id, [(asked, ("linkedin_url",))])
    found = erasure.find_contacts(session, [Identifier("linkedin_url", MEMBER)], ())
    erasure.erase(session, erasure.plan(session, found, [Identifier("linkedin_url", MEMBER)]), now=NOW)

    assert (known, found) == ([("linkedin_url", [ada.id])], [ada])
    assert session.get(SavedProfile, saved.id, populate_existing=True) is None
    assert session.scalar(select(func.count()).select_from(CallerIdentifier)) == 0


def save(session: Session, workspace_id: str, url: str, **marks: object) -> SavedProfile:
    snapshot = ProfileSnapshot(
        linkedin_url=url, captured_at=NOW, fields={"title": f"Engineer {url[-3:]}"}, annotations=marks
    )
    saved = profile_snapshots.save(
        session, workspace_id=workspace_id, account_id="acc_x", snapshot=snapshot, now=NOW
    )
    return saved.profile


def test_a_profile_saved_by_its_id_is_saved_under_the_chosen_name(session: Session) -> None:
    store(session, BOTH)

    assert save(session, a_workspace(session), MEMBER).linkedin_url == ADA


def test_a_saved_profile_follows_the_contact_to_the_chosen_name(session: Session) -> None:
    saved = save(session, a_workspace(session), MEMBER)

    store(session, BOTH)

    assert saved.linkedin_url == ADA


def test_a_profile_saved_under_both_urls_becomes_one(session: Session) -> None:
    workspace_id = a_workspace(session)
    save(session, workspace_id, MEMBER, note="A note", tags=["a"])
    kept = save(session, workspace_id, ADA, tags=["b"])

    store(session, BOTH)

    [remaining] = session.scalars(select(SavedProfile))
    assert remaining is kept
    assert (kept.note, kept.tags, kept.title) == ("A note", ["b", "a"], f"Engineer {ADA[-3:]}")


def test_what_a_saved_row_lacks_comes_from_the_other(session: Session) -> None:
    workspace_id = a_workspace(session)
    other = save(session, workspace_id, MEMBER)
    kept = save(session, workspace_id, ADA)
    other.headline, other.company_name, kept.title = "Thinks", "Acme", None

    saved_profile_urls.merge(session, other, kept, now=NOW)

    shown = [getattr(kept, name) for name in ("headline", "company_name", "title")]
    assert shown == ["Thinks", "Acme", "Engineer 123"]
    assert session.scalar(select(func.count()).select_from(SavedProfile)) == 1


def test_a_weak_profile_makes_one_of_people_with_one_name_only(session: Session) -> None:
    weak = {"linkedin_url": ADA, "is_profile_weak": True}
    store(
        session,
        person(emails=(email("a@acme.example"),), **weak),
        person("Bob Byron", emails=(email("b@beta.example"),), **weak),
        person(emails=(email("c@acme.example"),), **weak),
        person(None, emails=(email("d@acme.example"),), **weak),
    )

    profiles = {contact.full_name: contact.linkedin_url for contact in session.scalars(select(Contact))}

    assert profiles == {"Ada Lovelace": ADA, "Bob Byron": None, None: None}


def test_a_weak_profile_does_not_make_two_of_one_address(session: Session) -> None:
    shared = (email(),)

    stored = store(
        session,
        person(linkedin_url=BOB, emails=shared),
        person(linkedin_url=ADA, is_profile_weak=True, emails=shared),
    )

    assert [urls_of(contact) for contact in stored] == [(BOB, None)]


def test_a_second_profile_that_people_of_one_list_share_identifies_none_of_them(session: Session) -> None:
    records = [
        person("Ada Lovelace", linkedin_url=ADA, member_url=MEMBER),
        person("Bob Byron", linkedin_url=BOB, member_url=MEMBER),
        person("Cy Dee", linkedin_url=MEMBER, emails=(email("cy@dee.example"),)),
    ]

    first, again = (contacts.upsert_many(session, records, now=NOW) for _ in range(2))

    stored = session.scalars(select(Contact).order_by(Contact.id))
    assert [urls_of(contact) for contact in stored] == [(ADA, None), (BOB, None), (None, None)]
    assert [result.conflicts for result in first] == [(SHARED_PROFILE,)] * 3
    assert [result.contact_id for result in again] == [result.contact_id for result in first]


def test_two_people_are_not_joined_by_a_record_with_the_profiles_of_both_which_is_told(
    session: Session,
) -> None:
    stored = [
        person("Ada Lovelace", linkedin_url=ADA, emails=(email("ada@acme.example"),)),
        person("Ada Lovelace", linkedin_url=MEMBER, emails=(email("ada@beta.example"),)),
    ]
    for record in stored:
        contacts.upsert(session, record, now=NOW)
    both = person("Ada Lovelace", linkedin_url=ADA, member_url=MEMBER)

    [result] = contacts.upsert_many(session, [both], now=NOW)

    first, second = session.scalars(select(Contact).order_by(Contact.id))
    assert (urls_of(first), urls_of(second)) == ((ADA, None), (MEMBER, None))
    assert (result.contact_id, result.conflicts) == (first.id, (SPLIT_PROFILE,))
    assert contact_matching.find(session, Subject(linkedin_url=ADA, member_url=MEMBER)).contact == first


def test_the_profile_with_an_id_is_kept_if_only_the_one_with_the_chosen_name_is_shared(
    session: Session,
) -> None:
    records = [
        person("Ada Lovelace", linkedin_url=ADA, member_url=MEMBER),
        person("Bob Byron", linkedin_url=ADA, emails=(email("bob@beta.example"),)),
    ]

    contacts.upsert_many(session, records, now=NOW)

    ada = session.scalars(select(Contact).where(Contact.full_name == "Ada Lovelace")).one()
    assert urls_of(ada) == (MEMBER, None)


@pytest.mark.parametrize("url", [ADA, MEMBER])
def test_a_later_list_with_another_name_for_either_url_doubts_the_contact(session: Session, url: str) -> None:
    other = person("Bob Byron", linkedin_url=url, emails=(email("bob@beta.example"),))
    nameless = person(None, linkedin_url=MEMBER, emails=(email("x@beta.example"),))

    stored = {contact.full_name: contact for contact in store(session, BOTH, other, nameless, BOTH)}

    assert {name: urls_of(contact) for name, contact in stored.items()} == {
        "Ada Lovelace": (ADA, MEMBER),
        "Bob Byron": (None, None),
        None: (None, None),
    }
    assert stored["Ada Lovelace"].linkedin_shared


def test_a_weak_profile_of_another_person_is_reported_and_does_not_doubt_the_owner(session: Session) -> None:
    [ada] = store(session, person(linkedin_url=ADA))
    bob = person("Bob Byron", linkedin_url=ADA, is_profile_weak=True, emails=(email("bob@beta.example"),))

    [result] = contacts.upsert_many(session, [bob], now=NOW)

    session.refresh(ada)
    assert result.conflicts == (WEAK_PROFILE,)
    assert not ada.linkedin_shared
