"""Data that one workspace submits about a person is never shown or sold to another.

See docs/workspace-isolation.md.
"""

from __future__ import annotations

import dataclasses

import pytest
from fake_providers import MISS, UNKNOWN, VALID, company, email, hit, person, phone, source_of
from jobs_support import NOW
from sqlalchemy import func, select
from worker_harness import ADA, BOB, WorkerHarness

from app.domain.findings import EmailStatus, FoundEmail, Source, SourceKind
from app.domain.kinds import Kind, Outcome
from app.domain.records.subjects import Subject
from app.engine.contacts import companies, learned_patterns
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
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


def everything(harness: WorkerHarness) -> str:
    """Return the contents of the shared tables as one string."""
    with harness.database.reading() as session:
        tables = (Contact, Company, Email, Phone)
        rows = [session.execute(select(table.__table__)).all() for table in tables]
    return str(rows).lower()


def contacts_of(harness: WorkerHarness) -> list[Contact]:
    with harness.database.reading() as session:
        return list(session.scalars(select(Contact).order_by(Contact.id)))


@pytest.mark.parametrize("kind", [Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE])
def test_a_reveal_stores_no_caller_data(harness: WorkerHarness, kind: Kind) -> None:
    harness.set_providers(
        one=lambda request: hit(phone()) if request.field is ProviderField.PHONE else hit(email())
    )

    job = harness.reveal(MIXED, kind)

    assert (job.outcome, job.charged) == (Outcome.FOUND, 1)
    assert [word for word in WORDS if word in everything(harness)] == []


def test_planted_data_is_neither_shown_nor_sold_to_another_workspace(harness: WorkerHarness) -> None:
    providers = harness.set_providers(one=hit(email()))
    harness.reveal(MIXED)
    other = harness.other_workspace()

    found, sold = other.look_up(linkedin_url=ADA), other.reveal({"linkedin_url": ADA}, Kind.REVEAL_PHONE)

    assert (found["outcome"], found["available"]) == ("none", [])
    assert (sold.outcome, sold.charged) == (Outcome.NOT_FOUND, 0)
    assert providers["one"].requests[-1].subject.as_dict() == {"linkedin_url": ADA}


def test_a_workspace_finds_its_purchase_by_each_of_its_identifiers(harness: WorkerHarness) -> None:
    providers = harness.set_providers(one=hit(email()))
    first = harness.reveal(MIXED)

    again = [harness.reveal(MIXED), harness.reveal({"linkedin_url": ADA}), harness.reveal(PLANTED)]

    assert [(job.outcome, job.charged, job.already_owned) for job in again] == [(Outcome.FOUND, 0, True)] * 3
    assert (first.charged, len(providers["one"].requests)) == (1, 1)
    assert harness.look_up(linkedin_url=ADA)["revealed"]["emails"][0]["email"] == "ada@acme.com"


def test_the_email_and_phone_of_a_mixed_request_are_two_contacts_shown_together(
    harness: WorkerHarness,
) -> None:
    harness.set_providers(
        one=lambda request: hit(phone()) if request.field is ProviderField.PHONE else hit(email())
    )
    harness.reveal(MIXED)

    harness.reveal(MIXED, Kind.REVEAL_PHONE)

    shown = harness.look_up(linkedin_url=ADA)
    assert len(contacts_of(harness)) == 2
    assert [entry["email"] for entry in shown["revealed"]["emails"]] == ["ada@acme.com"]
    assert [entry["e164"] for entry in shown["revealed"]["phones"]] == ["+16175550101"]
    assert {entry["owned"] for entry in shown["available"]} == {True}


@pytest.mark.parametrize(
    ("subject", "column"), [({"linkedin_url": ADA}, "linkedin_url"), ({"email": "ada@home.example"}, "email")]
)
def test_the_only_identifier_of_a_provider_call_is_stored(
    harness: WorkerHarness, subject: dict[str, str], column: str
) -> None:
    providers = harness.set_providers(one=hit(phone()))
    harness.reveal(subject, Kind.REVEAL_PHONE)

    job = harness.other_workspace().reveal(subject, Kind.REVEAL_PHONE)

    assert subject[column] in everything(harness)
    assert (job.outcome, job.charged, len(providers["one"].requests)) == (Outcome.FOUND, 1, 1)


def test_values_that_a_provider_returns_are_stored_and_shared(harness: WorkerHarness) -> None:
    found = person(linkedin_url=ADA)
    providers = harness.set_providers(one=dataclasses.replace(hit(email()), contact=found))
    harness.reveal(MIXED)
    other = harness.other_workspace()

    by_profile, by_name = other.look_up(linkedin_url=ADA), other.look_up(**NAMED)

    assert by_profile["contact"]["full_name"] == "Ada Lovelace"
    assert by_name["contact"]["id"] == by_profile["contact"]["id"]
    assert (other.reveal({"linkedin_url": ADA}).charged, len(providers["one"].requests)) == (1, 1)


def test_a_provider_receives_only_stored_identifiers_of_a_stored_contact(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA))
    providers = harness.set_providers(one=MISS)

    harness.reveal(MIXED | {"full_name": "Ada Evil", "company_name": "Evil"})

    [request] = providers["one"].requests
    sent = {name: value for name, value in request.subject.as_dict().items() if name != "contact_id"}
    assert sent == {"linkedin_url": ADA, "company_name": "Acme"} | NAMED


def test_a_profile_under_another_name_gives_the_stored_contact_nothing(harness: WorkerHarness) -> None:
    ada = harness.store_contact(person(linkedin_url=ADA, emails=(email(),)))
    harness.set_providers(one=hit(email("mallory@evil.example")))

    harness.reveal(MIXED | {"full_name": "Mallory Evil"})

    shown = harness.other_workspace().look_up(contact_id=ada)
    assert [entry["masked"][0] for entry in shown["available"]] == ["a"]
    assert shown["contact"]["full_name"] == "Ada Lovelace"


def test_a_value_found_by_the_callers_name_is_not_stored_with_a_nameless_contact(
    harness: WorkerHarness,
) -> None:
    ada = harness.store_contact(person(full_name=None, first_name=None, last_name=None, linkedin_url=ADA))
    providers = harness.set_providers(one=hit(email("mallory@evil.example")))

    job = harness.reveal({"contact_id": ada, "full_name": "Mallory Evil"})

    [request] = providers["one"].requests
    shown = harness.other_workspace().look_up(contact_id=ada)
    assert (request.subject.name, request.subject.linkedin_url) == ("Mallory Evil", ADA)
    assert (job.outcome, job.charged) == (Outcome.FOUND, 1)
    assert (shown["available"], shown["contact"]["full_name"]) == ([], None)


def test_a_value_is_stored_with_a_nameless_contact_if_the_provider_names_its_profile(
    harness: WorkerHarness,
) -> None:
    ada = harness.store_contact(person(full_name=None, first_name=None, last_name=None, linkedin_url=ADA))
    answer = dataclasses.replace(hit(email()), contact=person(linkedin_url=ADA))
    harness.set_providers(one=answer)

    harness.reveal({"contact_id": ada, "full_name": "Ada Lovelace"})

    shown = harness.other_workspace().look_up(contact_id=ada)
    assert [entry["masked"][0] for entry in shown["available"]] == ["a"]


def test_a_contact_matched_by_name_gets_no_value_found_by_another_identifier(
    harness: WorkerHarness,
) -> None:
    ada = harness.store_contact(person())
    answers = {"mallory@evil.example": hit(email("mallory@evil.example"))}
    harness.set_providers(one=lambda request: answers.get(str(request.subject.email), MISS))

    job = harness.reveal(NAMED | {"email": "mallory@evil.example"}, max_age_days=1)

    assert (job.outcome, job.charged) == (Outcome.NOT_FOUND, 0)
    assert harness.other_workspace().look_up(contact_id=ada)["available"] == []


def test_responses_to_a_mixed_request_are_stored_separately(harness: WorkerHarness) -> None:
    ada = person(linkedin_url=ADA)
    unsure = dataclasses.replace(hit(email(status=UNKNOWN)), contact=ada)
    harness.set_providers(one=unsure, two=hit(email("mallory@evil.example")))

    job = harness.reveal(MIXED)

    shown = harness.other_workspace().look_up(linkedin_url=ADA)
    assert job.result is not None
    assert [entry["email"] for entry in job.result["emails"]] == ["mallory@evil.example"]
    assert [(entry["masked"][0], entry["status"]) for entry in shown["available"]] == [("a", "unknown")]


@pytest.mark.parametrize(
    "more",
    [{"company_name": "Evil"}, {"first_name": "Mallory", "last_name": "Evil"}],
    ids=["company", "name"],
)
def test_a_request_with_two_companies_or_two_names_is_mixed(
    harness: WorkerHarness, more: dict[str, str]
) -> None:
    ada = dataclasses.replace(hit(email(status=UNKNOWN)), contact=person(linkedin_url=ADA))
    harness.set_providers(one=ada, two=hit(email("mallory@evil.example")))

    harness.reveal(NAMED | more)

    shown = harness.other_workspace().look_up(linkedin_url=ADA)
    assert [entry["status"] for entry in shown["available"]] == ["unknown"]


def test_a_nameless_response_is_not_matched_by_a_shared_phone_or_role_address(
    harness: WorkerHarness,
) -> None:
    harness.store_contact(person(linkedin_url=ADA, emails=(email("info@acme.com"),), phones=(phone(),)))
    harness.set_providers(
        one=lambda request: (
            hit(phone()) if request.field is ProviderField.PHONE else hit(email("info@acme.com"))
        ),
    )
    stranger = {"full_name": "Bob Ray", "company_domain": "acme.com", "linkedin_url": BOB}

    jobs = [harness.reveal(stranger, kind) for kind in (Kind.REVEAL_PHONE, Kind.REVEAL_EMAIL)]

    ada, *others = contacts_of(harness)
    assert {job.result["contact_id"] for job in jobs if job.result} == {entry.id for entry in others}
    assert ada.linkedin_url == ADA


def test_a_guessed_email_is_stored_without_the_requested_name(harness: WorkerHarness) -> None:
    source = Source("pattern", SourceKind.PATTERN, NOW)
    guess = FoundEmail(email="m.evil@acme.com", type="work", status=VALID, source=source)
    harness.set_providers(one=hit(guess))

    harness.reveal({"full_name": "Mallory Evil", "company_domain": "acme.com"})

    [contact] = contacts_of(harness)
    assert (contact.full_name, contact.company_id) == (None, None)


def test_a_name_known_only_from_a_request_teaches_no_email_pattern(harness: WorkerHarness) -> None:
    harness.set_providers(one=hit(email("lovelace.ada@acme.com")))

    harness.reveal({"first_name": "Lovelace", "last_name": "Ada", "company_domain": "acme.com"})

    with harness.database.reading() as session:
        assert learned_patterns.pattern_counts(session, "acme.com") == []


def test_a_company_known_only_from_a_request_is_not_created(harness: WorkerHarness) -> None:
    harness.set_providers(one=hit(email()))

    harness.reveal(MIXED | {"company_name": "Evil Inc"})
    harness.reveal({"full_name": "Ada Lovelace", "company_domain": "evil.example"})

    with harness.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Company)) == 0


@pytest.mark.parametrize("wrong", [{"company_name": "Nobody"}, {"first_name": "Zed", "last_name": "Zulu"}])
def test_a_miss_for_wrong_identifiers_does_not_prevent_later_calls(
    harness: WorkerHarness, wrong: dict[str, str]
) -> None:
    providers = harness.set_providers(one=MISS)
    harness.reveal(NAMED | wrong)
    providers["one"].reply = hit(email())

    assert harness.other_workspace().reveal(NAMED).outcome == Outcome.FOUND


def test_a_response_found_again_by_one_workspace_only_does_not_prevent_calls_of_others(
    harness: WorkerHarness,
) -> None:
    providers = harness.set_providers(one=hit(email(status=EmailStatus.ACCEPT_ALL)))
    first = harness.reveal(MIXED, min_status="accept_all")

    second = harness.other_workspace().reveal(MIXED, min_status="accept_all")

    assert (first.charged, second.charged, len(providers["one"].requests)) == (1, 1, 2)


def test_a_job_does_not_wait_for_a_result_that_only_another_workspace_will_find(
    harness: WorkerHarness,
) -> None:
    providers = harness.set_providers(one=Pending("ticket", 5.0))
    harness.reveal(MIXED)

    harness.other_workspace().reveal(MIXED)

    assert len(providers["one"].requests) == 2


def test_an_enriched_person_has_only_the_values_of_the_provider(harness: WorkerHarness) -> None:
    found = person(company=None)
    harness.set_providers(one=lambda request: hit(found) if request.field is ProviderField.PERSON else MISS)

    item = harness.enrich({"subject": MIXED}, ("profile",))

    assert item["contact"]["full_name"] == "Ada Lovelace"
    assert [word for word in WORDS if word in everything(harness)] == []
    assert harness.look_up(linkedin_url=ADA)["contact"]["full_name"] == "Ada Lovelace"
    assert harness.other_workspace().look_up(linkedin_url=ADA)["outcome"] == "none"


def test_provider_values_for_different_identifiers_of_an_enrichment_are_not_merged(
    harness: WorkerHarness,
) -> None:
    real = person(linkedin_url=ADA, title=None, company=None)
    namesake = person(
        source_of("two", NOW), title="Fraud", company=company(source_of("two", NOW), name="Evil")
    )
    harness.set_providers(one=hit(real), two=hit(namesake))

    harness.enrich({"subject": {"linkedin_url": ADA, "email": "ada@evil.example"}}, ("profile",))

    shown = harness.other_workspace().look_up(linkedin_url=ADA)
    assert (shown["contact"]["title"], shown["company"]) == (None, None)


def test_paid_fields_of_a_mixed_item_are_not_stored_with_the_person(harness: WorkerHarness) -> None:
    ada = person(linkedin_url=ADA)
    replies = {ProviderField.PERSON: hit(ada), ProviderField.EMAIL: hit(email("mallory@evil.example"))}
    harness.set_providers(one=lambda request: replies[request.field])

    item = harness.enrich({"subject": MIXED}, ("email", "profile"))

    assert [entry["email"] for entry in item["emails"]] == ["mallory@evil.example"]
    assert harness.other_workspace().look_up(linkedin_url=ADA)["available"] == []


@pytest.mark.parametrize(
    "named",
    [
        {"domain": "acme.com", "linkedin_url": "https://www.linkedin.com/company/evil"},
        {"name": "Evil", "linkedin_url": "https://www.linkedin.com/company/evil"},
        {"name": "Acme", "domain": "evil.example"},
    ],
)
def test_an_enriched_company_does_not_get_the_callers_profile_or_domain(
    harness: WorkerHarness, named: dict[str, str]
) -> None:
    harness.set_providers(one=hit(company(domain=None, industry="Machinery")))

    harness.enrich({"company": named}, ("company",))

    assert "evil" not in everything(harness)


def test_a_provider_receives_only_stored_identifiers_of_a_stored_company(harness: WorkerHarness) -> None:
    with harness.database.transaction() as session:
        companies.upsert(session, company(), now=NOW)
    providers = harness.set_providers(one=MISS)
    evil = "https://www.linkedin.com/company/evil"

    harness.enrich({"company": {"domain": "acme.com", "linkedin_url": evil}}, ("company",))

    [request] = providers["one"].requests
    assert request.subject.as_dict() == {"company_domain": "acme.com", "company_name": "Acme"}


def test_an_email_known_only_from_a_request_is_not_verified(harness: WorkerHarness) -> None:
    harness.store_contact(person(linkedin_url=ADA))
    providers = harness.set_providers(verifiers=("check",), one=MISS, check=hit(email()))

    harness.reveal({"linkedin_url": ADA, "email": "mallory@evil.example"})

    assert providers["check"].requests == []


@pytest.mark.parametrize("is_stored", [True, False])
def test_values_of_the_request_that_a_vendor_echoes_are_dropped(*, is_stored: bool) -> None:
    words = PLANTED | {"linkedin_url": ADA, "company_name": "Evil"}
    asked = Subject(contact_id="con_1" if is_stored else None, **words)
    employer = company(name="EVIL", domain="evil.example")
    sent_back = person(full_name="Mallory Evil", linkedin_url=ADA, company=employer)

    found = parsing.without_echo(sent_back, ProviderRequest(field=ProviderField.PERSON, subject=asked))

    assert found == (sent_back if is_stored else None)


def test_values_beside_the_echoed_ones_are_kept() -> None:
    sent_back = person(full_name="Mallory Evil", linkedin_url=BOB, company=company(name="Evil"))

    found = parsing.without_echo(
        sent_back, ProviderRequest(field=ProviderField.PERSON, subject=Subject(**PLANTED))
    )

    assert found is not None
    assert (found.full_name, found.linkedin_url, found.title) == (None, BOB, "Engineer")
    assert found.company is not None
    assert (found.company.name, found.company.domain) == ("Evil", "acme.com")
