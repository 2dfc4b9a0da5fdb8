"""Guesses of addresses and numbers: a free answer confirms only a few of them, wherever it is asked for."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from apiflask import APIFlask
from sqlalchemy import func, select
from stored_support import a_company, a_contact, a_phone, an_email, own, suppress
from users_support import SignedInUser, create_user

from app.domain.reverse_lookups import ReverseLookupLimits
from app.engine.contacts.contacts import Contact
from app.engine.matching import reverse_lookups
from app.engine.matching.reverse_lookups import ReverseLookup
from app.infra.database import database_clock
from app.infra.database.session import DataSettings

LOOKUP, ENRICH, SAVE = "/api/ext/lookup", "/api/ext/enrichment-request", "/api/ext/linkedin-save"
ADDRESSES = [f"ada{number}@acme.com" for number in range(99)]
NUMBERS = [f"+12025550{number:03}" for number in range(50)]
LIMITS = ReverseLookupLimits()


@pytest.fixture
def people(user: SignedInUser) -> list[Contact]:
    """The people at a company, each with an address; the first of them have a number."""
    with user.database.transaction() as session:
        company = a_company(session)
        contacts = [a_contact(session, company, f"Ada{number} Lovelace") for number in range(99)]
        for contact, address in zip(contacts, ADDRESSES, strict=True):
            an_email(session, contact, address)
        for contact, number in zip(contacts, NUMBERS, strict=False):
            a_phone(session, contact, number)
        return contacts


def look_up(user: SignedInUser, *subjects: dict[str, str]) -> list[dict[str, Any]]:
    """Return the results of lookups of 50 subjects each."""
    results = []
    for start in range(0, len(subjects), 50):
        body = {"subjects": subjects[start : start + 50]}
        answer = user.client.post(LOOKUP, json=body, headers=user.headers).get_json()
        results += answer["results"]
    return results


def by_email(*addresses: str) -> list[dict[str, str]]:
    return [{"email": address} for address in addresses]


def use_up(user: SignedInUser) -> dict[str, Any]:
    """Use up the limit of acme.com; return the answer to an address that is not stored."""
    *_tried, unknown = look_up(user, *by_email(*(f"nobody{number}@acme.com" for number in range(6))))
    return unknown


def is_confirmed(result: dict[str, Any]) -> bool:
    return bool(result["contact"] or result["candidates"] or result["suppressed"])


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(("kind", "values"), [("email", ADDRESSES), ("phone", NUMBERS)])
def test_of_the_guesses_at_one_domain_or_block_only_the_first_are_confirmed(
    user: SignedInUser, kind: str, values: list[str]
) -> None:
    results = look_up(user, *({kind: value} for value in values))

    confirmed = [is_confirmed(result) for result in results]
    assert confirmed == [True] * LIMITS.per_domain + [False] * (len(values) - LIMITS.per_domain)


@pytest.mark.usefixtures("people")
def test_above_the_limit_a_stored_a_suppressed_and_an_unknown_address_have_the_same_answer(
    user: SignedInUser,
) -> None:
    with user.database.transaction() as session:
        suppress(session, "email", ADDRESSES[1])
    unknown = use_up(user)

    results = look_up(user, *by_email(ADDRESSES[0], ADDRESSES[1], "other@acme.com"))

    assert results == [unknown] * 3
    assert not is_confirmed(unknown)


@pytest.mark.parametrize("named_by", ["contact_id", "full_name"])
def test_a_guess_beside_another_identifier_of_the_person_is_not_confirmed_either(
    user: SignedInUser, people: list[Contact], named_by: str
) -> None:
    names = {"contact_id": people[7].id, "full_name": "Ada7 Lovelace"}
    person = {named_by: names[named_by]} | ({"company_domain": "acme.com"} if named_by == "full_name" else {})
    guesses = [{**person, "email": f"guess{number}@gmail.com"} for number in range(LIMITS.per_person)]
    with user.database.transaction() as session:
        an_email(session, people[7], "ada7@gmail.com")
    look_up(user, *guesses)

    right, wrong = look_up(user, {**person, "email": "ada7@gmail.com"}, {**person, "email": "ada8@gmail.com"})

    assert right["contact"]["id"] == people[7].id
    assert "email" not in right["match"]["matched_on"]
    assert right == wrong


def test_the_limit_of_a_workspace_counts_all_domains(user: SignedInUser) -> None:
    known = [f"ada@company-{number}.com" for number in range(LIMITS.per_workspace + 5)]
    with user.database.transaction() as session:
        for address in known:
            an_email(session, a_contact(session, None, "Ada Lovelace"), address)

    results = look_up(user, *by_email(*known))

    assert sum(map(is_confirmed, results)) == LIMITS.per_workspace


def test_values_that_the_workspace_owns_are_not_counted(user: SignedInUser, people: list[Contact]) -> None:
    with user.database.transaction() as session:
        for contact in people[:20]:
            own(session, user.workspace_id, contact, "email")
    use_up(user)

    results = look_up(user, *by_email(*ADDRESSES[:20], ADDRESSES[20]))

    assert [is_confirmed(result) for result in results] == [True] * 20 + [False]


@pytest.mark.usefixtures("people")
def test_a_counted_value_is_answered_again_and_counted_once(user: SignedInUser) -> None:
    for _ in range(3):
        (again,) = look_up(user, *by_email(ADDRESSES[0]))
    results = look_up(user, *by_email(*ADDRESSES[1:6]))

    assert is_confirmed(again)
    assert sum(map(is_confirmed, results)) == LIMITS.per_domain - 1


@pytest.mark.usefixtures("people")
def test_the_limits_of_another_workspace_are_its_own(app: APIFlask, user: SignedInUser) -> None:
    use_up(user)
    other = create_user(app, email="grace@babbage.example")

    (result,) = look_up(other, *by_email(ADDRESSES[0]))

    assert is_confirmed(result)


@pytest.mark.usefixtures("people")
def test_parallel_guesses_do_not_exceed_the_limit(app: APIFlask, user: SignedInUser) -> None:
    results: list[dict[str, Any]] = []

    def guess(address: str) -> None:
        body = {"subject": {"email": address}}
        results.append(app.test_client().post(LOOKUP, json=body, headers=user.headers).get_json())

    threads = [threading.Thread(target=guess, args=(address,)) for address in ADDRESSES[:12]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 12
    assert sum(map(is_confirmed, results)) == LIMITS.per_domain


@pytest.mark.parametrize("field", ["email", "phone"])
def test_a_profile_is_not_saved_by_an_address_or_a_number(user: SignedInUser, field: str) -> None:
    profile = {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace", field: ADDRESSES[0]}

    response = user.client.post(SAVE, json={"profile": profile}, headers=user.headers)

    assert response.status_code == 422


@pytest.mark.usefixtures("people")
def test_a_dry_run_has_the_same_price_for_a_stored_a_suppressed_and_an_unknown_address(
    user: SignedInUser,
) -> None:
    with user.database.transaction() as session:
        suppress(session, "email", ADDRESSES[1])

    estimates = [
        user.client.post(
            ENRICH,
            json={
                "entity": "person",
                "fields": ["email", "phone"],
                "items": [{"subject": {"email": address}}],
                "dry_run": True,
            },
            headers=user.headers,
        ).get_json()["estimate"]
        for address in (ADDRESSES[0], ADDRESSES[1], "other@acme.com")
    ]

    counts = dict.fromkeys(("owned", "suppressed", "excluded", "ineligible", "skipped"), 0)
    summary = "1 person: 1 to buy for at most 2 credits"
    price = {"credits_min": 0, "credits_max": 2, "to_buy": 1, "own_records": [], "summary": summary}
    assert estimates == [price | counts | {"exceeds_balance": False}] * 3


@pytest.mark.parametrize("is_suppressed", [False, True])
def test_a_reveal_holds_its_price_whether_the_address_is_suppressed_or_not(
    user: SignedInUser, *, is_suppressed: bool
) -> None:
    if is_suppressed:
        with user.database.transaction() as session:
            suppress(session, "email", "ada@acme.com")

    response = user.client.post(
        "/api/ext/reveal/email",
        json={"subject": {"email": "ada@acme.com"}},
        headers=user.headers | {"Prefer": "respond-async"},
    )

    assert (response.status_code, response.get_json()["credits"]["reserved"]) == (202, 1)


def test_only_keyed_digests_of_the_tried_values_are_stored_for_a_day(user: SignedInUser) -> None:
    look_up(user, {"email": "ada@acme.com", "full_name": "Ada Lovelace"}, {"phone": "+12025550143"})

    with user.database.reading() as session:
        rows = session.scalars(select(ReverseLookup)).all()
        stored = repr([(row.value_digest, row.domain_digest, row.person_digest) for row in rows])
    assert len(rows) == 2
    assert not any(text in stored for text in ("ada", "acme", "Lovelace", "lovelace", "2025550"))

    with user.database.transaction() as session:
        tomorrow = database_clock.value(session) + reverse_lookups.WINDOW
        reverse_lookups.purge_expired(session, now=tomorrow)
        assert session.scalar(select(func.count()).select_from(ReverseLookup)) == 0


@pytest.mark.usefixtures("people")
def test_a_value_counts_for_a_rolling_day(user: SignedInUser) -> None:
    use_up(user)
    with user.database.transaction() as session:
        for row in session.scalars(select(ReverseLookup)):
            row.tried_at -= reverse_lookups.WINDOW

    (result,) = look_up(user, *by_email(ADDRESSES[0]))

    assert is_confirmed(result)


def test_without_free_reverse_lookups_nothing_is_confirmed(user: SignedInUser, people: list[Contact]) -> None:
    database = user.client.application.extensions["services"].database
    database.settings = DataSettings(reverse_lookup_limits=ReverseLookupLimits(3, 5, 0))

    (result,) = look_up(user, *by_email(ADDRESSES[0]))

    assert not is_confirmed(result)
    assert people
