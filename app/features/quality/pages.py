"""/reports: report a revealed value, or a list of bounces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, flash

from app.domain.errors import ContactNotFound, PayloadTooLarge, RateLimited, Unavailable, ValidationFailed
from app.features.quality import bounce_lists, imports, reports
from app.features.quality.schemas import FeedbackSchema
from app.infra.database import database_clock
from app.web import admission
from app.web.bodies.received_files import PART
from app.web.languages.texts import translate
from app.web.pages import forms
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.error_pages import local_path
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to_path, page
from app.web.rate_limits import Policy, limited

blueprint = PageBlueprint("reports_page", __name__, template_folder="templates")

_WITHOUT_GET = frozenset({"/", "/reveal", "/contacts"})
"""Paths whose page was the answer to a form: it cannot be shown again, so the contact is."""


@blueprint.get("/reports")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """Show the form for a list of bounces."""
    return _page()


@blueprint.post("/reports")
@signed_in
@limited(Policy.WRITE)
def report() -> Response:
    """Report a value, and go back to where it is shown."""
    path = local_path(forms.text("next") or "/contacts")
    try:
        body = forms.load(FeedbackSchema(), forms.texts("contact_id", "email", "phone", "kind"))
        with admission.transaction() as session:
            recorded = reports.record(session, body, now=database_clock.value(session))
            contact_id = recorded.feedback.contact_id
            sentence = reports.sentence(recorded)
    except InvalidForm as invalid:
        flash(" ".join(map(translate, invalid.messages.values())), "failure")
        return go_to_path(path)
    except ContactNotFound:
        flash("Not reported: your workspace has not revealed this value.", "failure")
        return go_to_path(path)
    flash(translate(sentence), "success")
    return go_to_path(f"/contacts/{contact_id}" if path in _WITHOUT_GET and not recorded.refunded else path)


@blueprint.post("/reports/import")
@signed_in
@limited(Policy.WRITE)
def import_list() -> Response:
    """Report the bounces of a list, and show what came of it."""
    try:
        return _page(imported=imports.run().to_public())
    except (PayloadTooLarge, RateLimited, Unavailable, ValidationFailed) as problem:
        return _page(problem.status, errors={PART: problem.detail})


def _page(
    status: int = 200, *, errors: dict[str, str] | None = None, imported: Mapping[str, Any] | None = None
) -> Response:
    return page(
        "reports.html",
        status,
        errors=errors or {},
        imported=imported,
        max_mb=imports.MAX_FILE_MB,
        max_rows=bounce_lists.MAX_ROWS,
    )
