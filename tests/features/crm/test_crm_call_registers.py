"""A number in a do-not-call register is never written to a CRM, and a hidden one in a CRM is not shown."""

from __future__ import annotations

from typing import Any

import pytest
from crm_index_support import a_crm, in_crm
from crm_support import EMAIL, FAKES, CrmHarness
from jobs_support import NOW, a_workspace
from registers_support import a_register
from sqlalchemy import update
from stored_support import ADA_URL, PRICES, a_contact, a_phone, own

from app.domain.call_registers import Effect
from app.domain.records.subjects import Subject
from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account, Role
from app.engine.contacts.contacts import Contact
from app.engine.lookups import lookups
from app.features.crm import lookup
from app.features.crm.pushes import CrmPush
from app.infra.database.session import Session
from app.settings import Settings

LISTED, FREE = "+447860338653", "+447860338654"
DIGITS = "7860338653"
every_vendor = pytest.mark.parametrize("vendor", sorted(FAKES))
every_effect = pytest.mark.parametrize("effect", [*Effect])


def sent(harness: CrmHarness) -> str:
    """Return everything that was sent to the CRM, digits of numbers without spaces."""
    log = harness.crm.httpserver.log
    text = " ".join(f"{request.url} {request.get_data(as_text=True)}" for request, _answer in log)
    return text.replace(" ", "").replace("%20", "").replace("-", "")


def as_admin(harness: CrmHarness, push_id: str) -> None:
    """Let the push be an admin's."""
    with harness.database.transaction() as session:
        account = accounts.create(
            session, harness.workspace_id, email="boss@acme.example", name="Boss", password_hash="", now=NOW
        )
        session.get_one(Account, account.id).role = Role.ADMIN.value
        session.execute(update(CrmPush).where(CrmPush.id == push_id).values(account_id=account.id))


@every_vendor
@every_effect
def test_a_number_in_a_register_is_not_sent_to_a_crm_and_its_person_is(
    harness: CrmHarness, vendor: str, effect: Effect
) -> None:
    contact_id = harness.owned_contact()
    harness.has_phone(contact_id, LISTED)
    with harness.database.transaction() as session:
        a_register(session, LISTED, effect=effect)

    push_id = harness.push(contact_id)
    as_admin(harness, push_id)
    harness.turn()

    [item] = harness.items(push_id)
    assert (item.outcome, EMAIL in str(harness.crm.people)) == ("created", True)
    assert (DIGITS in sent(harness), DIGITS in str(harness.crm.people)) == (False, False)
    assert "phone" not in str(item.actions).lower()


@every_vendor
def test_a_number_that_no_register_has_is_sent(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    with harness.database.transaction() as session:
        contact = session.get_one(Contact, contact_id)
        for number, kind in ((LISTED, "mobile"), (FREE, "work")):
            a_phone(session, contact, number, type=kind)
        own(session, harness.workspace_id, contact, "phone")
        a_register(session, LISTED, effect=Effect.HIDE_FOR_MEMBERS)

    [item] = harness.pushed(contact_id)

    assert item.outcome == "created"
    assert (DIGITS in sent(harness), FREE[3:] in sent(harness)) == (False, True)


@every_vendor
def test_the_next_push_sends_no_number_that_was_registered_meanwhile(
    harness: CrmHarness, vendor: str
) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.has_phone(contact_id, LISTED)
    with harness.database.transaction() as session:
        a_register(session, LISTED, effect=Effect.HIDE)

    [item] = harness.pushed(contact_id)

    assert (item.outcome, DIGITS in sent(harness)) == ("unchanged", False)


@pytest.mark.parametrize(
    ("effect", "is_admin", "phones"),
    [
        (Effect.FLAG, False, [LISTED, FREE]),
        (Effect.HIDE_FOR_MEMBERS, False, [FREE]),
        (Effect.HIDE_FOR_MEMBERS, True, [LISTED, FREE]),
        (Effect.HIDE, True, [FREE]),
    ],
)
def test_a_lookup_treats_the_numbers_of_a_record_in_the_crm_as_bought_ones(
    session: Session, settings: Settings, *, effect: Effect, is_admin: bool, phones: list[str]
) -> None:
    crm = a_crm(session, a_workspace(session))
    in_crm(session, crm, {"profiles": [ADA_URL], "emails": [EMAIL], "phones": [LISTED, FREE]})
    a_register(session, LISTED, effect=effect)

    record = looked_up(session, settings, crm.workspace_id, as_admin=is_admin)

    assert (record["phones"], record["has"]) == (phones, ["email", "phone"])
    assert record["do_not_call_phones"] == [number for number in phones if number == LISTED]


def test_a_record_whose_only_number_is_hidden_has_no_number(session: Session, settings: Settings) -> None:
    crm = a_crm(session, a_workspace(session))
    in_crm(session, crm, {"profiles": [ADA_URL], "emails": [EMAIL], "phones": [LISTED]})
    a_register(session, LISTED, effect=Effect.HIDE)

    record = looked_up(session, settings, crm.workspace_id)

    assert (record["phones"], record["has"], record["do_not_call_phones"]) == ([], ["email"], [])


def looked_up(
    session: Session, settings: Settings, workspace_id: str, *, as_admin: bool = False
) -> dict[str, Any]:
    """Return the record that a lookup of a stored person shows."""
    a_contact(session, linkedin_url=ADA_URL)
    session.flush()
    subject = Subject(linkedin_url=ADA_URL)
    find = lookup.LOOKUP.load(settings)
    [result] = lookups.look_up(
        session, workspace_id, [subject], prices=PRICES, finds=[find], as_admin=as_admin
    )
    [record] = result["crm"]
    assert isinstance(record, dict)
    return record
