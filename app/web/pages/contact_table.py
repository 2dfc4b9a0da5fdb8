"""The table of contacts on the page of all contacts and on the page of a list."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.domain.findings import EmailStatus
from app.engine.accounts import accounts
from app.engine.contacts.saved import contact_lists
from app.engine.lookups.lookup_parts import LookedUp, distinct
from app.engine.owned import owned_contacts
from app.engine.owned.owned_filters import Selection
from app.web.pages.contact_filters import ORDERS, ContactFilters
from app.web.pages.paging import ROWS
from app.web.pages.rendering import page
from app.web.pages.value_words import EMAIL_STATUS
from app.web.services import services
from app.web.sign_in.admins import acts_as_admin
from app.web.sign_in.auth import caller

MAX_CHOICES = 500
"""The most lists that a form offers; others can be typed."""
STATUSES = [(status.value, EMAIL_STATUS[status].text) for status in EmailStatus]


def show(
    filters: ContactFilters,
    template: str = "contacts.html",
    *,
    selection: Selection | None = None,
    name: str = "",
    **context: Any,
) -> Response:
    """Return the page with the contacts that the filters, or another selection, select."""
    workspace_id = caller().workspace_id
    chosen = selection or filters.selection
    with services().database.reading() as session:
        after = owned_contacts.cursor_of(session, workspace_id, chosen, request.args.get("after", ""))
        as_admin = acts_as_admin(session, caller())
        found = owned_contacts.page(session, workspace_id, chosen, after=after, limit=ROWS, as_admin=as_admin)
        lists = contact_lists.page(session, workspace_id, after=None, limit=MAX_CHOICES)
        team = accounts.of_workspace(session, workspace_id)
    has_next = found.next_cursor is not None and selection is None
    contacts = [person.public(with_values=True) for person in found.contacts]
    people = [_looked_up(workspace_id, contact, as_admin=as_admin) for contact in contacts]
    return page(
        template,
        contacts=services().lookups.with_parts(people, contacts),
        filters=filters,
        name=name,
        next_page=f"{request.path}?{filters.query(after=found.next_cursor.person_id)}"
        if has_next and found.next_cursor
        else None,
        is_first_page=after is None,
        lists=lists,
        owners=[(account.id, account.name) for account in team],
        statuses=STATUSES,
        orders=[(value, text) for value, (text, _, _) in ORDERS.items()],
        **context,
    )


def _looked_up(workspace_id: str, contact: dict[str, Any], *, as_admin: bool) -> LookedUp:
    """Return the contact as features know it; without its numbers, which may be those of companies."""
    company = contact["company"]
    return LookedUp(
        workspace_id=workspace_id,
        profiles=distinct(contact["linkedin_url"]),
        emails=distinct(*(value["email"] for value in contact["revealed"]["emails"])),
        name=contact["full_name"] or "",
        companies=distinct(company["name"]),
        domains=distinct(company["domain"]),
        as_admin=as_admin,
    )
