"""/sign-in/code: the second step of a sign-in, the code of the authenticator app.

The first step leaves an encrypted cookie that says which password was right, so that no one types it twice.
"""

from __future__ import annotations

from flask import Response, request

from app.domain.errors import AccountDisabled, InvalidCredentials, InvalidTotp, TooManyAttempts, TotpRequired
from app.domain.messages import Message
from app.engine.accounts import totp
from app.pages import sign_in_step
from app.pages.sign_in_form import CLIENT, complete, sentence, sign_in_form
from app.web.languages.texts import translate
from app.web.pages import forms
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.error_pages import local_path
from app.web.pages.rendering import page
from app.web.sign_in import password_sign_in

blueprint = PageBlueprint("sign_in_code", __name__)

WRONG_CODE = Message("This code does not match. Enter the one that the app shows now; each works once.")
START_AGAIN = Message("Sign in again: the second step took too long, or the account was changed.")
OR_RECOVERY = Message("Or enter a recovery code.")


@blueprint.get("/sign-in/code")
def form() -> Response:
    """Show the form, after the password was right."""
    return _start_again() if sign_in_step.checked_login() is None else _form()


@blueprint.post("/sign-in/code")
def submit() -> Response:
    """Check the code, and continue to the page that was asked for."""
    checked = sign_in_step.checked_login()
    if checked is None:
        return _start_again()
    try:
        started = password_sign_in.start(checked, code=forms.text("totp"), client=CLIENT)
    except (TotpRequired, InvalidTotp) as problem:
        return _form(problem.status, errors={"totp": WRONG_CODE})
    except (InvalidCredentials, AccountDisabled):
        return _start_again()
    except TooManyAttempts as problem:
        way_out = f" {translate(OR_RECOVERY)}" if totp.is_app_code(forms.text("totp")) else ""
        return _form(problem.status, errors={"": sentence(problem) + way_out})
    response = complete(started.token, request.form.get("next", ""))
    sign_in_step.COOKIE.clear(response)
    return response


def _form(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    next_path = local_path(request.values.get("next", "/"))
    return page("sign_in_code.html", status, errors=errors or {}, next=next_path)


def _start_again() -> Response:
    response = sign_in_form(401, errors={"": START_AGAIN})
    sign_in_step.COOKIE.clear(response)
    return response
