"""/admin/call-registers: the do-not-call registers, and what the workspace does with the numbers in them."""

from __future__ import annotations

from flask import Response, flash

from app.domain.call_registers import Effect
from app.domain.errors import NotFound, ValidationFailed
from app.features.call_registers import choices
from app.web.languages.texts import gettext, translate
from app.web.pages import forms
from app.web.pages.access import admin_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited

blueprint = PageBlueprint("admin_call_registers", __name__, template_folder="templates")


@blueprint.get("/admin/call-registers")
@admin_only
@limited(Policy.READ)
def index() -> Response:
    """List the registers, with a form for each."""
    return page("call_registers.html", registers=choices.shown())


@blueprint.post("/admin/call-registers")
@admin_only
@limited(Policy.WRITE)
def choose() -> Response:
    """Choose what is done with the numbers in a register."""
    try:
        row = choices.choose(forms.text("register"), Effect(forms.text("effect")))
    except (NotFound, ValidationFailed, ValueError) as problem:
        detail = problem.errors[0].detail if isinstance(problem, ValidationFailed) else None
        flash(translate(detail) if detail else "Choose one of the listed effects.", "failure")
        return go_to("admin_call_registers.index")
    flash(gettext("Numbers in {register}: {effect}.", register=row.name, effect=row.effect.label), "success")
    return go_to("admin_call_registers.index")
