"""/: search for a person, and see what is stored; /reveal and /save: the actions on the person found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Response, flash, request

from app.domain.errors import PurposeRequired, ValidationFailed
from app.domain.findings import EmailStatus
from app.domain.records.subjects import Subject
from app.engine.jobs.jobs import USE_OWN_RECORDS
from app.engine.lookups.field_requests import ContactField
from app.web import admission
from app.web.jobs import reveals, reverse_lookups
from app.web.languages.texts import gettext
from app.web.owned import profile_saves
from app.web.pages import forms, purpose_choices, subject_fields
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.error_pages import local_path
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, go_to_path, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import SubjectSchema
from app.web.schemas.reveal_schemas import RevealEmailSchema, RevealPhoneSchema
from app.web.schemas.saved_profile_schemas import LinkedinSaveSchema
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("search", __name__)

SCHEMAS = {ContactField.EMAIL: RevealEmailSchema, ContactField.PHONE: RevealPhoneSchema}
_BEST_FIRST = (EmailStatus.VALID.value, EmailStatus.ACCEPT_ALL.value)


@dataclass(frozen=True, slots=True)
class Offer:
    """What the page offers for a field: values that the workspace owns, and masked ones with their price.

    `is_own` is whether the workspace has such a value itself, which a reveal returns if it is verified.
    """

    field: ContactField
    owned: list[dict[str, Any]]
    masked: list[dict[str, Any]]
    price: int
    is_own: bool

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of a reveal that accepts each of the masked values."""
        if not self.masked:
            return {}
        statuses = {value["status"] for value in self.masked}
        min_status = next((status for status in _BEST_FIRST if status in statuses), "any")
        types = sorted({value["type"] for value in self.masked})
        return {"min_status": min_status, "types": types}


@signed_in
@limited(Policy.READ)
def form() -> Response:
    """Show the empty search."""
    return _page()


@blueprint.post("/")
@signed_in
@limited(Policy.LOOKUP)
def find() -> Response:
    """Show what is stored about a person; free, and no provider is queried."""
    try:
        subject: Subject = forms.load(SubjectSchema(), subject_fields.from_form())
    except InvalidForm as invalid:
        return _page(422, errors=subject_fields.errors(invalid))
    return _found(subject)


@blueprint.post("/reveal")
@signed_in
@limited(Policy.SPEND)
def reveal_field() -> Response:
    """Reveal a field of a person, and show the receipt."""
    field = ContactField.PHONE if forms.text("field") == ContactField.PHONE else ContactField.EMAIL
    options: dict[str, Any] = (
        {"types": request.form.getlist("types")} if request.form.getlist("types") else {}
    )
    if "buy" in request.form:
        options[USE_OWN_RECORDS] = False
    body = {"subject": subject_fields.from_form(), **options, **forms.texts("min_status", "purpose")}
    try:
        loaded = forms.load(SCHEMAS[field](), body)
    except InvalidForm as invalid:
        return _page(422, errors=subject_fields.errors(invalid))
    try:
        answer = reveals.submit(field, loaded).get_json()
    except (ValidationFailed, PurposeRequired):
        return _found(loaded.subject, 422, errors={"": purpose_choices.MISSING})
    return go_to("history.receipt", job_id=answer["job"]["id"])


@blueprint.post("/save")
@signed_in
@limited(Policy.WRITE)
def save() -> Response:
    """Save the profile of a person to a list of the workspace."""
    tags = [tag.strip() for tag in forms.text("tags").split(",") if tag.strip()]
    body = {"profile": forms.texts("linkedin_url", "full_name"), **forms.texts("list", "note")}
    try:
        snapshot = forms.load(LinkedinSaveSchema(), body | ({"tags": tags} if tags else {}))
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    with admission.transaction() as session:
        profile_saves.save(session, snapshot)
    flash(gettext("Saved in the list {name}.", name=body["list"]) if "list" in body else "Saved.", "success")
    return go_to_path(local_path(forms.text("next")))


def _found(subject: Subject, status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    """Return the page with what is stored about the person."""
    reverse_lookups.count([subject])
    (result,) = services().lookups.look_up(caller().workspace_id, [subject])
    contact = result["contact"]
    named = {"contact_id": contact["id"]} if contact else subject.as_dict()
    return _page(status, errors=errors, result=result, subject=named, offers=_offers(result))


def _offers(result: dict[str, Any]) -> list[Offer]:
    return [
        Offer(
            field,
            result["revealed"][f"{field.value}s"],
            [entry for entry in result["available"] if entry["field"] == field.value and not entry["owned"]],
            services().settings.price_of(field),
            any(field.value in record["has"] for record in result.get("crm", ())),
        )
        for field in (ContactField.EMAIL, ContactField.PHONE)
    ]


def _page(
    status: int = 200,
    *,
    errors: dict[str, str] | None = None,
    result: dict[str, Any] | None = None,
    subject: dict[str, str] | None = None,
    offers: list[Offer] | None = None,
) -> Response:
    return page(
        "search.html",
        status,
        errors=errors or {},
        typed=subject_fields.typed(),
        result=result,
        subject=subject,
        offers=offers or [],
        purposes=purpose_choices.offered(),
    )
