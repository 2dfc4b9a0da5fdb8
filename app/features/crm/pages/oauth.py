"""/crm/authorize and /crm/callback: connect a CRM with OAuth, in the browser of an admin."""

from __future__ import annotations

from flask import Response, flash, request, url_for

from app.domain.errors import NotFound
from app.features.crm import authorizations, connections, credential_checks, sentences
from app.features.crm.connections import ConnectionStatus, Credentials, CrmConnection
from app.features.crm.schemas import crm_named
from app.features.crm.vendors import registry
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission, public_urls
from app.web.languages.texts import translate
from app.web.pages import forms
from app.web.pages.access import admin_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("crm_oauth", __name__, template_folder="templates")


@blueprint.post("/crm/authorize")
@admin_only
@limited(Policy.WRITE)
def authorize() -> Response:
    """Begin an authorization, of a new connection or a stored one, and show the link to the CRM.

    It is a link and not a redirect: the content policy lets forms lead to this server only.
    """
    with admission.transaction() as session:
        connection = _connection(session)
        crm = crm_named(connection.vendor)
        url = authorizations.begin(
            session,
            connection,
            crm,
            session_id=caller().token_id,
            redirect_uri=public_urls.absolute(url_for("crm_oauth.callback")),
        )
    return page("crm_authorize.html", crm=crm, url=url)


@blueprint.get("/crm/callback")
@admin_only
@limited(Policy.WRITE)
def callback() -> Response:
    """Have a worker exchange the code that the CRM sends back with the admin; show a failure at once."""
    state, code = request.args.get("state", ""), request.args.get("code", "")
    if not code:
        flash("The CRM did not give access. Nothing was changed; connect again when you want to.", "failure")
        return go_to("crm_page.index")
    try:
        with admission.transaction() as session:
            connection = authorizations.complete(
                session,
                caller().workspace_id,
                state=state,
                code=code,
                session_id=caller().token_id,
                now=database_clock.now(),
            )
    except NotFound as refused:
        flash(translate(refused.detail), "failure")
        return go_to("crm_page.index")
    connection = credential_checks.awaited(connection)
    if connection.status == ConnectionStatus.RECONNECT:
        flash(translate(sentences.sentence(connection.error)), "failure")
        return go_to("crm_page.show", connection_id=connection.id)
    log.info("crm authorized", account=caller().account_id, connection=connection.id)
    flash("The CRM gave access. Check the mapping, and preview a contact before the first push.", "success")
    return go_to("crm_page.show", connection_id=connection.id)


def _connection(session: Session) -> CrmConnection:
    """Return the stored connection that the form names, or a new one to its CRM."""
    connection_id = forms.text("connection_id")
    if connection_id:
        return connections.get(session, caller().workspace_id, connection_id, lock=True)
    vendor = forms.text("vendor")
    if vendor not in {crm.name for crm in registry.CRMS}:
        raise NotFound("There is no such CRM. List them with GET /api/crm/vendors.")
    return connections.create(
        session,
        caller().workspace_id,
        vendor=vendor,
        base_url=None,
        credentials=Credentials(state="new"),
        mapping={field.value: name for field, name in crm_named(vendor).mapping.items()},
        account_id=caller().account_id,
        now=database_clock.now(),
    )
