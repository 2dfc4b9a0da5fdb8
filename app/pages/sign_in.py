"""/sign-in and /sign-out: start and end the session of the pages, which is one of the extension's kind."""

from __future__ import annotations

from flask import Response, flash, request

from app.api import login
from app.api.http import admission, session_cookie
from app.api.http.auth import caller
from app.api.http.rate_limits import Policy, limited
from app.core.accounts import sessions
from app.domain.errors import AccountDisabled, InvalidCredentials, TooManyAttempts
from app.infra import database_clock
from app.pages.http import forms
from app.pages.http.access import signed_in
from app.pages.http.blueprint import PageBlueprint
from app.pages.http.error_pages import local_path
from app.pages.http.forms import InvalidForm
from app.pages.http.rendering import go_to, go_to_path, page

blueprint = PageBlueprint("sign_in", __name__)

CLIENT = {"name": "browser page"}
"""The client in the account's list of sessions."""


@blueprint.get("/sign-in")
def form() -> Response:
    """Show the form; after a session has ended, with the reason."""
    return _form(session_ended="ended" in request.args)


@blueprint.post("/sign-in")
def submit() -> Response:
    """Sign in, and continue to the page that was asked for."""
    if not session_cookie.is_allowed():
        return _form(403)
    credentials = {"email": forms.text("email"), "password": request.form.get("password", "")}
    try:
        body = forms.load(login.LoginSchema(), {**credentials, "client": CLIENT})
        signed = login.sign_in(body)
    except InvalidForm as invalid:
        return _form(422, errors=invalid.messages)
    except (InvalidCredentials, AccountDisabled) as problem:
        return _form(problem.status, errors={"": f"{problem.title}. {problem.help}"})
    except TooManyAttempts as problem:
        wait = f"Too many attempts. Wait {problem.retry_after} seconds before the next one."
        return _form(problem.status, errors={"": wait})
    return complete(signed["access_token"], request.form.get("next", ""))


@blueprint.post("/sign-out")
@signed_in
@limited(Policy.WRITE)
def sign_out() -> Response:
    """End the session of this browser."""
    current = caller()
    with admission.transaction() as session:
        sessions.end(session, current.account_id, current.token_id, now=database_clock.now())
    flash("You are signed out.")
    response = go_to("sign_in.form")
    session_cookie.clear(response)
    return response


def complete(token: str, next_path: str) -> Response:
    """Give the browser the token of a session that was started, and continue to a page of this server."""
    response = go_to_path(local_path(next_path))
    session_cookie.store(response, token)
    return response


def _form(
    status: int = 200, *, errors: dict[str, str] | None = None, session_ended: bool = False
) -> Response:
    return page(
        "sign_in.html",
        status,
        errors=errors or {},
        email=request.form.get("email", ""),
        next=local_path(request.values.get("next", "/")),
        session_ended=session_ended,
        is_allowed=session_cookie.is_allowed(),
    )
