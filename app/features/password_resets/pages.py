"""/sign-in/forgotten and /sign-in/reset: a new password by a link; the link of an admin for a colleague."""

from __future__ import annotations

from flask import Response, flash, request
from marshmallow import fields, validate

from app.domain.errors import InvalidValue, PasswordResetRefused, RateLimited
from app.domain.messages import Message
from app.domain.normal.emails import normal_email
from app.features.password_resets import actions, rules
from app.infra.crypto import passwords
from app.web import failure_limits
from app.web.languages.texts import translate
from app.web.pages import forms
from app.web.pages.access import admin_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import StrictSchema
from app.web.services import services
from app.web.sign_in import session_cookie

blueprint = PageBlueprint("password_resets", __name__, template_folder="templates")

PER_NETWORK = "30/hour"
"""The forms that a network may send; each new password is hashed, which takes long."""


class NewPasswordSchema(StrictSchema):
    """The new password."""

    new_password = fields.String(
        required=True, validate=validate.Length(min=passwords.MIN_LENGTH, max=passwords.MAX_LENGTH)
    )


@blueprint.get("/sign-in/forgotten")
def ask() -> Response:
    """Ask for the address of the account."""
    return _ask()


@blueprint.post("/sign-in/forgotten")
def send() -> Response:
    """Have a link sent; the response is the same for every address."""
    _limit()
    if not rules.sends_mail(services().settings):
        return _ask(503)
    try:
        email = normal_email(forms.text("email"))
    except InvalidValue as error:
        return _ask(422, errors={"email": str(error)})
    actions.request_mail(email)
    flash(
        "If there is an account with this address, a message with a link is on its way. It works for an hour."
    )
    return go_to("sign_in.form")


@blueprint.get("/sign-in/reset")
def reset() -> Response:
    """Ask for the new password; programs that open the links of messages do not use the link up."""
    if not session_cookie.is_allowed():
        return go_to("sign_in.form")
    token = request.args.get("token", "")
    return _reset(token) if actions.is_usable(token) else _over()


@blueprint.post("/sign-in/reset")
def store() -> Response:
    """Store the new password."""
    if not session_cookie.is_allowed():
        return go_to("sign_in.form")
    _limit()
    token, typed = forms.text("token"), request.form.get("new_password", "")
    try:
        new_password = forms.load(NewPasswordSchema(), {"new_password": typed})["new_password"]
    except InvalidForm as invalid:
        return _reset(token, 422, errors=invalid.messages)
    if not actions.use(token, new_password):
        return _over()
    flash("The password is changed, and all sessions and API keys have ended. Sign in with the new password.")
    response = go_to("sign_in.form")
    session_cookie.clear(response)
    return response


@blueprint.post("/admin/accounts/<account_id>/password-reset")
@admin_only
@limited(Policy.WRITE)
def create_link(account_id: str) -> Response:
    """Show a link for a colleague, this once."""
    try:
        link = actions.create_link(account_id)
    except PasswordResetRefused as problem:
        flash(translate(problem.detail), "failure")
        return go_to("admin_accounts.index")
    return page("password_link.html", 201, link=link)


def _ask(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    return page(
        "password_forgotten.html",
        status,
        errors=errors or {},
        email=request.form.get("email", ""),
        sends_mail=rules.sends_mail(services().settings),
        has_passwords=services().settings.password_sign_in,
    )


def _reset(token: str, status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    return page(
        "password_reset.html", status, errors=errors or {}, token=token, min_length=passwords.MIN_LENGTH
    )


def _over() -> Response:
    over = Message("This link was used, has expired, or was replaced by a newer one. Ask for another one.")
    return _ask(410, errors={"": over})


def _limit() -> None:
    """Raise RateLimited after too many forms of the client's network."""
    network = services().digest_keys.digest("password resets", failure_limits.network()).hex()
    status = services().limiter.hit(PER_NETWORK, "password-resets", network)
    if not status.allowed:
        raise RateLimited(retry_after=status.reset)
