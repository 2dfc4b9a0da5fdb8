"""Whoever has an excluded stage in the workspace's CRM is excluded: nothing is revealed, nothing charged."""

from __future__ import annotations

from typing import Any

import pytest
from crm_index_support import a_crm, in_crm
from fake_providers import email, hit
from jobs_support import NOW
from page_support import Visitor
from sqlalchemy import select, update
from stored_support import a_company, a_contact, a_phone, an_email, own, statements, suppress
from suppressed_support import ada_or_nothing
from users_support import SignedInUser
from worker_harness import ADA, BOB, NAMED, WorkerHarness, worker_harness

from app.domain.audit_actions import Action
from app.domain.exclusions import CRM_STAGE
from app.domain.kinds import Kind
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.workspaces import Workspace
from app.engine.audit_log.entries import PendingEntry
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.exclusions import exclusion_checks, exclusion_sources
from app.engine.exclusions.exclusion_checks import Wanted
from app.engine.exclusions.exclusions import Exclusion
from app.features.crm import connections, exclusion
from app.features.crm.connections import CrmConnection
from app.features.crm.index.readings import CrmReading
from app.infra.database.db import Database
from app.settings import Settings

STAGE = "customer"
NAME: dict[str, Any] = {"name": "Ada Lovelace", "company": "Acme Engines"}
OTHER_PROFILE = "https://www.linkedin.com/in/another-ada"
WHY = {"reason": CRM_STAGE, "note": "HubSpot: customer", "vendor": "hubspot", "stage": STAGE}


@pytest.fixture
def harness(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> WorkerHarness:
    return worker_harness(settings, database, monkeypatch)


def excludes(harness: WorkerHarness, *people: dict[str, Any], stages: tuple[str, ...] = (STAGE,)) -> str:
    """Connect a CRM with these people, of whom the workspace excludes those with the stages."""
    with harness.database.transaction() as session:
        connection = a_crm(session, harness.workspace_id)
        in_crm(session, connection, *({"stage": STAGE} | one for one in people))
        connections.exclude_stages(session, connection, list(stages), account_id="acc_1", now=NOW)
        return connection.id


def ada(harness: WorkerHarness, **changes: Any) -> str:
    """Store a contact with an address, a number and a profile."""
    with harness.database.transaction() as session:
        contact = a_contact(session, a_company(session), **{"linkedin_url": ADA} | changes)
        an_email(session, contact, "ada@acme.com")
        a_phone(session, contact, "+12025550143")
        return contact.id


def excluded(harness: WorkerHarness, **subject: str) -> Any:
    return harness.look_up(**subject)["excluded"]


@pytest.mark.parametrize(
    ("record", "matched_on"),
    [
        ({"profiles": [ADA]}, "linkedin_url"),
        (NAME, "name"),
        ({"name": "Ada Lovelace", "domain": "acme.com"}, "name"),
        (NAME | {"profiles": [ADA]}, "linkedin_url"),
    ],
)
def test_a_lookup_says_that_the_stage_excludes_the_person(
    harness: WorkerHarness, record: dict[str, Any], matched_on: str
) -> None:
    ada(harness)
    excludes(harness, record)

    found = harness.look_up(linkedin_url=ADA)

    assert found["excluded"] == WHY | {"matched_on": matched_on}
    assert found["available"] == []


@pytest.mark.parametrize(
    ("record", "stages"),
    [
        ({"profiles": [ADA], "stage": "lead"}, (STAGE,)),
        ({"profiles": [ADA]}, ("Customer",)),
        ({"profiles": [BOB]}, (STAGE,)),
        (NAME | {"profiles": [OTHER_PROFILE]}, (STAGE,)),
        ({"emails": ["ada@acme.com"]}, (STAGE,)),
        ({"phones": ["+12025550143"]}, (STAGE,)),
        ({"profiles": [ADA]}, ()),
    ],
)
def test_another_stage_person_or_a_value_that_is_not_owned_excludes_nobody(
    harness: WorkerHarness, record: dict[str, Any], stages: tuple[str, ...]
) -> None:
    ada(harness)
    excludes(harness, record, stages=stages)

    assert excluded(harness, linkedin_url=ADA) is None


@pytest.mark.parametrize(
    ("field", "record"), [("email", {"emails": ["ada@acme.com"]}), ("phone", {"phones": ["+12025550143"]})]
)
def test_a_value_that_the_workspace_owns_finds_the_record(
    harness: WorkerHarness, field: str, record: dict[str, Any]
) -> None:
    contact_id = ada(harness)
    excludes(harness, record)
    with harness.database.transaction() as session:
        own(session, harness.workspace_id, session.get_one(Contact, contact_id), field)

    assert excluded(harness, linkedin_url=ADA) == WHY | {"matched_on": field}


@pytest.mark.parametrize(
    ("subject", "record"),
    [
        ({"email": "ada@globex.com"}, {"emails": ["ada@globex.com"]}),
        ({"phone": "+12025550199"}, {"phones": ["+12025550199"]}),
        ({"linkedin_url": BOB}, {"profiles": [BOB]}),
        (
            {"full_name": "Ada Lovelace", "company_domain": "acme.com"},
            {"name": "Ada Lovelace", "domain": "acme.com"},
        ),
        ({"full_name": "Ada Lovelace", "company_name": "Acme Engines"}, NAME),
    ],
)
@pytest.mark.parametrize("kind", [Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE])
def test_a_person_who_is_given_only_is_excluded_and_no_provider_is_asked(
    harness: WorkerHarness, subject: dict[str, str], record: dict[str, Any], kind: Kind
) -> None:
    excludes(harness, record)
    providers = harness.set_providers(one=hit(email()))

    job = harness.reveal(subject, kind)

    assert (job.outcome, job.charged) == ("excluded", 0)
    assert providers["one"].requests == []


def test_a_job_ends_with_a_sentence_that_names_the_crm_and_what_can_be_changed(
    harness: WorkerHarness,
) -> None:
    ada(harness)
    excludes(harness, {"profiles": [ADA]})

    item = harness.enrich({"subject": {"linkedin_url": ADA}}, ("profile", "email"))
    sentence = exclusion_checks.sentence(item["excluded"])

    assert (item["outcome"], item["credits_charged"]) == ("excluded", 0)
    assert "(stage in your CRM: HubSpot: customer)" in sentence
    assert "An admin can change the excluded stages of the CRM." in sentence


def test_whom_a_reply_turns_out_to_be_is_excluded_before_anything_is_disclosed(
    harness: WorkerHarness,
) -> None:
    excludes(harness, {"profiles": [ADA]})
    harness.set_providers(one=ada_or_nothing)

    job = harness.reveal(NAMED)

    assert (job.outcome, job.charged) == ("excluded", 0)


def test_another_workspace_is_not_affected(harness: WorkerHarness) -> None:
    ada(harness)
    excludes(harness, {"profiles": [ADA]})
    other = harness.other_workspace()

    assert excluded(other, linkedin_url=ADA) is None
    assert excluded(harness, linkedin_url=ADA) is not None


def test_the_list_of_the_workspace_comes_first(harness: WorkerHarness) -> None:
    ada(harness)
    excludes(harness, {"profiles": [ADA]})
    harness.exclude("linkedin_url", ADA)

    assert excluded(harness, linkedin_url=ADA)["reason"] == "customer"


def test_a_suppressed_person_is_suppressed_and_not_excluded(harness: WorkerHarness) -> None:
    ada(harness)
    excludes(harness, {"profiles": [ADA]})
    with harness.database.transaction() as session:
        suppress(session, "linkedin_url", ADA)

    found = harness.look_up(linkedin_url=ADA)

    assert (found["suppressed"], found["excluded"]) == (True, None)


def test_a_record_of_somebody_who_was_suppressed_says_nothing(harness: WorkerHarness) -> None:
    ada(harness)
    excludes(harness, {"profiles": [ADA], "emails": ["ada@elsewhere.example"]})
    with harness.database.transaction() as session:
        suppress(session, "email", "ada@elsewhere.example")

    assert excluded(harness, linkedin_url=ADA) is None


def test_a_crm_that_is_disconnected_excludes_nobody(harness: WorkerHarness) -> None:
    ada(harness)
    connection_id = excludes(harness, {"profiles": [ADA]})
    with harness.database.transaction() as session:
        connections.delete(session, harness.workspace_id, connection_id)

    assert excluded(harness, linkedin_url=ADA) is None


def test_without_excluded_stages_there_is_no_further_statement(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada(harness)
    excludes(harness, {"profiles": [ADA]}, stages=())
    harness.look_up(linkedin_url=ADA)
    with statements(harness.database.engine) as first:
        harness.look_up(linkedin_url=ADA)
    monkeypatch.setattr(exclusion_sources, "parts", tuple)

    with statements(harness.database.engine) as without:
        harness.look_up(linkedin_url=ADA)

    assert len(first) == len(without)


def test_identifiers_that_no_record_has_cost_no_statement(harness: WorkerHarness) -> None:
    excludes(harness, {"profiles": [ADA]})
    wanted = [Wanted(harness.workspace_id, [Identifier("domain", "acme.com")])]
    with harness.database.reading() as session:
        exclusion.find(session, wanted)

        with statements(harness.database.engine) as seen:
            found = exclusion.find(session, wanted)

    assert (found, seen) == ([{}], [])


def test_one_of_two_connections_goes_on_excluding(harness: WorkerHarness) -> None:
    ada(harness)
    excludes(harness, {"profiles": [ADA]})
    other_id = excludes(harness, {"profiles": [BOB]})
    with harness.database.transaction() as session:
        connections.delete(session, harness.workspace_id, other_id)

    assert excluded(harness, linkedin_url=ADA)["stage"] == STAGE


def test_the_list_of_the_workspace_does_not_show_the_source_and_cannot_remove_it(
    admin: SignedInUser, connection_id: str
) -> None:
    path = f"/api/crm/connections/{connection_id}"
    admin.client.post(path, json={"excluded_stages": [STAGE]}, headers=admin.headers)
    with admin.database.reading() as session:
        source_id = session.scalars(select(Exclusion.id)).one()

    listed = admin.client.get("/api/exclusions", headers=admin.headers).get_json()
    removed = admin.client.delete(f"/api/exclusions/{source_id}", headers=admin.headers)

    assert listed["exclusions"] == []
    assert removed.status_code == 404


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    with user.database.transaction() as session:
        session.execute(update(Account).values(role=Role.ADMIN))
    return user


@pytest.fixture
def connection_id(admin: SignedInUser) -> str:
    """A connection in whose CRM two stages were seen."""
    with admin.database.transaction() as session:
        connection = a_crm(session, admin.workspace_id)
        session.add(
            CrmReading(
                connection_id=connection.id,
                workspace_id=connection.workspace_id,
                is_full=True,
                read=2,
                records=2,
                notes=[],
                stages=["customer", "lead"],
            )
        )
        return connection.id


def audited(admin: SignedInUser) -> int:
    query = select(PendingEntry.id).where(PendingEntry.action == Action.CRM_EXCLUDED_STAGES.value)
    with admin.database.reading() as session:
        return len(session.scalars(query).all())


def test_an_admin_chooses_the_stages_and_the_change_is_audited_once(
    admin: SignedInUser, connection_id: str
) -> None:
    path = f"/api/crm/connections/{connection_id}"
    bodies = [{"excluded_stages": ["customer", "customer"]}, {"excluded_stages": ["customer"]}]

    answers = [admin.client.post(path, json=body, headers=admin.headers).get_json() for body in bodies]

    assert [answer["connection"]["excluded_stages"] for answer in answers] == [["customer"]] * 2
    assert answers[0]["connection"]["reading"]["stages"] == ["customer", "lead"]
    assert audited(admin) == 1


def test_the_page_has_a_box_for_each_stage(admin: SignedInUser, connection_id: str, browser: Visitor) -> None:
    path = f"/crm/connections/{connection_id}/stages"

    stored = browser.send(path, stages=["customer", "never seen"])
    removed = browser.send(path)

    assert 'value="customer" checked' in stored.text
    assert 'value="lead">' in stored.text
    assert "never seen" not in stored.text
    assert 'value="customer">' in removed.text
    assert audited(admin) == 2


@pytest.mark.parametrize(("stages", "status"), [([], 402), ([STAGE], 202)])
def test_a_reveal_of_an_excluded_person_needs_no_credits(
    admin: SignedInUser, connection_id: str, stages: list[str], status: int
) -> None:
    with admin.database.transaction() as session:
        connection = session.get_one(CrmConnection, connection_id)
        in_crm(session, connection, {"profiles": [ADA], "stage": STAGE})
        connections.exclude_stages(session, connection, stages, account_id="acc_1", now=NOW)
        session.execute(update(Workspace).values(available=0))
    headers = admin.headers | {"Prefer": "respond-async"}

    response = admin.client.post(
        "/api/ext/reveal/email", json={"subject": {"linkedin_url": ADA}}, headers=headers
    )

    assert response.status_code == status
