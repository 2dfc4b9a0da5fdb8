"""/account/two-factor: set up an authenticator app for the signed-in account, or turn it off."""

from __future__ import annotations

from typing import Any

import segno
from flask import Response, flash, request

from app.api import totp as totp_api
from app.domain.errors import TooManyAttempts, TotpAlreadyOn, ValidationFailed
from app.engine.accounts import totp
from app.engine.accounts.accounts import Account
from app.infra.database import database_clock
from app.pages.sign_in_form import sentence
from app.web import admission
from app.web.pages import forms
from app.web.pages.access import signed_in, viewer
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in import own_password
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
        own_password.check(caller().account_id, _password())
        with admission.transaction() as session:
            secret = totp.enrol(session, caller().account_id, now=database_clock.now())
    except TotpAlreadyOn:
        return go_to("two_factor.index")
    except (InvalidForm, ValidationFailed, TooManyAttempts) as error:
        return _refused(error)
    picture = segno.make(totp.uri(secret, viewer().email), error="m")
    image = picture.svg_data_uri(scale=5, border=4, dark="#000", light="#fff")
    return _page(secret=secret, image=image, is_enrolling=True)


@blueprint.post("/account/two-factor/confirm")
@signed_in
@limited(Policy.WRITE)
def confirm() -> Response:
    """Turn two-factor sign-in on, and show the recovery codes."""
    try:
        recovery_codes = totp_api.turn_on(caller(), forms.text("code"))
    except TotpAlreadyOn:
        return go_to("two_factor.index")
    except ValidationFailed as problem:
        return _page(422, errors=forms.messages(problem.errors), is_enrolling=True)
    return _page(recovery_codes=recovery_codes)


@blueprint.post("/account/two-factor/disable")
@signed_in
@limited(Policy.WRITE)
def disable() -> Response:
    """Turn two-factor sign-in off after a check of the password."""
    try:
        totp_api.turn_off(caller().account_id, _password())
    except (InvalidForm, ValidationFailed, TooManyAttempts) as error:
        return _refused(error)
    flash("Two-factor sign-in is off.", "success")
    return go_to("two_factor.index")


def _password() -> str:
    typed = {"current_password": request.form.get("current_password", "")}
    password: str = forms.load(totp_api.CurrentPasswordSchema(), typed)["current_password"]
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
