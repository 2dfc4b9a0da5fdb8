"""A number in a do-not-call register is marked, or hidden by role, in every channel; its person never is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import feature_tests
import pytest
from fake_providers import ONE, email, hit, person
from sqlalchemy import select
from stored_support import PRICES, own
from worker_harness import ADA, WorkerHarness

from app.domain.call_registers import Effect
from app.domain.findings import FoundPhone
from app.domain.kinds import Kind
from app.domain.records.subjects import Subject
from app.engine.accounts.accounts import Account
from app.engine.contacts.contacts import Contact
from app.engine.jobs.job_snapshots import JobReader
from app.engine.jobs.jobs import Job
from app.engine.lists import exports
from app.engine.lookups import lookups, people_search
from app.engine.owned import owned_contacts, owned_exports
from app.engine.owned.owned_filters import Selection
from app.engine.privacy import erasure, person_data
from app.infra import clock
from app.infra.database.session import Session
from app.web.jobs.job_responses import job_body

feature = pytest.importorskip("app.features.call_registers.loading")
LISTED, FREE = "+447860338653", "+447860338654"
STORED = person(
    linkedin_url=ADA,
    emails=(email("ada@acme.com"),),
    phones=(
        FoundPhone(e164=LISTED, type="mobile", status="valid", source=ONE),
        FoundPhone(e164=FREE, type="work", status="valid", source=ONE),
    ),
)
ONLY_LISTED = person(
    linkedin_url=ADA, phones=(FoundPhone(e164=LISTED, type="mobile", status="valid", source=ONE),)
)

BOUGHT = person(
    linkedin_url=ADA,
    emails=(email("ada@acme.com"),),
    phones=(FoundPhone(e164=LISTED, type="mobile", status="valid", source=ONE),),
)

_WITHOUT_NUMBERS = {"addresses to verify again"}
CHANNELS: dict[str, Callable[[Session, WorkerHarness], object]] = {
    "lookup": lambda _session, harness: harness.look_up(linkedin_url=ADA),
    "people by id": lambda session, harness: people_search.by_ids(
        session, harness.workspace_id, session.scalars(select(Contact.id)).all(), prices=PRICES
    ),
    "owned contacts": lambda _session, harness: owned(harness),
    "export": lambda session, _harness: list(exports.contact_rows(session)),
    **{
        name: read
        for part in feature_tests.parts("channels")
        for name, (read, _suppressed) in part.CHANNELS.items()
    },
}


@pytest.fixture
def register(harness: WorkerHarness, tmp_path: Path) -> Callable[..., None]:
    """Return a function that loads a register with the number."""

    def register(effect: Effect = Effect.FLAG, *, age_days: int = 1) -> None:
        file = tmp_path / "tps.txt"
        file.write_text("07860 338653\n", encoding="ascii")
        source = feature.Source(
            id="uk-tps",
            name="TPS",
            country="GB",
            format=feature.Format.NUMBERS,
            max_age_days=28,
            date=datetime.now(UTC) - timedelta(days=age_days),
            files=(file,),
        )
        feature.load(
            harness.database,
            source,
            feature.Accepted(),
            effect=effect,
            tick=lambda: None,
            now=clock.now(),
        )

    return register


def reveal(harness: WorkerHarness) -> Job:
    """Reveal the numbers of all types."""
    return harness.reveal({"linkedin_url": ADA}, Kind.REVEAL_PHONE, types=["mobile", "work"])


def body(harness: WorkerHarness, job: Job, *, as_admin: bool = False) -> dict[str, Any]:
    snapshot = JobReader(harness.database).read(harness.workspace_id, job.id)
    return job_body(snapshot, repeated=False, as_admin=as_admin)


def shown(harness: WorkerHarness, job: Job, *, as_admin: bool = False) -> list[str]:
    result = body(harness, job, as_admin=as_admin)["result"] or {"phones": []}
    return [phone["e164"] for phone in result["phones"]]


def owned(harness: WorkerHarness, *, as_admin: bool = False) -> list[tuple[dict[str, Any], dict[str, str]]]:
    with harness.database.reading() as session:
        found = owned_contacts.page(
            session, harness.workspace_id, Selection(), limit=9, as_admin=as_admin
        ).contacts
        return [(one.public(with_values=True), owned_exports.row(one, with_values=True)) for one in found]


def make_admin(harness: WorkerHarness, job_id: str) -> None:
    """Let the job be an admin's."""
    with harness.database.transaction() as session:
        account = Account(
            id="acc_admin",
            workspace_id=harness.workspace_id,
            email="boss@acme.example",
            name="Boss",
            role="admin",
            api_access=False,
            password_hash="",
            created_at=clock.now(),
        )
        session.add(account)
        session.get_one(Job, job_id).account_id = account.id


def test_a_registered_number_is_shown_with_the_register_and_its_date(
    harness: WorkerHarness, register: Callable[..., None]
) -> None:
    harness.store_contact(STORED)
    register()

    job = reveal(harness)

    [listed] = [one for one in body(harness, job)["result"]["phones"] if one["e164"] == LISTED]
    [free] = [one for one in body(harness, job)["result"]["phones"] if one["e164"] == FREE]
    [entry] = listed["call_registers"]
    assert (entry["id"], entry["name"], entry["listed"], entry["outdated"]) == ("uk-tps", "TPS", True, False)
    assert (listed["do_not_call"], listed["do_not_call_checked_at"]) == (True, entry["date"])
    assert (free["do_not_call"], free["call_registers"][0]["listed"]) == (False, False)
    assert job.charged > 0


def test_a_number_that_is_registered_after_it_was_bought_is_marked_at_the_next_read(
    harness: WorkerHarness, register: Callable[..., None]
) -> None:
    harness.store_contact(STORED)
    job = reveal(harness)
    before = {one["do_not_call"] for one in body(harness, job)["result"]["phones"]}

    register()

    flags = {one["e164"]: one["do_not_call"] for one in body(harness, job)["result"]["phones"]}
    assert (before, flags) == ({None}, {LISTED: True, FREE: False})
    [(contact, row)] = owned(harness)
    assert {one["e164"]: one["do_not_call"] for one in contact["revealed"]["phones"]} == flags
    assert row["call_registers"].startswith(f"{LISTED}: TPS of 20")
    assert "yes" in row.values()
    looked_up = harness.look_up(linkedin_url=ADA)
    assert {one["do_not_call"] for one in looked_up["available"] if one["field"] == "phone"} == {True, False}


def test_that_an_outdated_register_does_not_have_a_number_says_nothing(
    harness: WorkerHarness, register: Callable[..., None]
) -> None:
    harness.store_contact(STORED)
    register(age_days=28)

    job = reveal(harness)

    found = {one["e164"]: one for one in body(harness, job)["result"]["phones"]}
    assert (found[LISTED]["do_not_call"], found[FREE]["do_not_call"]) == (True, None)
    assert {one["call_registers"][0]["outdated"] for one in found.values()} == {True}


@pytest.mark.parametrize("effect", [Effect.HIDE, Effect.HIDE_FOR_MEMBERS])
def test_a_hidden_number_is_in_no_channel_and_its_person_is(
    harness: WorkerHarness, register: Callable[..., None], effect: Effect
) -> None:
    harness.store_contact(STORED)
    register(effect)

    job = reveal(harness)
    item = harness.enrich({"subject": {"linkedin_url": ADA}}, ("profile", "phone"))

    looked_up = harness.look_up(linkedin_url=ADA)
    assert (shown(harness, job), job.charged > 0) == ([FREE], True)
    assert [one["e164"] for one in item["phones"]] == [FREE]
    assert LISTED not in str(owned(harness)) + str(looked_up)
    assert looked_up["contact"]["full_name"] == "Ada Lovelace"


@pytest.mark.parametrize("effect", [Effect.HIDE, Effect.HIDE_FOR_MEMBERS])
def test_nothing_is_charged_if_all_numbers_are_hidden(
    harness: WorkerHarness, register: Callable[..., None], effect: Effect
) -> None:
    harness.store_contact(ONLY_LISTED)
    register(effect)
    harness.set_providers(one=hit(ONLY_LISTED.phones[0]))

    job = reveal(harness)
    again = reveal(harness)

    assert [(one.outcome, one.charged) for one in (job, again)] == [("not_found", 0)] * 2


def test_an_admin_reveals_and_sees_what_is_hidden_from_members(
    harness: WorkerHarness, register: Callable[..., None]
) -> None:
    harness.store_contact(ONLY_LISTED)
    register(Effect.HIDE_FOR_MEMBERS)
    job_id = harness.submit_reveal({"linkedin_url": ADA}, Kind.REVEAL_PHONE)
    make_admin(harness, job_id)

    job = harness.run_reveal(job_id, Kind.REVEAL_PHONE)

    assert (job.outcome, job.charged > 0) == ("found", True)
    assert (shown(harness, job, as_admin=True), shown(harness, job)) == ([LISTED], [])
    [(for_admin, _row)], [(for_member, _)] = owned(harness, as_admin=True), owned(harness)
    assert [one["e164"] for one in for_admin["revealed"]["phones"]] == [LISTED]
    assert for_member["revealed"]["phones"] == []


def test_the_choice_of_another_workspace_changes_nothing(
    harness: WorkerHarness, register: Callable[..., None]
) -> None:
    harness.store_contact(STORED)
    register()
    other = harness.other_workspace().workspace_id
    with harness.database.transaction() as session:
        feature.set_effect(
            session,
            "uk-tps",
            Effect.HIDE,
            workspace_id=other,
            changed_by=None,
            now=clock.now(),
        )

    job = reveal(harness)

    assert set(shown(harness, job)) == {LISTED, FREE}


def test_a_workspace_may_be_stricter_than_the_operator(
    harness: WorkerHarness, register: Callable[..., None]
) -> None:
    harness.store_contact(STORED)
    register(Effect.HIDE_FOR_MEMBERS)
    for effect in (Effect.HIDE, Effect.FLAG, Effect.HIDE):
        with harness.database.transaction() as session:
            feature.set_effect(
                session,
                "uk-tps",
                effect,
                workspace_id=harness.workspace_id,
                changed_by=None,
                now=clock.now(),
            )

    job = reveal(harness)

    assert shown(harness, job, as_admin=True) == [FREE]


def test_the_operators_export_marks_numbers_and_leaves_out_hidden_ones(
    harness: WorkerHarness, register: Callable[..., None]
) -> None:
    harness.store_contact(STORED)
    register()
    with harness.database.reading() as session:
        [marked] = exports.contact_rows(session)
    register(Effect.HIDE)
    with harness.database.reading() as session:
        [hidden] = exports.contact_rows(session)

    assert {marked["phone_do_not_call"], marked["phone_2_do_not_call"]} == {"yes", "no"}
    assert LISTED not in str(hidden)


def available(harness: WorkerHarness, *, as_admin: bool = False) -> list[dict[str, Any]]:
    """Return the masked numbers that a lookup offers."""
    with harness.database.reading() as session:
        [found] = lookups.look_up(
            session, harness.workspace_id, [Subject(linkedin_url=ADA)], prices=PRICES, as_admin=as_admin
        )
    return [entry for entry in found["available"] if entry["field"] == "phone"]


@pytest.mark.parametrize("age_days", [1, 28])
def test_a_masked_number_says_before_the_purchase_which_register_has_it(
    harness: WorkerHarness, register: Callable[..., None], age_days: int
) -> None:
    harness.store_contact(STORED)
    register(age_days=age_days)

    by_type = {entry["type"]: entry for entry in available(harness)}

    [of_listed], [of_free] = (by_type[name]["call_registers"] for name in ("mobile", "work"))
    assert (by_type["mobile"]["do_not_call"], by_type["mobile"]["owned"]) == (True, False)
    assert (of_listed["name"], of_listed["listed"], of_listed["outdated"]) == ("TPS", True, age_days == 28)
    assert of_listed["date"][:10] == f"{datetime.now(UTC) - timedelta(days=age_days):%Y-%m-%d}"
    assert (of_free["listed"], LISTED[3:] in str(by_type)) == (False, False)


def test_a_hidden_number_is_offered_only_to_those_who_would_see_it(
    harness: WorkerHarness, register: Callable[..., None]
) -> None:
    harness.store_contact(ONLY_LISTED)
    register(Effect.HIDE_FOR_MEMBERS)

    for_member, for_admin = available(harness), available(harness, as_admin=True)
    register(Effect.HIDE)

    assert (for_member, [one["do_not_call"] for one in for_admin]) == ([], [True])
    assert available(harness, as_admin=True) == []


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("effect", [Effect.HIDE, Effect.HIDE_FOR_MEMBERS])
def test_a_number_that_was_bought_before_is_hidden_in_every_channel(
    harness: WorkerHarness, register: Callable[..., None], channel: str, effect: Effect
) -> None:
    contact_id = harness.store_contact(BOUGHT)
    with harness.database.transaction() as session:
        for field in ("email", "phone"):
            own(session, harness.workspace_id, session.get_one(Contact, contact_id), field)
    with harness.database.transaction() as session:
        before = repr(CHANNELS[channel](session, harness))
        session.rollback()
    register(effect)

    with harness.database.transaction() as session:
        after = repr(CHANNELS[channel](session, harness))

    is_shown = channel == "export" and effect is Effect.HIDE_FOR_MEMBERS  # operators export, as admins
    assert (LISTED in before, LISTED in after) == (channel not in _WITHOUT_NUMBERS, is_shown)
    assert "ada@acme.com" in after or channel in _WITHOUT_NUMBERS


@pytest.mark.parametrize("effect", Effect)
def test_the_person_is_shown_the_number_that_is_held(
    harness: WorkerHarness, register: Callable[..., None], effect: Effect
) -> None:
    harness.store_contact(STORED)
    register(effect)

    with harness.database.reading() as session:
        people = session.scalars(select(Contact)).all()
        held = person_data.collect(session, people, erasure.plan(session, people, []))

    [contact] = held["contacts"]
    assert {one["phone"] for one in contact["phones"]} == {LISTED, FREE}


def test_without_a_register_numbers_are_asked_about_by_no_statement(harness: WorkerHarness) -> None:
    harness.store_contact(STORED)

    job = reveal(harness)

    assert {tuple(one["call_registers"]) for one in body(harness, job)["result"]["phones"]} == {()}
    with harness.database.reading() as session:
        assert session.scalars(select(Job.outcome)).all() == ["found"]
