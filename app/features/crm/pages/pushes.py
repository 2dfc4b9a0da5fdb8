"""/crm/push and /crm/pushes: choose what to push, look at it first, and read the receipts."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.domain.errors import ContactNotFound
from app.domain.ids import is_id
from app.domain.permissions import Permission
from app.engine.contacts.saved import contact_lists
from app.features.crm import connections, people, pushes
from app.features.crm.connections import ACTIVE, CrmConnection
from app.features.crm.pushes import MAX_LIST, PushOptions
from app.features.crm.schemas import companies_json, crm_named
from app.features.crm.vendors import notes
from app.features.crm.vendors.person import Person
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.web import admission, permissions, public_urls
from app.web.pages import forms, paging
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("crm_pushes_page", __name__, template_folder="templates")


@blueprint.get("/crm/push")
@signed_in
@limited(Policy.READ)
def choose() -> Response:
    """Show what would be pushed, a contact or a list, with the mapping of each connection."""
    contact_id, list_id = request.args.get("contact_id", ""), request.args.get("list", "")
    if not contact_id and not list_id:
        return go_to("crm_page.index")
    workspace_id = caller().workspace_id
    with services().database.reading() as session:
        found = connections.of_workspace(session, workspace_id)
        subject = _list(session, list_id) if list_id else _contact(session, contact_id, found)
    return page(
        "crm_push.html",
        contact_id=contact_id,
        list_id=list_id,
        usable=[connection for connection in found if connection.status in ACTIVE],
        titles={connection.id: crm_named(connection.vendor).title for connection in found},
        **subject,
    )


@blueprint.post("/crm/pushes")
@signed_in
@limited(Policy.WRITE)
def create() -> Response:
    """Push the contact or the list, or preview it."""
    permissions.require(Permission.PUSH)
    list_id, workspace_id = forms.text("list"), caller().workspace_id
    with admission.transaction() as session:
        connection = connections.get(session, workspace_id, forms.text("connection_id"), lock=True)
        contact_ids = (
            people.in_list(session, workspace_id, list_id, limit=MAX_LIST)
            if list_id
            else [_known(forms.text("contact_id"))]
        )
        push = pushes.submit(
            session,
            connection,
            contact_ids,
            account_id=caller().account_id,
            origin=public_urls.absolute("/"),
            options=PushOptions(
                dry_run=forms.text("action") == "preview", company_id=forms.text("company_id") or None
            ),
            now=database_clock.now(),
        )
    return go_to("crm_pushes_page.receipts", push_id=push.id)


@blueprint.get("/crm/pushes/<push_id>")
@signed_in
@limited(Policy.READ)
def receipts(push_id: str) -> Response:
    """Show a push with the receipt of each contact."""
    after = paging.cursor("psi")
    with services().database.reading() as session:
        push = pushes.get(session, caller().workspace_id, push_id)
        rows = pushes.items(session, push_id, after=after, limit=paging.ROWS + 1)
        shown, following = paging.split(rows, lambda item: item.id)
        names = people.names(session, caller().workspace_id, [item.contact_id for item in shown])
        connection = connections.get(session, caller().workspace_id, push.push.connection_id)
    return page(
        "crm_receipts.html",
        push=push,
        items=shown,
        notes={item.id: list(map(notes.described, item.notes or ())) for item in shown},
        companies={item.id: companies_json(item, connection) for item in shown},
        names=names,
        following=following,
        connection=connection,
        crm=crm_named(push.vendor),
    )


def _list(session: Session, list_id: str) -> dict[str, Any]:
    """Return the title of a list, and how many of its people can be pushed."""
    workspace_id = caller().workspace_id
    title = contact_lists.get(session, workspace_id, list_id).name
    count = len(people.in_list(session, workspace_id, list_id, limit=MAX_LIST))
    return {"title": title, "count": count, "reason": "", "previews": []}


def _contact(session: Session, contact_id: str, found: list[CrmConnection]) -> dict[str, Any]:
    """Return the title of a contact, and the values that each connection would write."""
    person = people.load(session, caller().workspace_id, _known(contact_id), receipt_link="")
    if person == "not_owned":
        raise ContactNotFound
    reason = person if isinstance(person, str) else ""
    names = people.names(session, caller().workspace_id, [contact_id])
    return {
        "title": names.get(contact_id, "Name not known"),
        "count": 0 if reason else 1,
        "reason": reason,
        "previews": [] if isinstance(person, str) else [_preview(item, person) for item in found],
    }


def _preview(connection: CrmConnection, person: Person) -> dict[str, Any]:
    rows = [
        (field, connection.mapping[field], value)
        for field, value in person.values.items()
        if field in connection.mapping
    ]
    rows += [("constant", name, value) for name, value in connection.constants.items()]
    return {"title": crm_named(connection.vendor).title, "rows": rows}


def _known(contact_id: str) -> str:
    if not is_id(contact_id, "con"):
        raise ContactNotFound
    return contact_id
