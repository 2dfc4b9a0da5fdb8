"""/address-books: send an export of contacts, replace it with a newer one, and delete it."""

from __future__ import annotations

from flask import Response, flash

from app.domain.errors import PayloadTooLarge, RateLimited, Unavailable, ValidationFailed
from app.features.address_books import books, changes
from app.features.address_books.schemas import NewBookSchema, ReplacementSchema
from app.features.address_books.tables import BookStatus
from app.web.bodies.received_files import PART
from app.web.pages import forms
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("address_books_page", __name__, template_folder="templates")

_REFUSED = (PayloadTooLarge, RateLimited, Unavailable, ValidationFailed)


@blueprint.get("/address-books")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """List the address books, with the form for a new one."""
    return _page()


@blueprint.post("/address-books")
@signed_in
@limited(Policy.WRITE)
def create() -> Response:
    """Have a file read into a new address book."""
    try:
        sent = changes.create(forms.load(NewBookSchema(), forms.texts("title", "country")))
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    except _REFUSED as problem:
        return _page(problem.status, errors={PART: problem.detail})
    flash(
        "The file is being read." if sent.is_new else "This file is an address book of yours already.",
        "success",
    )
    return go_to("address_books_page.index")


@blueprint.post("/address-books/<book_id>/file")
@signed_in
@limited(Policy.WRITE)
def replace(book_id: str) -> Response:
    """Have a newer file of an address book read."""
    try:
        sent = changes.replace(book_id, forms.load(ReplacementSchema(), forms.texts("country")))
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    except _REFUSED as problem:
        return _page(problem.status, errors={book_id: problem.detail})
    flash("The file is being read." if sent.is_new else "The address book has this file already.", "success")
    return go_to("address_books_page.index")


@blueprint.post("/address-books/<book_id>/delete")
@signed_in
@limited(Policy.WRITE)
def remove(book_id: str) -> Response:
    """Delete an address book with its people."""
    changes.remove(book_id)
    flash("The address book is deleted.", "success")
    return go_to("address_books_page.index")


def _page(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    with services().database.reading() as session:
        shown = list(map(changes.describe, books.of_workspace(session, caller().workspace_id)))
    return page(
        "address_books.html",
        status,
        books=shown,
        is_reading=any(book["status"] == BookStatus.READING for book in shown),
        chosen={name: forms.text(name) if errors else "" for name in ("title", "country")},
        errors=errors or {},
        max_mb=services().settings.upload_max_mb,
        max_rows=services().settings.upload_max_rows,
    )
