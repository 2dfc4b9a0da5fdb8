"""/sign-in and /sign-out: start and end the session of the pages, which is one of the extension's kind."""

from __future__ import annotations

from flask import Response, flash, request

from app.domain.errors import (
    AccountDisabled,
    InvalidCredentials,
    PasswordSignInOff,
    TooManyAttempts,
    TotpRequired,
)
from app.pages import sign_in_step
from app.pages.sign_in_form import CLIENT, complete, sentence, sign_in_form
from app.web.pages import forms
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to
from app.web.rate_limits import Policy, limited
from app.web.schemas.sign_in_schemas import LoginSchema
from app.web.sign_in import own_sessions, password_sign_in, session_cookie

blueprint = PageBlueprint("sign_in", __name__)


@blueprint.get("/sign-in")
def form() -> Response:
    """Show the form; after a session has ended, with the reason."""
    return sign_in_form(session_ended="ended" in request.args)


@blueprint.post("/sign-in")
def submit() -> Response:
    """Sign in, and continue to the page that was asked for."""
    if not session_cookie.is_allowed():
        return sign_in_form(403)
    credentials = {"email": forms.text("email"), "password": request.form.get("password", "")}
    try:
        body = forms.load(LoginSchema(), {**credentials, "client": CLIENT})
        checked = password_sign_in.check(body["email"], body["password"])
        started = password_sign_in.start(checked, code=None, client=CLIENT)
    except InvalidForm as invalid:
        return sign_in_form(422, errors=invalid.messages)
    except TotpRequired:
        return sign_in_step.ask(checked, request.form.get("next", ""))
    except (InvalidCredentials, AccountDisabled, PasswordSignInOff, TooManyAttempts) as problem:
        return sign_in_form(problem.status, errors={"": sentence(problem)})
    return complete(started.token, request.form.get("next", ""))


@blueprint.post("/sign-out")
@signed_in
@limited(Policy.WRITE)
def sign_out() -> Response:
    """End the session of this browser."""
    own_sessions.sign_out()
    flash("You are signed out.")
    response = go_to("sign_in.form")
    session_cookie.clear(response)
    return response
