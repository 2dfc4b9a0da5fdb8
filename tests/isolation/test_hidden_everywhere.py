"""A value that a regional rule hides is shown in no channel, and no provider is called for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import feature_tests
import pytest
from fake_providers import ONE, company, email, person, phone
from jobs_support import NOW, a_job
from sqlalchemy import select
from stored_support import PRICES, own
from worker_harness import ADA, NAMED, WorkerHarness

from app.domain.findings import EmailStatus, FoundEmail, FoundPhone
from app.domain.kinds import Kind, TraceOutcome
from app.domain.normal.hashes import hex_hash, website_hash
from app.domain.regional_rules import RegionalRules, parse_places
from app.engine.contacts import hidden_values
from app.engine.contacts.contacts import Contact
from app.engine.jobs.job_snapshots import JobReader
from app.engine.jobs.jobs import Job, JobItem
from app.engine.lists import exports
from app.engine.lookups import leads
from app.engine.owned import owned_contacts, owned_exports
from app.engine.owned.owned_filters import Selection
from app.engine.privacy import erasure, person_data
from app.infra.database.session import Session
from app.web.jobs.job_responses import job_body
from workers.providers.base import ProviderField, ProviderRequest, ProviderResponse

WORK, HOME, MOBILE, DESK = "ada@acme.com", "ada.byron@gmail.com", "+4915112345678", "+4930901820"
HIDDEN = (HOME, MOBILE, "gmail", "personal", "mobile", MOBILE[3:])
WEBSITE = hex_hash(website_hash("acme.com"))
VALUES: dict[str, Any] = {
    "emails": (
        email(WORK),
        FoundEmail(email=HOME, type="personal", status=EmailStatus.RISKY, source=ONE, verified_at=NOW),
    ),
    "phones": (
        FoundPhone(e164=MOBILE, type="mobile", status="valid", source=ONE),
        FoundPhone(e164=DESK, type="work", status="unknown", source=ONE),
    ),
}
PLACES = {
    "the person's country": ("de", "DE", None),
    "the company's country": ("DE", None, "DE"),
    "the person's country, not the company's": ("FR,DE", "DE", "US"),
    "the European Union": ("EU", "DE", None),
    "the European Economic Area": ("EEA", "NO", None),
    "an unknown country": ("unknown", None, None),
    "everywhere": ("*", "US", "US"),
}


@pytest.fixture(params=PLACES.values(), ids=PLACES)
def place(request: pytest.FixtureRequest, harness: WorkerHarness) -> str:
    """Store Ada with values that the workspace owns, in a country; return the setting that hides them."""
    setting, country, of_company = request.param
    of_ada = person(linkedin_url=ADA, country=country, company=company(country=of_company), **VALUES)
    contact_id = harness.store_contact(of_ada)
    with harness.database.transaction() as session:
        for field in ("email", "phone"):
            own(session, harness.workspace_id, session.get_one(Contact, contact_id), field)
    return str(setting)


def hide(harness: WorkerHarness, emails_in: str, mobiles_in: str | None = None) -> None:
    """Set the rules for the worker, and for all sessions of the database."""
    of_emails, of_mobiles = (
        parse_places(filter(None, places.split(",")))
        for places in (emails_in, emails_in if mobiles_in is None else mobiles_in)
    )
    harness.change_settings(hide_personal_emails_in=of_emails, hide_mobiles_in=of_mobiles)
    rules = RegionalRules(of_emails, of_mobiles)
    harness.database.settings = replace(harness.database.settings, regional_rules=rules)


def looked_up(_session: Session, harness: WorkerHarness) -> object:
    found = harness.look_up(linkedin_url=ADA)
    return found["available"], found["revealed"]


def leads_of(session: Session, harness: WorkerHarness) -> object:
    request = {"hashes": [WEBSITE], "limit": 25}
    return leads.by_website_hash(session, harness.workspace_id, request, prices=PRICES)


def owned(session: Session, harness: WorkerHarness) -> object:
    found = owned_contacts.page(session, harness.workspace_id, Selection(), limit=9).contacts
    return [each.public(with_values=True) for each in found]


def downloaded(session: Session, harness: WorkerHarness) -> object:
    found = owned_contacts.page(session, harness.workspace_id, Selection(), limit=9).contacts
    return [owned_exports.row(each, with_values=True) for each in found]


CHANNELS: dict[str, Callable[[Session, WorkerHarness], object]] = {
    "lookup": looked_up,
    "leads by hash": leads_of,
    "export": lambda session, _: list(exports.contact_rows(session)),
    "owned contacts": owned,
    "download of owned contacts": downloaded,
    **{
        name: read
        for part in feature_tests.parts("channels")
        for name, (read, _suppressed) in part.CHANNELS.items()
    },
}


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_hidden_value_is_shown_in_no_channel(harness: WorkerHarness, place: str, channel: str) -> None:
    with harness.database.transaction() as session:
        before = repr(CHANNELS[channel](session, harness))
        session.rollback()

    hide(harness, place)
    with harness.database.transaction() as session:
        after = repr(CHANNELS[channel](session, harness))

    assert any(text in before for text in HIDDEN)
    assert [text for text in HIDDEN if text in after] == []
    assert len(after) > len("[]") or channel == "addresses to verify again"


def test_a_reveal_gives_the_visible_values_only_and_charges_for_no_hidden_one(
    harness: WorkerHarness, place: str
) -> None:
    hide(harness, place)
    other = harness.other_workspace()
    providers = other.set_providers(one=ProviderResponse(outcome=TraceOutcome.MISS))

    emails = other.reveal(NAMED, types=["personal"], min_status="any")
    phones = other.reveal(NAMED, Kind.REVEAL_PHONE, types=["mobile", "work"], min_status="any")

    assert (emails.outcome, emails.result, emails.charged) == ("not_found", None, 0)
    assert providers["one"].requests == []
    assert phones.result is not None
    assert [entry["e164"] for entry in phones.result["phones"]] == [DESK]


def test_an_answer_of_a_provider_shows_no_hidden_value(harness: WorkerHarness) -> None:
    hide(harness, "DE")
    known = person(linkedin_url=ADA, country="DE", **VALUES)

    def reply(request: ProviderRequest) -> ProviderResponse:
        assert request.field is not ProviderField.EMAIL or "personal" not in request.types
        return ProviderResponse(outcome=TraceOutcome.HIT, contact=known, cost=1, phones=VALUES["phones"][:1])

    providers = harness.set_providers(one=reply, two=ProviderResponse(outcome=TraceOutcome.MISS))

    job = harness.reveal({"linkedin_url": ADA}, Kind.REVEAL_PHONE, types=["mobile"], min_status="any")
    item = harness.enrich({"subject": {"linkedin_url": ADA}}, ("profile", "phone"))

    assert (job.outcome, job.charged) == ("not_found", 0)
    assert [entry["e164"] for entry in item["phones"]] == [DESK]
    assert providers["two"].requests  # the hidden number was no reason to stop


def test_answers_from_before_the_rule_lose_the_hidden_values(harness: WorkerHarness, place: str) -> None:
    subject = {"linkedin_url": ADA}
    harness.reveal(subject, types=["personal", "work"], min_status="any")
    harness.reveal(subject, Kind.REVEAL_PHONE, types=["mobile", "work"], min_status="any")
    harness.enrich({"subject": subject}, ("profile", "email", "phone"))
    harness.enrich({"subject": subject}, ("phone",))

    reader = JobReader(harness.database)

    def answers() -> str:
        with harness.database.reading() as session:
            ids = session.scalars(select(Job.id)).all()
        return repr([job_body(reader.read(harness.workspace_id, id_), repeated=True) for id_ in ids])

    before = answers()
    hide(harness, place)
    after = answers()

    assert MOBILE in before and HOME in before  # noqa: PT018 -- one state
    assert [text for text in (MOBILE, HOME) if text in after] == []
    assert DESK in after and WORK in after  # noqa: PT018 -- one state


@pytest.mark.parametrize(("rules", "hidden"), [(("DE", ""), {HOME}), (("", "DE"), {MOBILE})])
def test_each_rule_hides_its_own_values(
    harness: WorkerHarness, rules: tuple[str, str], hidden: set[str]
) -> None:
    contact_id = harness.store_contact(person(linkedin_url=ADA, country="DE", **VALUES))
    answer = {
        "contact_id": contact_id,
        "emails": [{"email": HOME, "type": "personal"}],
        "phones": [{"e164": MOBILE, "type": "mobile", "line_type": "mobile", "country": "DE"}],
    }
    hide(harness, *rules)

    with harness.database.reading() as session:
        found = hidden_values.in_answers(session, [(answer, {})])
    shown = repr(harness.look_up(linkedin_url=ADA)["available"])

    is_shown = {HOME: "personal" in shown, MOBILE: "mobile" in shown}
    assert (found, {value for value, here in is_shown.items() if not here}) == (hidden, hidden)


def test_a_new_enrichment_without_a_profile_keeps_the_numbers_that_no_rule_hides(
    harness: WorkerHarness,
) -> None:
    harness.store_contact(person(linkedin_url=ADA, country="US", phones=(phone(),)))
    hide(harness, "DE")

    job_id = harness.submit_enrichment({"subject": {"linkedin_url": ADA}}, fields=("phone",))
    harness.run_enrichment(job_id)
    with harness.database.reading() as session:
        [item] = session.scalars(select(JobItem))
        hidden = hidden_values.in_answers(session, [(item.result, item.request)])

    assert item.result is not None
    assert ("+16175550101" in repr(item.result), hidden) == (True, frozenset())


def test_an_answer_without_a_profile_follows_the_country_that_is_stored_later(harness: WorkerHarness) -> None:
    contact_id = harness.store_contact(person(linkedin_url=ADA, country=None, phones=(phone(),)))
    hide(harness, "DE")
    job_id = harness.submit_enrichment({"subject": {"linkedin_url": ADA}}, fields=("phone",))
    harness.run_enrichment(job_id)

    found = []
    for country in ("US", "DE"):
        with harness.database.transaction() as session:
            session.get_one(Contact, contact_id).country = country
        with harness.database.reading() as session:
            [item] = session.scalars(select(JobItem))
            answer = (item.result, item.request)
            hidden = hidden_values.in_answers(session, [answer])
        found.append([entry["e164"] in hidden for entry in (item.result or {})["phones"]])

    assert (any(found[0]), any(found[1])) == (False, True)


def test_an_answer_without_values_hides_nothing(harness: WorkerHarness) -> None:
    hide(harness, "DE")

    with harness.database.reading() as session:
        assert hidden_values.in_answers(session, [({"emails": [], "phones": []}, {})]) == frozenset()


def test_the_same_question_is_asked_anew_once_a_rule_hides_something(harness: WorkerHarness) -> None:
    with harness.database.transaction() as session:
        before = a_job(session, harness.workspace_id)
        joined = a_job(session, harness.workspace_id)
    hide(harness, "DE")

    with harness.database.transaction() as session:
        after = a_job(session, harness.workspace_id)

    assert (joined == before, after == before) == (True, False)


@pytest.mark.parametrize("field", ["email", "phone"])
def test_a_filter_by_field_does_not_tell_that_a_hidden_value_exists(
    harness: WorkerHarness, place: str, field: str
) -> None:
    harness.store_contact(
        person(
            full_name="Bob Ray", first_name="Bob", last_name="Ray", country="DE", title="Clerk",
            emails=(dataclasses.replace(VALUES["emails"][1], email="bob@gmail.com"),),
            phones=VALUES["phones"][:1],
        )
    )  # fmt: skip
    request = {"hashes": [WEBSITE], "limit": 25, "has": [field]}

    def names() -> list[str]:
        with harness.database.transaction() as session:
            found = leads.by_website_hash(session, harness.workspace_id, request, prices=PRICES)
        assert found is not None
        return sorted(lead["full_name"] for lead in found["leads"])

    before = names()
    hide(harness, f"{place},DE")

    assert (before, names()) == (["Ada Lovelace", "Bob Ray"], ["Ada Lovelace"])


def test_a_status_filter_and_the_columns_do_not_tell_that_a_hidden_value_exists(
    harness: WorkerHarness, place: str
) -> None:
    risky = Selection(status=EmailStatus.RISKY)

    def shown() -> object:
        with harness.database.transaction() as session:
            found = owned_contacts.page(session, harness.workspace_id, risky, limit=9).contacts
            columns = exports.contact_columns(session)
            return len(found), "email_2" in columns, "phone_2" in columns

    before = shown()
    hide(harness, place)

    assert (before, shown()) == ((1, True, True), (0, False, False))


@pytest.mark.parametrize(("kind", "value"), [("email", HOME), ("phone", MOBILE)])
def test_a_hidden_value_still_suppresses_the_person(
    harness: WorkerHarness, place: str, kind: str, value: str
) -> None:
    hide(harness, place)
    harness.suppress(kind, value)

    assert harness.look_up(linkedin_url=ADA)["suppressed"] is True


def test_the_person_is_shown_everything_that_is_held(harness: WorkerHarness, place: str) -> None:
    hide(harness, place)

    with harness.database.reading() as session:
        people = session.scalars(select(Contact)).all()
        held = repr(person_data.collect(session, people, erasure.plan(session, people, [])))

    assert [text for text in (WORK, HOME, MOBILE, DESK) if text not in held] == []
