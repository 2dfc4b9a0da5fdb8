"""/lists: the lists of the workspace, the contacts on each, and who is added and removed."""

from __future__ import annotations

from flask import Response, flash, request

from app.domain.errors import ValidationFailed
from app.engine.contacts.saved import contact_lists
from app.features.lists import changes, sentences
from app.features.lists.sentences import not_accepted
from app.web.pages import contact_table, forms
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.contact_filters import ContactFilters
from app.web.pages.error_pages import local_path
from app.web.pages.forms import InvalidForm
from app.web.pages.paging import ROWS
from app.web.pages.rendering import go_to, go_to_path, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.owned_schemas import NamedListSchema
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("lists_page", __name__, template_folder="templates")


@blueprint.get("/lists")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """List the lists of the workspace by name."""
    return _index()


@blueprint.post("/lists")
@signed_in
@limited(Policy.WRITE)
def create() -> Response:
    """Create a list, and show it."""
    try:
        name = forms.load(NamedListSchema(), forms.texts("name"))["name"]
    except InvalidForm as invalid:
        return _index(422, errors=invalid.messages)
    created = changes.create(name)
    if not created.is_new:
        flash("There is a list of this name already.")
    return go_to("lists_page.one", list_id=created.shown["id"])


@blueprint.post("/lists/members")
@signed_in
@limited(Policy.WRITE)
def add() -> Response:
    """Add the marked contacts to a list, by its id or by the name of a new one."""
    chosen = [*dict.fromkeys(request.form.getlist("contact"))][:ROWS]
    name = forms.text("name")
    back = local_path(forms.text("next") or "/contacts")
    if not chosen or not (name or forms.text("list_id")):
        flash("Mark at least one contact, and choose a list.", "failure")
        return go_to_path(back)
    try:
        named = forms.load(NamedListSchema(), {"name": name})["name"] if name else None
    except InvalidForm as invalid:
        flash(not_accepted(invalid), "failure")
        return go_to_path(back)
    if named:
        added = changes.add_to_named(named, chosen).added
    else:
        added = changes.change_members(forms.text("list_id"), add=chosen).added
    flash(sentences.added(added, len(chosen) - added), "success")
    return go_to_path(back)


@blueprint.get("/lists/<list_id>")
@signed_in
@limited(Policy.READ)
def one(list_id: str) -> Response:
    """Show the contacts on a list."""
    return _one(list_id)


@blueprint.post("/lists/<list_id>/remove")
@signed_in
@limited(Policy.WRITE)
def remove(list_id: str) -> Response:
    """Remove the marked contacts from the list; they stay saved."""
    chosen = request.form.getlist("contact")[:ROWS]
    change = changes.change_members(list_id, remove=chosen)
    flash(sentences.removed(change.removed), "success")
    return go_to_path(local_path(forms.text("next") or f"/lists/{list_id}"))


@blueprint.post("/lists/<list_id>/name")
@signed_in
@limited(Policy.WRITE)
def rename(list_id: str) -> Response:
    """Rename the list."""
    try:
        name = forms.load(NamedListSchema(), forms.texts("name"))["name"]
        changes.rename(list_id, name)
    except InvalidForm as invalid:
        return _one(list_id, 422, errors=invalid.messages)
    except ValidationFailed as problem:
        return _one(list_id, 422, errors=forms.messages(problem.errors))
    return go_to("lists_page.one", list_id=list_id)


@blueprint.post("/lists/<list_id>/delete")
@signed_in
@limited(Policy.WRITE)
def delete(list_id: str) -> Response:
    """Delete the list; the contacts on it stay saved."""
    changes.delete(list_id)
    flash("The list is deleted. Its contacts are still saved.", "success")
    return go_to("lists_page.index")


def _index(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    after = request.args.get("after")
    with services().database.reading() as session:
        after_name = contact_lists.get(session, caller().workspace_id, after).name if after else None
        rows = contact_lists.page(session, caller().workspace_id, after=after_name, limit=ROWS + 1)
    next_page = f"/lists?after={rows[ROWS - 1].id}" if len(rows) > ROWS else None
    return page("lists.html", status, lists=rows[:ROWS], next_page=next_page, errors=errors or {})


def _one(list_id: str, status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    with services().database.reading() as session:
        shown = contact_lists.get_with_count(session, caller().workspace_id, list_id)
    response = contact_table.show(
        ContactFilters.of_request(list_id), "list.html", shown_list=shown, errors=errors or {}
    )
    response.status_code = status
    return response
