"""/admin/suppressions: check, add and remove one value of the suppression list, for operators."""

from __future__ import annotations

import re
from collections.abc import Callable

from flask import Response, flash

from app.domain.audit_actions import Action
from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.messages import Message
from app.domain.normal.person_emails import wrapped_email
from app.domain.normal.phones.phones import normal_phone
from app.domain.normal.profiles.profiles import normal_profile_url
from app.domain.normal.websites import normal_host
from app.engine.audit_log import entries as audit_log
from app.engine.contacts.suppressions import suppression_checks, suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission
from app.web.pages import forms
from app.web.pages.access import operator_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_suppressions", __name__, template_folder="templates")
REASON = "requested"
_INVALID = Message("Enter an e-mail address, a profile URL, a phone number with country code, or a domain.")
_DOMAIN = re.compile(r"[\w.-]+\.[^\W\d]{2,}")


@blueprint.get("/admin/suppressions")
@operator_only
@limited(Policy.READ)
def index() -> Response:
    """Show the form."""
    return _page()


@blueprint.post("/admin/suppressions")
@operator_only
@limited(Policy.WRITE)
def change() -> Response:
    """Check whether a value is on the list, put it there, or remove it."""
    try:
        identifier = _identifier(forms.text("value"))
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    action = forms.text("action")
    if action in {"add", "remove"}:
        _change(action, identifier)
    with services().database.reading() as session:
        is_listed = bool(suppression_checks.suppressed(session, [identifier]))
    return _page(checked=identifier, is_listed=is_listed)


def _change(action: str, identifier: Identifier) -> None:
    with admission.transaction() as session:
        recorded = Action.SUPPRESSION_ADD if action == "add" else Action.SUPPRESSION_REMOVE
        audit_log.record(session, recorded, reason=identifier.kind)
        if action == "add":
            suppressions.suppress(session, [identifier], reason=REASON, now=database_clock.now())
        else:
            suppressions.remove(session, [identifier])
    log.info("suppression list changed", action=action, kind=identifier.kind, by=caller().account_id)
    flash("The value is on the list." if action == "add" else "The value is not on the list.", "success")


def _identifier(text: str) -> Identifier:
    """Return the identifier in its normal form.

    Raises:
        InvalidForm: it is neither an e-mail address, a profile URL, a phone number nor a domain.

    """
    parse: dict[str, Callable[[str], str]] = {
        "email": wrapped_email,
        "linkedin_url": normal_profile_url,
        "phone": normal_phone,
        "domain": normal_host,
    }
    is_url = "/" in text and any(map(str.isalpha, text))
    kind = "email" if "@" in text else "linkedin_url" if is_url else "phone"
    if kind == "phone" and _DOMAIN.fullmatch(text):
        kind = "domain"
    try:
        return Identifier(kind, parse[kind](text))
    except (InvalidValue, NotAProfileUrl) as error:
        raise InvalidForm({"value": _INVALID}) from error


def _page(
    status: int = 200,
    *,
    errors: dict[str, str] | None = None,
    checked: Identifier | None = None,
    is_listed: bool = False,
) -> Response:
    with services().database.reading() as session:
        entries = suppressions.summary(session)
    return page(
        "suppressions.html",
        status,
        value=forms.text("value"),
        errors=errors or {},
        checked=checked,
        is_listed=is_listed,
        entries=entries,
    )
