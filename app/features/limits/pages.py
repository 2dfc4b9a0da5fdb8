"""/admin/limits: what the accounts and API keys of the workspace may spend."""

from __future__ import annotations

from flask import Response, flash, request

from app.domain.ids import Prefix
from app.domain.spending import Period
from app.engine.ledger import limit_settings
from app.features.limits.schemas import AccountLimitsSchema
from app.web.accounts import limit_changes
from app.web.pages import forms, paging
from app.web.pages.access import admin_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.limit_schemas import PERIODS, KeyLimitsSchema
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_limits", __name__, template_folder="templates")

MAX_SUBJECTS = 1000
"""The most accounts, and the most keys, that the form offers."""


@blueprint.get("/admin/limits")
@admin_only
@limited(Policy.READ)
def index() -> Response:
    """List the limits with their use, and the form for a new one."""
    return _page({})


@blueprint.post("/admin/limits")
@admin_only
@limited(Policy.WRITE)
def put() -> Response:
    """Set the limit of an account or key."""
    try:
        limits = _limits()
        limit_changes.change(forms.text("subject"), _prefix(), limits)
    except InvalidForm as invalid:
        return _page(invalid.messages)
    flash("The limit is set. It applies from now on.", "success")
    return go_to("admin_limits.index")


@blueprint.post("/admin/limits/remove")
@admin_only
@limited(Policy.WRITE)
def remove() -> Response:
    """Remove the limit of an account or key."""
    period = Period.TOTAL if forms.text("period") == Period.TOTAL else Period.MONTH
    limit_changes.change(forms.text("subject"), _prefix(), {period: None})
    flash("The limit is removed.", "success")
    return go_to("admin_limits.index")


def _prefix() -> Prefix:
    return "key" if forms.text("subject").startswith("key_") else "acc"


def _limits() -> dict[Period, int]:
    """Return the limit in the form.

    Raises:
        InvalidForm: it is no number of credits, or a cap of an account.

    """
    chosen, amount = forms.text("period"), forms.text("amount")
    name = "spending_cap" if chosen == Period.TOTAL else "monthly_limit"
    if _prefix() == "acc" and name == "spending_cap":
        raise InvalidForm({"period": "An account has a monthly limit only. Choose an API key for a cap."})
    credits_ = forms.number(amount)
    if isinstance(credits_, str):
        raise InvalidForm({"amount": "Enter a whole number of credits, 0 or more."})
    schema = AccountLimitsSchema() if _prefix() == "acc" else KeyLimitsSchema()
    try:
        loaded: dict[str, int] = forms.load(schema, {name: credits_})
    except InvalidForm as invalid:
        raise InvalidForm({"amount": invalid.messages.get(name, "")}) from invalid
    return {PERIODS[field]: value for field, value in loaded.items()}


def _page(errors: dict[str, str]) -> Response:
    before = paging.cursor("lim")
    with services().database.reading() as session:
        limits = limit_changes.visible(session, before=before, limit=paging.ROWS + 1)
        subjects = limit_settings.subjects(session, caller().workspace_id, limit=MAX_SUBJECTS)
    shown, older = paging.split(limits, lambda limit: limit.id)
    form = request.form if errors else {}
    return page(
        "limits.html",
        422 if errors else 200,
        limits=shown,
        older=older,
        subjects=[(subject.id, _label(subject)) for subject in subjects],
        errors=errors,
        chosen={name: form.get(name, "") for name in ("subject", "period", "amount")},
    )


def _label(subject: limit_settings.LimitSubject) -> str:
    return subject.name if subject.type == "account" else f"{subject.name} (API key)"
