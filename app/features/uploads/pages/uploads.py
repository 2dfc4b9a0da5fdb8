"""/uploads: upload a list, correct its columns, see the price, start it, and come back for the result."""

from __future__ import annotations

from typing import Any

from flask import Response, flash, request

from app.domain.errors import (
    NotFound,
    PayloadTooLarge,
    PurposeRequired,
    RateLimited,
    Unavailable,
    UploadNotReady,
    ValidationFailed,
)
from app.domain.kinds import Kind
from app.domain.lists import verified_rows
from app.domain.lists.headers.upload_columns import UPLOAD_FIELDS
from app.domain.messages import Message
from app.features.uploads import actions, choices, representations, result_files, results, uploads
from app.features.uploads.pages import formats
from app.features.uploads.schemas import OPERATIONS, FileSchema, MappingSchema, StartSchema
from app.features.uploads.tables import Operation, Upload, UploadStatus
from app.web import costs
from app.web.bodies.received_files import received_file
from app.web.languages.texts import ngettext
from app.web.pages import forms, purpose_choices
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, go_to_path, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.owned_schemas import NamedListSchema
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("uploads_page", __name__, template_folder="templates")

PAGE_SIZE = 20
_FILE_FIELDS = ("operation", "encoding", "delimiter", "has_header", "country")
MAX_PROBLEM_ROWS = 50
LABELS = {
    "full_name": Message("Full name"),
    "first_name": Message("First name"),
    "middle_name": Message("Middle name"),
    "last_name": Message("Last name"),
    "linkedin_url": Message("LinkedIn profile"),
    "email": Message("E-mail"),
    "work_email": Message("Work e-mail"),
    "personal_email": Message("Personal e-mail"),
    "phone": Message("Phone"),
    "mobile_phone": Message("Mobile phone"),
    "direct_phone": Message("Direct phone"),
    "work_phone": Message("Work phone"),
    "company_name": Message("Company"),
    "company_domain": Message("Company website"),
    "country": Message("Country"),
    "company_country": Message("Company country"),
    "do_not_contact": Message("Opted out"),
    "marketing_consent": Message("Marketing consent"),
}
_UNUSED = ("", Message("Not used"))
OPTIONS = {
    Operation.ENRICH.value: [_UNUSED, *((field, LABELS[field]) for field in UPLOAD_FIELDS)],
    Operation.VERIFY.value: [_UNUSED, *((field, LABELS[field]) for field in verified_rows.FIELDS)],
}
REASONS = {
    "insufficient_credits": Message(
        "The credits of your workspace ran out. Ask your admin for more, then continue."
    ),
    "spending_limit_reached": Message(
        "A spending limit is reached. Ask your admin to raise it, then continue."
    ),
    "max_credits": Message("The maximum of credits is reached. Raise it to continue."),
    "account_disabled": Message("The account that started it is disabled. Continue with yours."),
    "purpose_required": Message("Say what you need the other people's data for, then continue."),
    "provider_failed": Message(
        "The data providers are failing. Continue later to look up the remaining people. "
        "If it fails again, ask your admin to check the providers."
    ),
    "key_ended": Message("The API key that started it has ended. Continue with your account."),
    "phones_not_allowed": Message(
        "The account that started it may no longer reveal phone numbers. Someone who may can continue it."
    ),
}
"""What to do about an upload that is paused."""


@blueprint.get("/uploads")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """List the uploads, with the form for a new one."""
    return _list()


@blueprint.post("/uploads")
@signed_in
@limited(Policy.WRITE)
def create() -> Response:
    """Store a file, and show the page of its upload."""
    try:
        with received_file(services().settings.upload_max_mb) as file:
            options = forms.load(FileSchema(), forms.texts(*_FILE_FIELDS))
            upload, _ = actions.create(file, options)
    except InvalidForm as invalid:
        return _list(422, errors=invalid.messages)
    except (PayloadTooLarge, RateLimited, Unavailable, UploadNotReady, ValidationFailed) as problem:
        return _list(problem.status, errors={"file": problem.detail})
    return go_to("uploads_page.show", upload_id=upload["id"])


@blueprint.get("/uploads/<upload_id>")
@signed_in
@limited(Policy.READ)
def show(upload_id: str) -> Response:
    """Show an upload: its columns and price, its progress, or its result."""
    return _show(upload_id)


@blueprint.post("/uploads/<upload_id>/mapping")
@signed_in
@limited(Policy.WRITE)
def map_columns(upload_id: str) -> Response:
    """Store which field each column has, and have the price calculated."""
    columns = [field or None for field in request.form.getlist("columns")]
    try:
        fields: dict[str, Any] = {"columns": columns, "country": forms.text("country") or None}
        if "operation" in request.form:  # a list to verify
            fields["fresh"] = bool(forms.text("fresh"))
        else:
            fields["fields"] = request.form.getlist("fields")
        actions.map_columns(upload_id, forms.load(MappingSchema(), fields))
    except InvalidForm as invalid:
        return _show(upload_id, 422, errors=invalid.messages)
    except (ValidationFailed, UploadNotReady) as problem:
        return _show(upload_id, problem.status, errors={"": problem.detail})
    return go_to("uploads_page.show", upload_id=upload_id)


@blueprint.post("/uploads/<upload_id>/start")
@signed_in
@limited(Policy.SPEND)
def start(upload_id: str) -> Response:
    """Start an upload, or continue a paused one."""
    numbers = {name: forms.text(name) for name in ("max_credits", "revision")}
    fields: dict[str, Any] = {name: forms.number(text) if text else None for name, text in numbers.items()}
    fields |= forms.texts("purpose")
    if choice := _choice():
        price = {} if numbers["max_credits"] else {"max_credits": _price(upload_id, choice)}
        fields |= choice.fields | price
    try:
        actions.start(upload_id, forms.load(StartSchema(), fields))
    except InvalidForm as invalid:
        return _show(upload_id, 422, errors=invalid.messages)
    except (ValidationFailed, PurposeRequired):
        return _show(upload_id, 422, errors={"purpose": purpose_choices.MISSING})
    except UploadNotReady as problem:
        return _show(upload_id, problem.status, errors={"": problem.detail})
    return go_to("uploads_page.show", upload_id=upload_id)


@blueprint.post("/uploads/<upload_id>/cancel")
@signed_in
@limited(Policy.WRITE)
def cancel(upload_id: str) -> Response:
    """Cancel an upload; what was found stays."""
    actions.cancel(upload_id)
    return go_to("uploads_page.show", upload_id=upload_id)


@blueprint.post("/uploads/<upload_id>/delete")
@signed_in
@limited(Policy.WRITE)
def delete(upload_id: str) -> Response:
    """Delete an upload with its rows and its result."""
    actions.delete(upload_id)
    flash("The upload is deleted.", "success")
    return go_to("uploads_page.index")


@blueprint.post("/uploads/<upload_id>/list")
@signed_in
@limited(Policy.WRITE)
def add_to_list(upload_id: str) -> Response:
    """Add the people who were found to a list, and show it."""
    try:
        name = forms.load(NamedListSchema(), forms.texts("name"))["name"]
    except InvalidForm as invalid:
        return _show(upload_id, 422, errors=invalid.messages)
    list_id, added = actions.add_to_list(upload_id, name)
    flash(
        ngettext("{count} person is new on the list.", "{count} people are new on the list.", added),
        "success",
    )
    return go_to_path(f"/lists/{list_id}")


@blueprint.get("/uploads/<upload_id>/result")
@signed_in
@limited(Policy.READ)
def result(upload_id: str) -> Response:
    """Download the result."""
    with services().database.reading() as session:
        upload = uploads.get(session, caller().workspace_id, upload_id)
    file_format = request.args.get("format")
    if file_format not in {None, *result_files.FORMATS}:
        raise NotFound
    return actions.download_result(upload, file_format)


def _choice() -> choices.Choice | None:
    """Return the choice in the form, None if the form offers none."""
    name = forms.text("choice")
    return next((choice for choice in choices.all_choices() if choice.name == name), None)


def _price(upload_id: str, choice: choices.Choice) -> int | None:
    """Return what the choice costs at most, None if the upload has no price yet."""
    with services().database.reading() as session:
        estimate = uploads.get(session, caller().workspace_id, upload_id).estimate or {}
    price = choices.chosen(estimate, choice.rule)
    return price["credits_max"] if price else None


def _list(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    settings = services().settings
    before = request.args.get("before") or None
    with services().database.reading() as session:
        found = uploads.latest(session, caller().workspace_id, before=before, limit=PAGE_SIZE + 1)
        described = [representations.summary(session, upload) for upload in found[:PAGE_SIZE]]
    return page(
        "uploads.html",
        status,
        uploads=costs.shown(described),
        older=described[-1]["id"] if len(found) > PAGE_SIZE else None,
        errors=errors or {},
        operation=request.values.get("operation"),
        may_verify=Operation.VERIFY in OPERATIONS,
        max_mb=settings.upload_max_mb,
        max_rows=settings.upload_max_rows,
        formats=formats,
        days=uploads.retention(settings.upload_retention_days, settings.job_retention_days).days,
    )


def _show(upload_id: str, status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    with services().database.reading() as session:
        upload = uploads.get(session, caller().workspace_id, upload_id)
        described = representations.describe(session, upload)
        problem_rows = (
            results.problem_rows(session, upload, limit=MAX_PROBLEM_ROWS) if upload.estimate else []
        )
    return page(
        "upload.html",
        status,
        upload=costs.shown(described),
        problem_rows=problem_rows,
        options=OPTIONS[upload.operation],
        reasons=REASONS,
        format_notes=formats.notes(upload.table_format),
        errors=errors or {},
        is_changing=_is_changing(upload, described),
        other_format="csv" if result_files.format_of(upload) == "xlsx" else "xlsx",
        price_of=services().settings.price_of,
        verification_price=services().settings.prices[Kind.VERIFICATION],
        chosen=_chosen(upload),
        purposes=purpose_choices.offered(),
    )


def _chosen(upload: Upload) -> str | None:
    """Return the name of the choice that the form has selected: the first one before the upload starts."""
    if upload.status == UploadStatus.READY:
        return choices.SKIP
    rule = uploads.skip_rule(upload)
    return next((choice.name for choice in choices.all_choices() if choice.rule == rule), None)


def _is_changing(upload: Upload, described: dict[str, Any]) -> bool:
    """Return whether workers are busy with the upload, so that the page shows their progress."""
    busy = (UploadStatus.READING, UploadStatus.PRICING, UploadStatus.RUNNING)
    return upload.status in busy or described["credits"]["reserved"] > 0
