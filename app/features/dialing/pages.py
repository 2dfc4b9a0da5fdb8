"""/admin/dial-link: how the workspace's links dial; and the link of a number, for all pages."""

from __future__ import annotations

from flask import Response, flash

from app.features.dialing import link_forms, settings
from app.features.dialing.schemas import DialLinkSchema
from app.web.pages import forms
from app.web.pages.access import admin_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_dial_link", __name__, template_folder="templates")
blueprint.add_app_template_global(settings.dial_url, "dial_url")

_SAMPLE = "+442079460123"


@blueprint.get("/admin/dial-link")
@admin_only
@limited(Policy.READ)
def index() -> Response:
    """Show the form of the links."""
    with services().database.reading() as session:
        return _page(settings.form_of(session, caller().workspace_id))


@blueprint.post("/admin/dial-link")
@admin_only
@limited(Policy.WRITE)
def choose() -> Response:
    """Store the form of the links."""
    typed = forms.text("dial_link")
    try:
        settings.choose(
            forms.load(DialLinkSchema(), {"dial_link": typed or None})["dial_link"] or link_forms.DEFAULT
        )
    except InvalidForm as invalid:
        return _page(typed, 422, invalid.messages)
    flash("Numbers are dialled by this link from now on.", "success")
    return go_to("admin_dial_link.index")


def _page(form: str, status: int = 200, errors: dict[str, str] | None = None) -> Response:
    sample = "" if errors else link_forms.link(form, _SAMPLE)
    return page(
        "dial_link.html",
        status,
        form=form,
        errors=errors or {},
        sample=sample,
        examples=link_forms.EXAMPLES,
    )
