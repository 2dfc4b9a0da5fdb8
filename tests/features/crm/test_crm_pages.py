"""The pages of CRM connections, of pushes, and of authorizations."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from apiflask import APIFlask
from page_support import ACCEPT, Visitor, visitor
from settings_support import change_settings
from sqlalchemy import select, update
from stored_support import a_company, a_contact, an_email, own, suppress
from users_support import SignedInUser

from app.engine.accounts.accounts import Account, Role
from app.engine.contacts.saved import contact_lists
from app.engine.owned import owned_edits
from app.engine.owned.owned_edits import Edit
from app.features.crm import connections
from app.features.crm.connections import CrmConnection
from app.features.crm.index.readings import CrmReading
from app.features.crm.pushes import CrmPush, PushItem
from app.infra import clock

TOKEN = "pat-eu1-0123456789"
OAUTH = (("CRM_HUBSPOT_CLIENT_ID", "client-1"), ("CRM_HUBSPOT_CLIENT_SECRET", "client-secret-1"))


@pytest.fixture
def admin(browser: Visitor, user: SignedInUser) -> Visitor:
    with user.database.transaction() as session:
        session.execute(update(Account).values(role=Role.ADMIN))
    return browser


def connection(user: SignedInUser) -> CrmConnection:
    with user.database.reading() as session:
        return session.scalars(select(CrmConnection)).one()


def owned_contact(user: SignedInUser) -> str:
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session), "Grace Hopper")
        an_email(session, contact, "grace@acme.com")
        own(session, user.workspace_id, contact, "email")
        return contact.id


def test_an_admin_connects_a_crm_and_never_sees_the_token_again(admin: Visitor, user: SignedInUser) -> None:
    connected = admin.send("/crm", vendor="hubspot", token=TOKEN)

    listed = admin.open("/crm")
    assert connected.status_code == 200
    assert "Mapping" in connected.text
    assert "Being checked" in listed.text
    assert (
        TOKEN not in connected.text + listed.text + admin.open(f"/crm/connections/{connection(user).id}").text
    )


def test_too_many_connections_are_refused_with_the_reason(
    admin: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 0)

    page = admin.send("/crm", vendor="hubspot", token=TOKEN)

    assert page.status_code == 422
    assert "Disconnect one first." in page.text


def test_an_invalid_address_is_marked_and_the_token_is_not_repeated(admin: Visitor) -> None:
    page = admin.send("/crm", vendor="twenty", token=TOKEN, base_url="http://10.0.0.1")

    assert page.status_code == 422
    assert 'id="base_url-error"' in page.text
    assert TOKEN not in page.text


def test_the_mapping_is_changed_and_a_wrong_one_is_explained(admin: Visitor, user: SignedInUser) -> None:
    admin.send("/crm", vendor="hubspot", token=TOKEN)
    path = f"/crm/connections/{connection(user).id}/mapping"

    stored = admin.send(path, email="email", title="custom_title")
    refused = admin.send(path, email="email", title="not a name")

    assert "The mapping is stored" in stored.text
    assert connection(user).mapping == {"email": "email", "title": "custom_title"}
    assert refused.status_code == 422
    assert "not the name" in refused.text or "is not a name" in refused.text


def test_a_contact_is_previewed_and_pushed(admin: Visitor, user: SignedInUser) -> None:
    admin.send("/crm", vendor="hubspot", token=TOKEN)
    contact_id, connection_id = owned_contact(user), connection(user).id

    chosen = admin.open(f"/crm/push?contact_id={contact_id}")
    preview = admin.send("/crm/pushes", connection_id=connection_id, contact_id=contact_id, action="preview")
    pushed = admin.send("/crm/pushes", connection_id=connection_id, contact_id=contact_id, action="push")

    with user.database.reading() as session:
        dry_runs = session.scalars(select(CrmPush.dry_run).order_by(CrmPush.id)).all()
    assert "jobtitle" in chosen.text
    assert "grace@acme.com" in chosen.text
    assert "Preview of a push" in preview.text
    assert "Grace Hopper" in pushed.text
    assert dry_runs == [True, False]


def test_the_receipt_says_what_was_done(admin: Visitor, user: SignedInUser) -> None:
    admin.send("/crm", vendor="hubspot", token=TOKEN)
    admin.send("/crm/pushes", connection_id=connection(user).id, contact_id=owned_contact(user))
    with user.database.transaction() as session:
        actions = {"jobtitle": "keep", "phone": "fill", "email": "same"}
        session.execute(update(PushItem).values(outcome="updated", actions=actions, latency_ms=412))
        push_id = session.scalars(select(CrmPush.id)).one()

    page = admin.open(f"/crm/pushes/{push_id}")

    assert "kept: it was edited there" in page.text
    assert "data-live" not in page.text
    assert "412" in page.text


def test_the_receipt_says_what_the_crm_refused_and_why(admin: Visitor, user: SignedInUser) -> None:
    admin.send("/crm", vendor="hubspot", token=TOKEN)
    admin.send("/crm/pushes", connection_id=connection(user).id, contact_id=owned_contact(user))
    note = {"code": "property_refused", "property": "country", "reason": "not_an_option"}
    with user.database.transaction() as session:
        session.execute(
            update(PushItem).values(outcome="created", actions={"country": "refused"}, notes=[note])
        )
        push_id = session.scalars(select(CrmPush.id)).one()

    page = admin.open(f"/crm/pushes/{push_id}")

    assert "<code>country</code> refused by the CRM" in page.text
    assert "it is not one of the options there" in page.text


def test_a_token_of_another_account_is_refused_with_a_sentence(admin: Visitor, user: SignedInUser) -> None:
    admin.send("/crm", vendor="hubspot", token=TOKEN)
    with user.database.transaction() as session:
        session.execute(update(CrmConnection).values(status="reconnect", error="other_account"))

    page = admin.open(f"/crm/connections/{connection(user).id}")

    assert "The credentials belong to another account of the CRM" in page.text


def test_a_suppressed_person_is_not_named(admin: Visitor, user: SignedInUser) -> None:
    admin.send("/crm", vendor="hubspot", token=TOKEN)
    contact_id = owned_contact(user)
    admin.send("/crm/pushes", connection_id=connection(user).id, contact_id=contact_id)
    with user.database.transaction() as session:
        suppress(session, "email", "grace@acme.com")
        push_id = session.scalars(select(CrmPush.id)).one()

    pages = admin.open(f"/crm/pushes/{push_id}"), admin.open(f"/crm/push?contact_id={contact_id}")

    assert not any("Hopper" in page.text for page in pages)


def test_an_authorization_ends_in_a_connection_with_the_code_of_the_crm(
    app: APIFlask, admin: Visitor, user: SignedInUser
) -> None:
    change_settings(app, crm_variables=OAUTH)
    query = _begun(admin)

    page = admin.open(f"/crm/callback?state={query['state']}&code=code-1")

    with user.database.reading() as session:
        credentials = connections.decrypted(session, connection(user))
    assert page.status_code == 303
    assert connection(user).status == "checking"
    assert credentials.code == "code-1"
    assert query["code_challenge_method"] == "S256"
    assert query["redirect_uri"] == "http://localhost/crm/callback"


@pytest.mark.parametrize("case", ["another session", "another state", "a second time", "refused"])
def test_an_authorization_that_is_not_ones_own_changes_nothing(
    app: APIFlask, admin: Visitor, user: SignedInUser, case: str
) -> None:
    change_settings(app, crm_variables=OAUTH)
    state = _begun(admin)["state"]
    sender = admin
    if case == "another session":
        sender = visitor(app, user.colleague())
        with user.database.transaction() as session:
            session.execute(update(Account).values(role=Role.ADMIN))
    if case == "a second time":
        admin.open(f"/crm/callback?state={state}&code=code-1")
    before = connection(user)
    answer = "error=access_denied" if case == "refused" else "code=code-2"

    page = sender.client.get(
        f"/crm/callback?state={state}{'x' if case == 'another state' else ''}&{answer}",
        headers=ACCEPT,
        follow_redirects=True,
    )

    assert "notice bad" in page.text
    assert connection(user).credentials == before.credentials


def test_an_authorization_that_is_abandoned_leaves_the_connection_as_it_is(
    app: APIFlask, admin: Visitor, user: SignedInUser
) -> None:
    change_settings(app, crm_variables=OAUTH)
    admin.send("/crm", vendor="hubspot", token=TOKEN)

    admin.send("/crm/authorize", connection_id=connection(user).id)

    with user.database.reading() as session:
        credentials = connections.decrypted(session, connection(user))
    assert (connection(user).status, credentials.token) == ("checking", TOKEN)


def test_a_contact_leads_to_the_push_and_a_list_is_pushed(admin: Visitor, user: SignedInUser) -> None:
    admin.send("/crm", vendor="hubspot", token=TOKEN)
    contact_id = owned_contact(user)
    now = clock.now()
    with user.database.transaction() as session:
        list_id = contact_lists.ensure(session, user.workspace_id, "Q4", now=now)[0].id
        edit = Edit(workspace_id=user.workspace_id, account_id=user.account_id, now=now)
        owned_edits.add_contacts(session, edit, list_id, [contact_id])

    shown = admin.open(f"/contacts/{contact_id}")
    pushed = admin.send("/crm/pushes", connection_id=connection(user).id, list=list_id)

    assert f"/crm/push?contact_id={contact_id}" in shown.text
    assert "1 person of the list" in admin.open(f"/crm/push?list={list_id}").text
    assert "Grace Hopper" in pushed.text


def test_an_authorization_needs_a_client_of_the_operator(admin: Visitor, user: SignedInUser) -> None:
    page = admin.send("/crm/authorize", vendor="salesforce")

    assert page.status_code == 404
    with user.database.reading() as session:
        assert session.scalars(select(CrmConnection)).all() == []


def test_a_member_sees_connections_and_cannot_change_them(
    app: APIFlask, admin: Visitor, user: SignedInUser
) -> None:
    admin.send("/crm", vendor="hubspot", token=TOKEN)
    member = visitor(app, user.colleague())

    page = member.open("/crm")
    refused = member.send(f"/crm/connections/{connection(user).id}/delete")

    assert "HubSpot" in page.text
    assert "Connect with a token" not in page.text
    assert refused.status_code == 403


def _begun(admin: Visitor) -> dict[str, str]:
    """Begin an authorization; return the query of the link to the CRM."""
    page = admin.send("/crm/authorize", vendor="hubspot")
    (link,) = re.findall(r'href="(https://app\.hubspot\.com/[^"]+)"', page.text)
    return {name: values[0] for name, values in parse_qs(urlsplit(link.replace("&amp;", "&")).query).items()}


def test_the_pages_show_how_many_people_of_the_crm_are_known_and_what_stops_reading(
    admin: Visitor, user: SignedInUser
) -> None:
    admin.send("/crm", vendor="hubspot", token=TOKEN)
    connection_id = connection(user).id
    with user.database.transaction() as session:
        known = {"workspace_id": user.workspace_id, "is_full": True, "read": 0, "started_at": clock.now()}
        session.add(
            CrmReading(
                connection_id=connection_id, records=904, notes=["owners_unreadable"], stages=[], **known
            )
        )
    first = admin.open("/crm").text
    with user.database.transaction() as session:
        session.execute(update(CrmReading).values(finished_at=clock.now()))
    read = admin.open("/crm").text
    with user.database.transaction() as session:
        session.execute(update(CrmReading).values(error="forbidden"))

    listed, shown = admin.open("/crm").text, admin.open(f"/crm/connections/{connection_id}").text

    assert "904" in first
    assert "Being read" in first
    assert "Being read" not in read
    assert "may not read people" in listed
    assert "904 contacts and leads of HubSpot" in shown
    assert "may not read people" in shown
    assert "may not read owners" in shown
