"""/contacts: the people that the workspace revealed or saved, one of them, and files of them."""

from __future__ import annotations

from flask import Response, flash, request

from app.domain.errors import NotFound
from app.domain.records.subjects import Subject
from app.engine.contacts.saved import contact_lists
from app.engine.jobs import contact_receipts
from app.engine.ledger import reveals
from app.engine.owned import common_names, owned_contacts
from app.pages import job_pages, person_offers
from app.web.bodies.downloads import FORMATS
from app.web.owned import owned_changes, owned_pages
from app.web.pages import contact_table, forms, purpose_choices
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.contact_filters import ContactFilters
from app.web.pages.forms import InvalidForm
from app.web.pages.paging import ROWS
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.owned_schemas import NotesSchema
from app.web.services import services
from app.web.sign_in.admins import acts_as_admin
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("contacts_page", __name__)


@blueprint.get("/contacts")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """List the contacts of the workspace."""
    return contact_table.show(ContactFilters.of_request())


@blueprint.post("/contacts")
@signed_in
@limited(Policy.READ)
def find() -> Response:
    """List the first contacts with this name, or the latest if very many have it.

    A form, so that no URL contains a name.
    """
    name = forms.text("q")
    if not name:
        return go_to("contacts_page.index")
    with services().database.reading() as session:
        selection = common_names.first_people(session, caller().workspace_id, name, limit=ROWS)
    is_common = selection.end is not None
    return contact_table.show(ContactFilters(), selection=selection, name=name, is_common=is_common)


@blueprint.get("/contacts/download")
@signed_in
@limited(Policy.READ)
def download() -> Response:
    """Download all contacts that the filters select."""
    file_format = request.args.get("format", "csv")
    if file_format not in FORMATS:
        raise NotFound
    return owned_pages.download(ContactFilters.of_request().selection, file_format, for_spreadsheet=True)


@blueprint.get("/contacts/<contact_id>")
@signed_in
@limited(Policy.READ)
def one(contact_id: str) -> Response:
    """Show one contact: what is owned and from where, lists, tags, note, and the receipts."""
    return _contact(contact_id)


@blueprint.post("/contacts/<contact_id>/notes")
@signed_in
@limited(Policy.WRITE)
def annotate(contact_id: str) -> Response:
    """Replace the tags and the note."""
    tags = [tag.strip() for tag in forms.text("tags").split(",") if tag.strip()]
    try:
        notes = forms.load(NotesSchema(), {"tags": tags, "note": forms.text("note") or None})
    except InvalidForm as invalid:
        return _contact(contact_id, 422, invalid.messages | {"tags": _of_tags(invalid)})
    owned_changes.annotate(contact_id, notes)
    flash("Saved.", "success")
    return go_to("contacts_page.one", contact_id=contact_id)


def _contact(contact_id: str, status: int = 200, errors: dict[str, str] | None = None) -> Response:
    workspace_id = caller().workspace_id
    with services().database.reading() as session:
        as_admin = acts_as_admin(session, caller())
        person = owned_contacts.get(session, workspace_id, contact_id, as_admin=as_admin)
        job_ids = reveals.job_ids(session, workspace_id, person.row.contact_id or "")
        receipts = contact_receipts.of_contact(session, workspace_id, person.row.contact_id or "", job_ids)
        lists = contact_lists.page(session, workspace_id, after=None, limit=contact_table.MAX_CHOICES)
    shown = person.public(with_values=True)
    subject = Subject(contact_id=shown["contact_id"], linkedin_url=shown["linkedin_url"])
    (stored,) = services().lookups.look_up(workspace_id, [subject], as_admin=as_admin)
    shown_job = job_pages.read(job_id) if (job_id := request.args.get("receipt")) else None
    return page(
        "contact.html",
        status,
        person=shown,
        crm=stored.get("crm", []),
        address_books=stored.get("address_books", []),
        receipts_of_contact=receipts,
        lists=lists,
        stored=stored,
        offers=person_offers.of(stored),
        subject={"contact_id": shown["contact_id"]}
        if shown["contact_id"]
        else {"linkedin_url": shown["linkedin_url"]},
        purposes=purpose_choices.offered(),
        shown_job=shown_job,
        errors={name: text for name, text in (errors or {}).items() if text},
    )


def _of_tags(invalid: InvalidForm) -> str:
    """Return the message about the tags: a single tag's error has the number of the tag for its name."""
    of_one = next((text for name, text in invalid.messages.items() if name.isdecimal()), "")
    return invalid.messages.get("tags", of_one)
