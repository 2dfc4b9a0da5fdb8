"""/account/two-factor: set up an authenticator app for the signed-in account, or turn it off."""

from __future__ import annotations

from typing import Any

import segno
from flask import Response, flash, request

from app.domain.errors import TooManyAttempts, TotpAlreadyOn, ValidationFailed
from app.engine.accounts import totp
from app.engine.accounts.accounts import Account
from app.pages.sign_in_form import sentence
from app.web.pages import forms
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.sign_in_schemas import CurrentPasswordSchema
from app.web.services import services
from app.web.sign_in import own_totp
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("two_factor", __name__)


@blueprint.get("/account/two-factor")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """Show whether two-factor sign-in is on."""
    return _page()


@blueprint.post("/account/two-factor")
@signed_in
@limited(Policy.WRITE)
def enrol() -> Response:
    """Show the QR code of a new secret after a check of the password."""
    try:
        secret, uri = own_totp.enrol(_password())
    except TotpAlreadyOn:
        return go_to("two_factor.index")
    except (InvalidForm, ValidationFailed, TooManyAttempts) as error:
        return _refused(error)
    picture = segno.make(uri, error="m")
    image = picture.svg_data_uri(scale=5, border=4, dark="#000", light="#fff")
    return _page(secret=secret, image=image, is_enrolling=True)


@blueprint.post("/account/two-factor/confirm")
@signed_in
@limited(Policy.WRITE)
def confirm() -> Response:
    """Turn two-factor sign-in on, and show the recovery codes."""
    try:
        recovery_codes = own_totp.turn_on(forms.text("code"))
    except TotpAlreadyOn:
        return go_to("two_factor.index")
    except ValidationFailed as problem:
        return _page(422, errors=forms.messages(problem.errors), is_enrolling=True)
    except TooManyAttempts as problem:
        return _refused(problem)
    return _page(recovery_codes=recovery_codes)


@blueprint.post("/account/two-factor/disable")
@signed_in
@limited(Policy.WRITE)
def disable() -> Response:
    """Turn two-factor sign-in off after a check of the password."""
    try:
        own_totp.turn_off(_password())
    except (InvalidForm, ValidationFailed, TooManyAttempts) as error:
        return _refused(error)
    flash("Two-factor sign-in is off.", "success")
    return go_to("two_factor.index")


def _password() -> str:
    typed = {"current_password": request.form.get("current_password", "")}
    password: str = forms.load(CurrentPasswordSchema(), typed)["current_password"]
    return password


def _refused(error: InvalidForm | ValidationFailed | TooManyAttempts) -> Response:
    if isinstance(error, TooManyAttempts):
        return _page(error.status, errors={"": sentence(error)})
    fields = error.messages if isinstance(error, InvalidForm) else forms.messages(error.errors)
    return _page(422, errors=fields)


def _page(status: int = 200, **context: Any) -> Response:
    account_id = caller().account_id
    with services().database.reading() as session:
        enabled_at = session.get_one(Account, account_id).totp_enabled_at
        codes_left = totp.recovery_codes_left(session, account_id)
    parts: dict[str, Any] = {
        "errors": {},
        "secret": "",
        "image": "",
        "recovery_codes": [],
        "is_enrolling": False,
    } | context
    return page("two_factor.html", status, enabled_at=enabled_at, codes_left=codes_left, **parts)
