"""/lists/matching: everybody whom filters match is added to a list or removed, once that is confirmed."""

from __future__ import annotations

from dataclasses import replace

from flask import Response, flash, request

from app.domain.errors import InvalidValue
from app.engine.contacts.saved import contact_lists
from app.engine.owned import owned_contacts
from app.engine.owned.owned_filters import Cursor, Order, Selection, Sort
from app.features.lists import changes, matching, sentences
from app.features.lists.matching import Round
from app.features.lists.sentences import not_accepted
from app.infra.database.session import Session
from app.web.pages import forms
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.contact_filters import ContactFilters
from app.web.pages.error_pages import local_path
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to_path, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.owned_schemas import NamedListSchema
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("matching_page", __name__, template_folder="templates")

REMOVE = "remove"


@blueprint.post("/lists/matching")
@signed_in
@limited(Policy.WRITE)
def change() -> Response:
    """Ask whether everybody who matches is meant, saying how many; once it is confirmed, do a round of it."""
    back = local_path(forms.text("next") or "/contacts")
    of_list = _list_to_empty()
    name, list_id = ("", of_list) if of_list else (forms.text("name"), forms.text("list_id"))
    if not (name or list_id):
        flash("Choose a list, or name a new one.", "failure")
        return go_to_path(back)
    try:
        name = forms.load(NamedListSchema(), {"name": name})["name"] if name else ""
    except InvalidForm as invalid:
        flash(not_accepted(invalid), "failure")
        return go_to_path(back)
    if not forms.text("confirmed"):
        return _confirmation(back, name, list_id)
    if name:
        list_id = changes.create(name).shown["id"]
    selection, is_removal = _selection(), bool(of_list)
    done = matching.change(selection, list_id, remove=is_removal, after=_after(selection))
    done = replace(done, matched=done.matched + _number("matched"), changed=done.changed + _number("changed"))
    if done.after is not None:
        return _progress(back, list_id, done.after.text(selection), done)
    flash(sentences.changed(done, _number("confirmed"), is_removal=is_removal), "success")
    return go_to_path(back)


def _confirmation(back: str, name: str, list_id: str) -> Response:
    with services().database.reading() as session:
        count = owned_contacts.count(session, caller().workspace_id, _selection())
    return _page(back, list_id, name=name, count=count, progress=None, fields={"confirmed": str(count)})


def _progress(back: str, list_id: str, after: str, done: Round) -> Response:
    fields = {
        "confirmed": forms.text("confirmed"),
        "after": after,
        "matched": str(done.matched),
        "changed": str(done.changed),
    }
    return _page(back, list_id, name="", count=_number("confirmed"), progress=done.matched, fields=fields)


def _page(
    back: str, list_id: str, *, name: str, count: int, progress: int | None, fields: dict[str, str]
) -> Response:
    filters, searched = ContactFilters.of(request.form), forms.text("q")
    workspace_id = caller().workspace_id
    with services().database.reading() as session:
        target = name or contact_lists.get(session, workspace_id, list_id).name
        of_list = _name_of(session, filters.list_id)
    is_removal = bool(_list_to_empty())
    given = {"q": searched, "next": back, "name": name, REMOVE if is_removal else "list_id": list_id}
    return page(
        "matching.html",
        fields=filters.fields | given | fields,
        filters=filters,
        searched=searched,
        of_list=of_list,
        target=target,
        count=count,
        is_more=count >= owned_contacts.MAX_COUNTED,
        is_removal=is_removal,
        progress=progress,
        back=back,
    )


def _list_to_empty() -> str:
    """Return the list from which people are removed, none if they are added to one."""
    return forms.text(REMOVE) or request.args.get(REMOVE, "")


def _name_of(session: Session, text: str) -> str:
    """Return the name of the list that the filter names by its id."""
    return contact_lists.get(session, caller().workspace_id, text).name if text.startswith("lst_") else text


def _selection() -> Selection:
    """Return the filters of the form, in an order that a change of a list does not change."""
    selection = ContactFilters.of(request.form).selection
    return replace(selection, name=forms.text("q") or None, sort=Sort.REVEALED_AT, order=Order.ASCENDING)


def _after(selection: Selection) -> Cursor | None:
    """Return where the round starts; at the beginning if that is no place: nothing is done twice."""
    try:
        return Cursor.parse(forms.text("after"), selection) if forms.text("after") else None
    except InvalidValue:
        return None


def _number(name: str) -> int:
    number = forms.number(forms.text(name))
    return number if isinstance(number, int) else 0
