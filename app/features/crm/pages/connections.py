"""/crm: the workspace's CRM connections, their mappings, and the latest pushes."""

from __future__ import annotations

from flask import Response, flash, request

from app.domain.errors import ValidationFailed
from app.features.crm import connection_changes, connections, properties, pushes, sentences
from app.features.crm.connections import CrmConnection
from app.features.crm.index import readings
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.mapping import MAX_CONSTANTS
from app.features.crm.schemas import NewConnection, NewConnectionSchema, crm_named
from app.features.crm.vendors import registry
from app.features.crm.vendors.person import CrmField
from app.infra.database.session import Session
from app.web.pages import forms
from app.web.pages.access import admin_only, signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("crm_page", __name__, template_folder="templates")
blueprint.add_app_template_filter(sentences.sentence, "crm_error")
blueprint.add_app_template_filter(sentences.reading_sentence, "crm_reading")
LATEST = 20
MORE_CONSTANTS = 3
"""The empty rows for further constants."""


@blueprint.get("/crm")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """Show the connections, the latest pushes, and the forms to connect a CRM."""
    return _index()


@blueprint.post("/crm")
@admin_only
@limited(Policy.WRITE)
def connect() -> Response:
    """Connect a CRM with a token."""
    fields = forms.texts("vendor", "token", "base_url")
    try:
        new: NewConnection = forms.load(NewConnectionSchema(), dict(fields))
    except InvalidForm as invalid:
        return _index(422, vendor=fields.get("vendor", ""), errors=invalid.messages)
    try:
        connection, _is_replay = connection_changes.create(new)
    except ValidationFailed as problem:
        errors = forms.messages(problem.errors)
        return _index(422, vendor=new.vendor, errors=errors | {"": errors.get("vendor", "")})
    flash("The CRM is stored. Check the mapping, and preview a contact before the first push.", "success")
    return go_to("crm_page.show", connection_id=connection.id)


@blueprint.get("/crm/connections/<connection_id>")
@signed_in
@limited(Policy.READ)
def show(connection_id: str) -> Response:
    """Show a connection with its mapping."""
    return _show(connection_id)


@blueprint.post("/crm/connections/<connection_id>/mapping")
@admin_only
@limited(Policy.WRITE)
def change_mapping(connection_id: str) -> Response:
    """Store the properties to which the fields are written, and the constant values of others."""
    chosen = forms.texts(*(field.value for field in CrmField))
    constants = {
        name: forms.text(f"constant_value_{number}")
        for number in range(MAX_CONSTANTS)
        if (name := forms.text(f"constant_{number}"))
    }
    new_people = RecordKind.LEAD if forms.text("new_people") == RecordKind.LEAD else RecordKind.CONTACT
    try:
        connection_changes.change_mapping(connection_id, chosen, constants, new_people)
    except ValidationFailed as problem:
        details = " ".join(error.detail for error in problem.errors)
        return _show(connection_id, 422, chosen=chosen, constants=constants, error=details)
    flash("The mapping is stored. Pushes use it from now on.", "success")
    return go_to("crm_page.show", connection_id=connection_id)


@blueprint.post("/crm/connections/<connection_id>/stages")
@admin_only
@limited(Policy.WRITE)
def exclude_stages(connection_id: str) -> Response:
    """Exclude whoever has a record with one of these stages in the CRM."""
    chosen = set(request.form.getlist("stages"))
    with services().database.reading() as session:
        offered = _stages(session, connections.get(session, caller().workspace_id, connection_id))
    connection_changes.exclude_stages(connection_id, [stage for stage in offered if stage in chosen])
    flash("The excluded stages are stored.", "success")
    return go_to("crm_page.show", connection_id=connection_id)


@blueprint.post("/crm/connections/<connection_id>/check")
@admin_only
@limited(Policy.WRITE)
def check(connection_id: str) -> Response:
    """Check the credentials, or store a new token."""
    token = forms.text("token")
    try:
        connection_changes.change(connection_id, {"token": token} if token else {})
    except ValidationFailed as problem:
        return _show(connection_id, 422, errors=forms.messages(problem.errors))
    return go_to("crm_page.show", connection_id=connection_id)


@blueprint.post("/crm/connections/<connection_id>/delete")
@admin_only
@limited(Policy.WRITE)
def delete(connection_id: str) -> Response:
    """Disconnect the CRM."""
    connection_changes.delete(connection_id)
    flash("The CRM is disconnected, and its credentials are deleted here.", "success")
    return go_to("crm_page.index")


def _index(status: int = 200, *, vendor: str = "", errors: dict[str, str] | None = None) -> Response:
    with services().database.reading() as session:
        found = connections.of_workspace(session, caller().workspace_id)
        known = readings.of_workspace(session, caller().workspace_id)
        latest = pushes.latest(session, caller().workspace_id, limit=LATEST)
    return page(
        "crm.html",
        status,
        connections=found,
        readings=known,
        pushes=latest,
        crms=registry.load(services().settings),
        chosen=vendor,
        base_url=request.form.get("base_url", "") if errors else "",
        errors=errors or {},
    )


def _show(
    connection_id: str,
    status: int = 200,
    *,
    chosen: dict[str, str] | None = None,
    constants: dict[str, str] | None = None,
    error: str = "",
    errors: dict[str, str] | None = None,
) -> Response:
    with services().database.reading() as session:
        connection = connections.get(session, caller().workspace_id, connection_id)
        reading = readings.of_workspace(session, caller().workspace_id).get(connection_id)
        known = properties.of_connection(session, connection)
        stages = _stages(session, connection)
    return page(
        "crm_connection.html",
        status,
        connection=connection,
        reading=reading,
        crm=crm_named(connection.vendor),
        fields=[field.value for field in CrmField],
        stages=stages,
        mapping=connection.mapping if chosen is None else chosen,
        constants=connection.constants if constants is None else constants,
        more_constants=min(MORE_CONSTANTS, MAX_CONSTANTS - len(constants or connection.constants)),
        properties=[one for one in known.values() if one.is_writable],
        error=error,
        errors=errors or {},
    )


def _stages(session: Session, connection: CrmConnection) -> list[str]:
    """Return the stages that were seen in the CRM, and those that are excluded."""
    reading = readings.of_workspace(session, connection.workspace_id).get(connection.id)
    return sorted({*(reading.stages if reading else ()), *(connection.excluded_stages or ())})
