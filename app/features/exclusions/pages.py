"""/exclusions: whom the workspace excludes; admins add and remove entries, members see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, flash

from app.domain.errors import PayloadTooLarge, RateLimited, Unavailable, ValidationFailed
from app.domain.exclusions import Kind, Reason
from app.domain.messages import Message
from app.engine.exclusions import exclusions
from app.features.exclusions import changes, csv_lists
from app.features.exclusions.schemas import EntrySchema, ListQuery
from app.web.bodies.received_files import PART
from app.web.pages import forms, paging
from app.web.pages.access import admin_only, signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("exclusions_page", __name__, template_folder="templates")

KINDS = [
    (Kind.DOMAIN.value, Message("Domain of a company")),
    (Kind.EMAIL.value, Message("E-mail address")),
    (Kind.LINKEDIN_URL.value, Message("LinkedIn profile or company page")),
]
REASONS = [
    (Reason.CUSTOMER.value, Message("Customer")),
    (Reason.COMPETITOR.value, Message("Competitor")),
    (Reason.PARTNER.value, Message("Partner")),
    (Reason.OWN_COMPANY.value, Message("Own company")),
    (Reason.OTHER.value, Message("Other")),
]


@blueprint.get("/exclusions")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """List the exclusions, with the forms of admins."""
    return _page()


@blueprint.post("/exclusions")
@admin_only
@limited(Policy.WRITE)
def add() -> Response:
    """Add an entry."""
    kind = forms.text("kind")
    fields = {kind: forms.text("value"), **forms.texts("reason", "note")}
    try:
        added = changes.add([forms.load(EntrySchema(), fields)])
    except InvalidForm as invalid:
        messages = {"value" if name == kind else name: text for name, text in invalid.messages.items()}
        return _page(422, errors=messages)
    except ValidationFailed as problem:
        return _page(problem.status, errors={"value": problem.detail})
    flash("It is excluded from now on." if added.added else "It was excluded already.", "success")
    return go_to("exclusions_page.index")


@blueprint.post("/exclusions/import")
@admin_only
@limited(Policy.WRITE)
def import_list() -> Response:
    """Add the entries of a CSV file, and say what was left out."""
    try:
        reason = Reason(forms.load(ListQuery(), forms.texts("reason"))["reason"])
        found, same = changes.read_list(reason)
        imported = changes.imported(changes.add(found.entries, same, part=PART), found)
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    except (PayloadTooLarge, RateLimited, Unavailable, ValidationFailed) as problem:
        return _page(problem.status, errors={PART: problem.detail})
    return _page(imported=imported)


@blueprint.post("/exclusions/remove")
@admin_only
@limited(Policy.WRITE)
def remove() -> Response:
    """Remove an entry."""
    changes.remove(forms.text("id"))
    flash("It is no longer excluded.", "success")
    return go_to("exclusions_page.index")


def _page(
    status: int = 200, *, errors: dict[str, str] | None = None, imported: Mapping[str, Any] | None = None
) -> Response:
    before = paging.cursor("exc")
    with services().database.reading() as session:
        rows = exclusions.page(session, caller().workspace_id, before=before, limit=paging.ROWS + 1)
    shown, older = paging.split(rows, lambda row: row.id)
    return page(
        "exclusions.html",
        status,
        exclusions=shown,
        older=older,
        kinds=KINDS,
        reasons=REASONS,
        chosen={name: forms.text(name) if errors else "" for name in ("kind", "value", "reason", "note")},
        errors=errors or {},
        imported=imported,
        max_mb=changes.MAX_FILE_MB,
        max_rows=csv_lists.MAX_ROWS,
    )
