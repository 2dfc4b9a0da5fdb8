"""Data that one workspace submits about a person is never shown or sold to another.

See docs/workspace-isolation.md.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from enriching_support import ADA, BOB, MISS, firm, person, said_by, tells
from finding_support import UNKNOWN, VALID, Desk, email, number
from jobs_support import NOW
from sqlalchemy import func, select

from app.core.contacts import companies, contacts, emails
from app.core.contacts.companies import Company
from app.core.contacts.contacts import Contact
from app.core.contacts.emails import Email
from app.core.contacts.phones import Phone
from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import Kind, Outcome
from app.domain.records.subjects import Subject
from workers.providers import parsing
from workers.providers.base import Pending, ProviderField, ProviderRequest

PLANTED = {
    "full_name": "Mallory Evil",
    "company_domain": "evil.example",
    "email": "mallory@evil.example",
    "phone": "+14155550166",
}
MIXED = {"linkedin_url": ADA} | PLANTED
NAMED = {"full_name": "Ada Lovelace", "company_domain": "acme.com"}
WORDS = ("mallory", "evil", "4155550166", "ada-lovelace")


def everything(desk: Desk) -> str:
    """Return the contents of the shared tables as one string."""
    with desk.bench.services.database.reading() as session:
        tables = (Contact, Company, Email, Phone)
        rows = [session.execute(select(table.__table__)).all() for table in tables]
    return str(rows).lower()


def contacts_of(desk: Desk) -> list[Contact]:
    with desk.bench.services.database.reading() as session:
        return list(session.scalars(select(Contact).order_by(Contact.id)))


def keep(desk: Desk, **values: Any) -> str:
    with desk.bench.services.database.transaction() as session:
        found = dataclasses.replace(person(said_by("one", NOW)), **values)
        return contacts.upsert(session, found, now=NOW).id


@pytest.mark.parametrize("kind", [Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE])
def test_a_reveal_stores_nothing_that_the_caller_said(mallory: Desk, kind: Kind) -> None:
    mallory.with_providers(
        "one", one=lambda ask: number() if ask.field is ProviderField.PHONE else tells(email())
    )

    job = mallory.reveal(MIXED, kind)

    assert (job.outcome, job.charged) == (Outcome.FOUND, 1)
    assert [word for word in WORDS if word in everything(mallory)] == []


def test_another_workspace_is_neither_shown_nor_sold_what_was_planted(mallory: Desk) -> None:
    known = mallory.with_providers("one", one=tells(email()))
    mallory.reveal(MIXED)
    other = mallory.of_another_workspace()

    found, sold = other.look_up(linkedin_url=ADA), other.reveal({"linkedin_url": ADA}, Kind.REVEAL_PHONE)

    assert (found["outcome"], found["available"]) == ("none", [])
    assert (sold.outcome, sold.charged) == (Outcome.NOT_FOUND, 0)
    assert known["one"].asked[-1].subject.as_dict() == {"linkedin_url": ADA}


def test_the_planter_finds_again_what_it_bought_by_each_of_its_words(mallory: Desk) -> None:
    known = mallory.with_providers("one", one=tells(email()))
    first = mallory.reveal(MIXED)

    again = [mallory.reveal(MIXED), mallory.reveal({"linkedin_url": ADA}), mallory.reveal(PLANTED)]

    assert [(job.outcome, job.charged, job.already_owned) for job in again] == [(Outcome.FOUND, 0, True)] * 3
    assert (first.charged, len(known["one"].asked)) == (1, 1)
    assert mallory.look_up(linkedin_url=ADA)["revealed"]["emails"][0]["email"] == "ada@acme.com"


def test_the_mail_and_the_number_of_one_question_stay_two_contacts_and_are_shown_together(
    mallory: Desk,
) -> None:
    mallory.with_providers(
        "one", one=lambda ask: number() if ask.field is ProviderField.PHONE else tells(email())
    )
    mallory.reveal(MIXED)

    mallory.reveal(MIXED, Kind.REVEAL_PHONE)

    shown = mallory.look_up(linkedin_url=ADA)
    assert len(contacts_of(mallory)) == 2
    assert [one["email"] for one in shown["revealed"]["emails"]] == ["ada@acme.com"]
    assert [one["e164"] for one in shown["revealed"]["phones"]] == ["+16175550101"]
    assert {entry["owned"] for entry in shown["available"]} == {True}


@pytest.mark.parametrize(
    ("subject", "column"), [({"linkedin_url": ADA}, "linkedin_url"), ({"email": "ada@home.example"}, "email")]
)
def test_an_identifier_that_was_all_a_provider_was_asked_by_is_stored(
    mallory: Desk, subject: dict[str, str], column: str
) -> None:
    known = mallory.with_providers("one", one=number())
    mallory.reveal(subject, Kind.REVEAL_PHONE)

    job = mallory.of_another_workspace().reveal(subject, Kind.REVEAL_PHONE)

    assert subject[column] in everything(mallory)
    assert (job.outcome, job.charged, len(known["one"].asked)) == (Outcome.FOUND, 1, 1)


def test_what_a_provider_says_itself_is_stored_and_shared(mallory: Desk) -> None:
    told = person(said_by("one", NOW), linkedin_url=ADA)
    known = mallory.with_providers("one", one=dataclasses.replace(tells(email()), contact=told))
    mallory.reveal(MIXED)
    other = mallory.of_another_workspace()

    by_profile, by_name = other.look_up(linkedin_url=ADA), other.look_up(**NAMED)

    assert by_profile["contact"]["full_name"] == "Ada Lovelace"
    assert by_name["contact"]["id"] == by_profile["contact"]["id"]
    assert (other.reveal({"linkedin_url": ADA}).charged, len(known["one"].asked)) == (1, 1)


def test_a_contact_that_is_stored_is_asked_about_by_what_is_stored_only(mallory: Desk) -> None:
    keep(mallory, linkedin_url=ADA)
    known = mallory.with_providers("one", one=MISS)

    mallory.reveal(MIXED | {"company_name": "Evil"})

    [ask] = known["one"].asked
    said = {name: value for name, value in ask.subject.as_dict().items() if name != "contact_id"}
    assert said == {"linkedin_url": ADA, "company_name": "Acme"} | NAMED


def test_the_callers_name_for_a_contact_without_one_is_sent_and_what_it_brings_is_not_the_contacts(
    mallory: Desk,
) -> None:
    ada = keep(mallory, full_name=None, first_name=None, last_name=None, linkedin_url=ADA)
    known = mallory.with_providers("one", one=tells(email("mallory@evil.example")))

    job = mallory.reveal({"contact_id": ada, "full_name": "Mallory Evil"})

    [ask] = known["one"].asked
    shown = mallory.of_another_workspace().look_up(contact_id=ada)
    assert (ask.subject.name, ask.subject.linkedin_url) == ("Mallory Evil", ADA)
    assert (job.outcome, job.charged) == (Outcome.FOUND, 1)
    assert (shown["available"], shown["contact"]["full_name"]) == ([], None)


def test_it_is_the_contacts_where_the_provider_says_so(mallory: Desk) -> None:
    ada = keep(mallory, full_name=None, first_name=None, last_name=None, linkedin_url=ADA)
    answer = dataclasses.replace(tells(email()), contact=person(said_by("one", NOW), linkedin_url=ADA))
    mallory.with_providers("one", one=answer)

    mallory.reveal({"contact_id": ada, "full_name": "Ada Lovelace"})

    shown = mallory.of_another_workspace().look_up(contact_id=ada)
    assert [one["masked"][0] for one in shown["available"]] == ["a"]


def test_a_contact_matched_by_name_does_not_get_what_belongs_to_the_callers_other_words(
    mallory: Desk,
) -> None:
    ada = keep(mallory)
    answers = {"mallory@evil.example": tells(email("mallory@evil.example"))}
    mallory.with_providers("one", one=lambda ask: answers.get(str(ask.subject.email), MISS))

    job = mallory.reveal(NAMED | {"email": "mallory@evil.example"}, max_age_days=1)

    assert (job.outcome, job.charged) == (Outcome.NOT_FOUND, 0)
    assert mallory.of_another_workspace().look_up(contact_id=ada)["available"] == []


def test_answers_to_a_mixed_question_are_not_put_together(mallory: Desk) -> None:
    ada = person(said_by("one", NOW), linkedin_url=ADA)
    unsure = dataclasses.replace(tells(email(status=UNKNOWN)), contact=ada)
    mallory.with_providers("one", "two", one=unsure, two=tells(email("mallory@evil.example")))

    job = mallory.reveal(MIXED)

    shown = mallory.of_another_workspace().look_up(linkedin_url=ADA)
    assert job.result is not None
    assert [one["email"] for one in job.result["emails"]] == ["mallory@evil.example"]
    assert [(one["masked"][0], one["status"]) for one in shown["available"]] == [("a", "unknown")]


@pytest.mark.parametrize(
    "more",
    [{"company_name": "Evil"}, {"first_name": "Mallory", "last_name": "Evil"}],
    ids=["company", "name"],
)
def test_two_companies_or_two_names_are_a_mixed_question(mallory: Desk, more: dict[str, str]) -> None:
    ada = dataclasses.replace(
        tells(email(status=UNKNOWN)), contact=person(said_by("one", NOW), linkedin_url=ADA)
    )
    mallory.with_providers("one", "two", one=ada, two=tells(email("mallory@evil.example")))

    mallory.reveal(NAMED | more)

    shown = mallory.of_another_workspace().look_up(linkedin_url=ADA)
    assert [one["status"] for one in shown["available"]] == ["unknown"]


def test_a_nameless_answer_is_not_about_whoever_shares_its_number_or_info_address(mallory: Desk) -> None:
    keep(mallory, linkedin_url=ADA, emails=(email("info@acme.com"),), phones=number().phones)
    mallory.with_providers(
        "one", one=lambda ask: number() if ask.field is ProviderField.PHONE else tells(email("info@acme.com"))
    )
    stranger = {"full_name": "Bob Ray", "company_domain": "acme.com", "linkedin_url": BOB}

    phone, mail = mallory.reveal(stranger, Kind.REVEAL_PHONE), mallory.reveal(stranger)

    ada, *others = contacts_of(mallory)
    assert {job.result["contact_id"] for job in (phone, mail) if job.result} == {one.id for one in others}
    assert ada.linkedin_url == ADA


def test_a_guess_is_stored_without_the_name_it_was_made_from(mallory: Desk) -> None:
    source = Source("pattern", SourceKind.PATTERN, NOW)
    guess = FoundEmail(email="m.evil@acme.com", type="work", status=VALID, source=source)
    mallory.with_providers("one", one=tells(guess))

    mallory.reveal({"full_name": "Mallory Evil", "company_domain": "acme.com"})

    [contact] = contacts_of(mallory)
    assert (contact.full_name, contact.company_id) == (None, None)


def test_a_name_that_only_a_caller_said_teaches_no_pattern(mallory: Desk) -> None:
    mallory.with_providers("one", one=tells(email("lovelace.ada@acme.com")))

    mallory.reveal({"first_name": "Lovelace", "last_name": "Ada", "company_domain": "acme.com"})

    with mallory.bench.services.database.reading() as session:
        assert emails.pattern_counts(session, "acme.com") == []


def test_a_callers_company_does_not_come_to_be(mallory: Desk) -> None:
    mallory.with_providers("one", one=tells(email()))

    mallory.reveal(MIXED | {"company_name": "Evil Inc"})
    mallory.reveal({"full_name": "Ada Lovelace", "company_domain": "evil.example"})

    with mallory.bench.services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Company)) == 0


@pytest.mark.parametrize("wrong", [{"company_name": "Nobody"}, {"first_name": "Zed", "last_name": "Zulu"}])
def test_a_miss_with_a_wrong_word_in_the_question_silences_nobody(
    mallory: Desk, wrong: dict[str, str]
) -> None:
    known = mallory.with_providers("one", one=MISS)
    mallory.reveal(NAMED | wrong)
    known["one"].says = lambda _ask: tells(email())

    assert mallory.of_another_workspace().reveal(NAMED).outcome == Outcome.FOUND


def test_an_answer_that_only_one_workspace_finds_again_silences_nobody(mallory: Desk) -> None:
    known = mallory.with_providers("one", one=tells(email(status=EmailStatus.ACCEPT_ALL)))
    first = mallory.reveal(MIXED, min_status="accept_all")

    second = mallory.of_another_workspace().reveal(MIXED, min_status="accept_all")

    assert (first.charged, second.charged, len(known["one"].asked)) == (1, 1, 2)


def test_nobody_waits_for_an_answer_that_only_another_workspace_will_find(mallory: Desk) -> None:
    known = mallory.with_providers("one", one=Pending("ticket", 5.0))
    mallory.reveal(MIXED)

    mallory.of_another_workspace().reveal(MIXED)

    assert len(known["one"].asked) == 2


def test_an_enriched_person_has_what_the_provider_said_and_no_more(mallory: Desk) -> None:
    told = person(said_by("one", NOW), company=None)
    mallory.with_providers("one", one=lambda ask: tells(told) if ask.field is ProviderField.PERSON else MISS)

    item = mallory.bench.enrich({"subject": MIXED}, ("profile",))

    assert item["contact"]["full_name"] == "Ada Lovelace"
    assert [word for word in WORDS if word in everything(mallory)] == []
    assert mallory.look_up(linkedin_url=ADA)["contact"]["full_name"] == "Ada Lovelace"
    assert mallory.of_another_workspace().look_up(linkedin_url=ADA)["outcome"] == "none"


def test_what_providers_tell_by_different_words_of_an_enrichment_is_not_mixed(mallory: Desk) -> None:
    real = person(said_by("one", NOW), linkedin_url=ADA, title=None, company=None)
    namesake = person(said_by("two", NOW), title="Fraud", company=firm(said_by("two", NOW), name="Evil"))
    mallory.with_providers("one", "two", one=tells(real), two=tells(namesake))

    mallory.bench.enrich({"subject": {"linkedin_url": ADA, "email": "ada@evil.example"}}, ("profile",))

    shown = mallory.of_another_workspace().look_up(linkedin_url=ADA)
    assert (shown["contact"]["title"], shown["company"]) == (None, None)


def test_paid_fields_of_a_mixed_item_are_not_put_with_the_person(mallory: Desk) -> None:
    ada = person(said_by("one", NOW), linkedin_url=ADA)
    replies = {ProviderField.PERSON: tells(ada), ProviderField.EMAIL: tells(email("mallory@evil.example"))}
    mallory.with_providers("one", one=lambda ask: replies[ask.field])

    item = mallory.bench.enrich({"subject": MIXED}, ("email", "profile"))

    assert [one["email"] for one in item["emails"]] == ["mallory@evil.example"]
    assert mallory.of_another_workspace().look_up(linkedin_url=ADA)["available"] == []


@pytest.mark.parametrize(
    "named",
    [
        {"domain": "acme.com", "linkedin_url": "https://www.linkedin.com/company/evil"},
        {"name": "Evil", "linkedin_url": "https://www.linkedin.com/company/evil"},
        {"name": "Acme", "domain": "evil.example"},
    ],
)
def test_an_enriched_company_does_not_get_the_callers_page_or_domain(
    mallory: Desk, named: dict[str, str]
) -> None:
    mallory.with_providers("one", one=tells(firm(said_by("one", NOW), domain=None, industry="Machinery")))

    mallory.bench.enrich({"company": named}, ("company",))

    assert "evil" not in everything(mallory)


def test_a_stored_company_is_asked_about_by_what_is_stored_only(mallory: Desk) -> None:
    with mallory.bench.services.database.transaction() as session:
        companies.upsert(session, firm(said_by("one", NOW)), now=NOW)
    known = mallory.with_providers("one", one=MISS)
    evil = "https://www.linkedin.com/company/evil"

    mallory.bench.enrich({"company": {"domain": "acme.com", "linkedin_url": evil}}, ("company",))

    [ask] = known["one"].asked
    assert ask.subject.as_dict() == {"company_domain": "acme.com", "company_name": "Acme"}


def test_an_address_that_only_a_caller_named_is_not_verified(mallory: Desk) -> None:
    keep(mallory, linkedin_url=ADA)
    known = mallory.with_providers("one", verifiers=("check",), one=MISS, check=tells(email()))

    mallory.reveal({"linkedin_url": ADA, "email": "mallory@evil.example"})

    assert known["check"].asked == []


@pytest.mark.parametrize("is_stored", [True, False])
def test_the_words_of_the_question_that_a_vendor_sends_back_confirm_nothing(*, is_stored: bool) -> None:
    words = PLANTED | {"linkedin_url": ADA, "company_name": "Evil"}
    asked = Subject(contact_id="con_1" if is_stored else None, **words)
    source = said_by("one", NOW)
    company = firm(source, name="EVIL", domain="evil.example")
    sent_back = person(source, full_name="Mallory Evil", linkedin_url=ADA, company=company)

    found = parsing.without_echo(sent_back, ProviderRequest(field=ProviderField.PERSON, subject=asked))

    assert found == (sent_back if is_stored else None)


def test_what_a_vendor_says_beside_the_words_that_it_sends_back_is_kept() -> None:
    source = said_by("one", NOW)
    sent_back = person(source, full_name="Mallory Evil", linkedin_url=BOB, company=firm(source, name="Evil"))

    found = parsing.without_echo(
        sent_back, ProviderRequest(field=ProviderField.PERSON, subject=Subject(**PLANTED))
    )

    assert found is not None
    assert (found.full_name, found.linkedin_url, found.title) == (None, BOB, "Engineer")
    assert found.company is not None
    assert (found.company.name, found.company.domain) == ("Evil", "acme.com")
