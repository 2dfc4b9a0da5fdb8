from __future__ import annotations

from dataclasses import replace

import pytest
from jobs_support import NOW, a_workspace
from sqlalchemy import select, text, update
from stored_support import a_company, a_contact, an_email, own

from app.domain.normal.names.name_keys import person_key
from app.domain.records.person_matcher import PersonMatcher
from app.domain.suppression_lists import forms
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.privacy import erasure, person_data, reencryption
from app.engine.privacy.erasure import ErasurePlan
from app.features.crm import connections, pushes, records
from app.features.crm.connections import Credentials, CrmConnection
from app.features.crm.index import crm_index, index_matches, personal_data
from app.features.crm.index.crm_index import CrmIndexRecord
from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.pushes import PushItem, PushOptions, PushOutcome
from app.features.crm.records import CrmWrittenRecord
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.session import Session

PROFILE = "https://www.linkedin.com/in/ada-lovelace"
EMAIL = Identifier("email", "ada@acme.com")
ONLY_NEW = DigestKeys(b"another key", b"another key", ((7, b"7" * 32),))


@pytest.fixture
def connection(session: Session) -> CrmConnection:
    return connections.create(
        session,
        a_workspace(session),
        vendor="hubspot",
        base_url=None,
        credentials=Credentials(token="token-1"),
        mapping={},
        account_id="acc_1",
        now=NOW,
    )


@pytest.fixture
def ada(session: Session, connection: CrmConnection) -> Contact:
    contact = a_contact(session, a_company(session))
    an_email(session, contact, EMAIL.value)
    own(session, connection.workspace_id, contact, "email")
    return contact


def push(session: Session, connection: CrmConnection, contact: Contact) -> None:
    pushes.submit(
        session, connection, [contact.id], account_id="acc_1", origin="", options=PushOptions(), now=NOW
    )


def follow(session: Session) -> ErasurePlan:
    return erasure.plan(session, erasure.find_contacts(session, [EMAIL], ()), [EMAIL])


def add_key(session: Session) -> None:
    """Give the session the new key in front of the one that it has."""
    session._keys = replace(session.keys, encryption=ONLY_NEW.encryption)  # noqa: SLF001 -- set once otherwise


def remove_old_key(session: Session) -> None:
    session._keys = ONLY_NEW  # noqa: SLF001 -- set once otherwise


def test_what_was_pushed_of_a_person_is_deleted_with_them(
    session: Session, connection: CrmConnection, ada: Contact
) -> None:
    push(session, connection, ada)
    assert follow(session).counts["crm_records"] == 0
    records.note(session, records.lock(session, connection.id, ada.id), {"email": EMAIL.value})
    plan = follow(session)

    erasure.erase(session, plan, now=NOW)

    assert plan.counts["crm_records"] == 1
    assert session.scalars(select(PushItem)).all() == []
    assert session.scalars(select(CrmWrittenRecord.contact_id)).all() == []


def test_a_person_sees_the_crms_to_which_they_were_pushed(
    session: Session, connection: CrmConnection, ada: Contact
) -> None:
    push(session, connection, ada)
    plan = follow(session)
    before = person_data.collect(session, [ada], plan)["crm_pushes"]
    session.execute(update(PushItem).values(outcome=PushOutcome.CREATED.value, finished_at=NOW))

    after = person_data.collect(session, [ada], plan)["crm_pushes"]

    assert (before, [(row["workspace"], row["crm"], row["outcome"]) for row in after]) == (
        [],
        [("Acme", "hubspot", "created")],
    )


IN_CRM = CrmPerson(
    crm_id="7",
    kind=RecordKind.CONTACT,
    name="Ada Lovelace",
    emails=(EMAIL.value,),
    company="Acme Engines",
    domain="acme.com",
    owner="Kim Lee",
)


def test_a_person_sees_the_crms_in_which_they_are_and_is_deleted_from_the_index(
    session: Session, connection: CrmConnection, ada: Contact
) -> None:
    bob = replace(IN_CRM, crm_id="8", name="Bob Ray", emails=("bob@acme.com",))
    crm_index.store(session, connection, [IN_CRM, bob], now=NOW)
    plan = follow(session)

    shown = person_data.collect(session, [ada], plan)["crm_people"]
    erasure.erase(session, plan, now=NOW)

    assert plan.counts["crm_index"] == 1
    assert "owner" not in shown[0]["values"]
    assert [(row["workspace"], row["crm"], row["values"]["name"]) for row in shown] == [
        ("Acme", "hubspot", "Ada Lovelace")
    ]
    assert session.scalars(select(CrmIndexRecord.crm_id)).all() == ["8"]


@pytest.mark.parametrize("values", [{"phones": ("+16502530000",)}, {"profiles": (PROFILE,)}])
def test_a_person_is_found_in_the_index_by_a_number_and_a_profile(
    session: Session, connection: CrmConnection, values: dict[str, object]
) -> None:
    crm_index.store(session, connection, [replace(IN_CRM, emails=(), name="", **values)], now=NOW)  # type: ignore[arg-type]
    matcher = PersonMatcher(phones=frozenset(["+16502530000"]), linkedin_urls=frozenset([PROFILE]))

    assert personal_data.find(session, matcher).rows == 1


@pytest.mark.parametrize(
    ("profiles", "rows"), [((), 1), ((PROFILE,), 1), (("https://www.linkedin.com/in/another-ada",), 0)]
)
def test_a_person_is_found_in_the_index_by_name_and_company_unless_the_profile_is_another(
    session: Session, connection: CrmConnection, profiles: tuple[str, ...], rows: int
) -> None:
    crm_index.store(session, connection, [replace(IN_CRM, emails=(), profiles=profiles)], now=NOW)
    matcher = PersonMatcher(
        linkedin_urls=frozenset([PROFILE]), names=frozenset([(person_key("Ada Lovelace"), "acme.com")])
    )

    assert personal_data.find(session, matcher).rows == rows


def test_a_person_is_found_in_the_index_by_name_and_the_domain_of_a_work_address(
    session: Session, connection: CrmConnection
) -> None:
    crm_index.store(session, connection, [replace(IN_CRM, company="", domain="")], now=NOW)

    matcher = PersonMatcher(names=frozenset([(person_key("Ada Lovelace"), "acme.com")]))

    assert personal_data.find(session, matcher).rows == 1


@pytest.mark.parametrize(
    "suppressed",
    [
        EMAIL,
        Identifier("domain", "acme.com"),
        Identifier("phone", "+16502530000"),
        Identifier("linkedin_url", PROFILE),
        Identifier("name", forms.employment(person_key("Ada Lovelace"), "acme.com")),
    ],
)
@pytest.mark.parametrize("domain", ["acme.com", ""])
def test_nobody_who_is_suppressed_is_stored_in_the_index_or_shown_from_it(
    session: Session, connection: CrmConnection, suppressed: Identifier, domain: str
) -> None:
    ada = replace(IN_CRM, phones=("+16502530000",), profiles=(PROFILE,), domain=domain)
    bob = replace(IN_CRM, crm_id="8", name="Bob Ray", emails=("bob@ray.example",))
    sought = LookedUp(workspace_id=connection.workspace_id, emails=[EMAIL.value, "bob@ray.example"])
    crm_index.store(session, connection, [ada, bob], now=NOW)
    suppressions.suppress(session, [suppressed], reason="opted_out", now=NOW)

    [shown] = index_matches.find(session, [sought])
    crm_index.store(session, connection, [ada, bob], now=NOW)

    assert [match.person.crm_id for match in shown] == ["8"]
    assert session.scalars(select(CrmIndexRecord.crm_id)).all() == ["8"]


def test_credentials_are_encrypted_under_the_new_key(session: Session, connection: CrmConnection) -> None:
    add_key(session)

    assert reencryption.encrypt_next(session, reencryption.SECRETS, now=NOW)

    assert [row.rows for row in reencryption.progress(session)] == [1]
    session.refresh(connection)
    remove_old_key(session)
    assert connections.decrypted(session, connection).token == "token-1"


def test_credentials_that_cannot_be_read_are_kept(session: Session, connection: CrmConnection) -> None:
    session.execute(update(CrmConnection).values(credentials=b"unreadable"))
    session.refresh(connection)

    assert connections.encrypt_again(session) == 0
    assert session.scalar(text("SELECT credentials FROM crm_connections")) == b"unreadable"
