"""/webhooks: the endpoints of the workspace, for admins, and the log of what was delivered to them."""

from __future__ import annotations

from flask import Response, flash, request

from app.domain.errors import EndpointDisabled, ValidationFailed
from app.domain.event_types import SUBSCRIBABLE
from app.domain.messages import Message
from app.engine.events import deliveries, endpoints
from app.features.webhooks import attempts as webhook_attempts
from app.features.webhooks import delivery_log, endpoint_changes
from app.features.webhooks.delivery_log import DeliveryState
from app.features.webhooks.endpoint_schemas import NewEndpointSchema
from app.features.webhooks.message_formats import LABELS as FORMATS
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.pages import event_sentences
from app.web.languages.texts import translate
from app.web.pages import forms, paging
from app.web.pages.access import admin_only, signed_in, viewer
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("webhooks_page", __name__, template_folder="templates")


@blueprint.get("/webhooks")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """List the endpoints, for an admin, and the deliveries, newest first."""
    return _page()


@blueprint.post("/webhooks")
@admin_only
@limited(Policy.WRITE)
def create() -> Response:
    """Create an endpoint."""
    try:
        body = {"url": forms.text("url"), "types": request.form.getlist("types")}
        if forms.text("format"):
            body["format"] = forms.text("format")
        new = forms.load(NewEndpointSchema(), body)
        endpoint_changes.create(new)
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    except ValidationFailed as problem:
        return _page(422, errors=forms.messages(problem.errors))
    flash("The endpoint receives events from now on. Send it a test.", "success")
    return go_to("webhooks_page.index")


@blueprint.post("/webhooks/endpoints/<endpoint_id>/test")
@admin_only
@limited(Policy.WRITE)
def test(endpoint_id: str) -> Response:
    """Deliver a test event, and show the delivery."""
    event_id, _ = endpoint_changes.send_test(endpoint_id)
    with services().database.reading() as session:
        webhook_id = deliveries.of_event(session, event_id, endpoint_id)
    return go_to("webhooks_page.show", webhook_id=webhook_id)


@blueprint.post("/webhooks/endpoints/<endpoint_id>/disable")
@admin_only
@limited(Policy.WRITE)
def disable(endpoint_id: str) -> Response:
    """Disable an endpoint."""
    endpoint_changes.change(endpoint_id, {"enabled": False})
    flash("The endpoint is disabled. It receives nothing until you enable it.", "success")
    return go_to("webhooks_page.index")


@blueprint.post("/webhooks/endpoints/<endpoint_id>/enable")
@admin_only
@limited(Policy.WRITE)
def enable(endpoint_id: str) -> Response:
    """Enable an endpoint again."""
    endpoint_changes.change(endpoint_id, {"enabled": True})
    flash("The endpoint is enabled. What it missed can be delivered again from the log.", "success")
    return go_to("webhooks_page.index")


@blueprint.post("/webhooks/endpoints/<endpoint_id>/delete")
@admin_only
@limited(Policy.WRITE)
def delete(endpoint_id: str) -> Response:
    """Delete an endpoint with its log."""
    endpoint_changes.delete(endpoint_id)
    flash("The endpoint is deleted.", "success")
    return go_to("webhooks_page.index")


@blueprint.get("/webhooks/<webhook_id>")
@signed_in
@limited(Policy.READ)
def show(webhook_id: str) -> Response:
    """Show a delivery with its attempts."""
    with services().database.reading() as session:
        status = delivery_log.get_of_workspace(session, caller().workspace_id, webhook_id)
        attempts = webhook_attempts.list_for_webhook(session, webhook_id)
        now = database_clock.value(session)
    return page(
        "webhook.html",
        webhook=status.to_public(),
        label=event_sentences.LABELS[status.type],
        attempts=[webhook_attempts.to_public(attempt, now=now) for attempt in attempts],
        is_due=status.state is DeliveryState.WAITING and status.next_at is not None and status.next_at <= now,
    )


@blueprint.post("/webhooks/<webhook_id>/replay")
@admin_only
@limited(Policy.WRITE)
def replay(webhook_id: str) -> Response:
    """Deliver again."""
    try:
        endpoint_changes.replay(webhook_id)
    except EndpointDisabled as problem:
        flash(translate(problem.detail), "failure")
    return go_to("webhooks_page.show", webhook_id=webhook_id)


def _page(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    workspace_id, before = caller().workspace_id, paging.cursor("whk")
    with services().database.reading() as session:
        rows = delivery_log.latest(
            session,
            workspace_id=workspace_id,
            failed="failed" in request.args,
            before=before,
            limit=paging.ROWS + 1,
        )
        mine = _endpoints(session, workspace_id) if viewer().acts_as_admin else []
    shown, older = paging.split(rows, lambda row: row.webhook.id)
    return page(
        "webhooks.html",
        status,
        endpoints=mine,
        webhooks=[row.to_public() for row in shown],
        older=older,
        only_failed="failed" in request.args,
        labels=event_sentences.LABELS,
        types=SUBSCRIBABLE,
        formats=[("", Message("By the URL")), *((form.value, label) for form, label in FORMATS.items())],
        format_labels=FORMATS,
        format=request.form.get("format", ""),
        url=request.form.get("url", ""),
        chosen=request.form.getlist("types"),
        errors=errors or {},
    )


def _endpoints(session: Session, workspace_id: str) -> list[tuple[endpoints.WebhookEndpoint, str]]:
    """Return the endpoints with their secrets."""
    keys = session.keys
    return [(row, endpoints.secret(keys, row.id)) for row in endpoints.of_workspace(session, workspace_id)]
