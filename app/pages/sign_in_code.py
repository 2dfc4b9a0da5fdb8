"""/sign-in/code: the second step of a sign-in, the code of the authenticator app.

The first step leaves an encrypted cookie that says which password was right, so that no one types it twice.
"""

from __future__ import annotations

from flask import Response, request

from app.domain.errors import AccountDisabled, InvalidCredentials, InvalidTotp, TooManyAttempts, TotpRequired
from app.engine.accounts import totp
from app.engine.accounts.accounts import Account
from app.pages.sign_in_form import CLIENT, complete, sentence, sign_in_form
from app.web.pages import forms
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.error_pages import local_path
from app.web.pages.rendering import go_to, page
from app.web.pages.sealed_cookie import SealedCookie
from app.web.services import services
from app.web.sign_in import password_sign_in
from app.web.sign_in.password_sign_in import CheckedLogin

blueprint = PageBlueprint("sign_in_code", __name__)

COOKIE = SealedCookie("sign-in-step", seconds=300)
_PURPOSE = "checked-password"


def ask(checked: CheckedLogin, next_path: str) -> Response:
    """Redirect to the form for the code; for five minutes, the password is not asked for again."""
    response = go_to("sign_in_code.form", next=local_path(next_path))
    COOKIE.store(response, {"account": checked.account.id, "password": _digest(checked.password_hash)})
    return response


@blueprint.get("/sign-in/code")
def form() -> Response:
    """Show the form, after the password was right."""
    return _start_again() if _checked() is None else _form()


@blueprint.post("/sign-in/code")
def submit() -> Response:
    """Check the code, and continue to the page that was asked for."""
    checked = _checked()
    if checked is None:
        return _start_again()
    try:
        started = password_sign_in.start(checked, code=forms.text("totp"), client=CLIENT)
    except (TotpRequired, InvalidTotp) as problem:
        return _form(problem.status, errors={"totp": sentence(InvalidTotp())})
    except (InvalidCredentials, AccountDisabled):
        return _start_again()
    except TooManyAttempts as problem:
        way_out = " Or enter a recovery code." if totp.is_app_code(forms.text("totp")) else ""
        return _form(problem.status, errors={"": sentence(problem) + way_out})
    response = complete(started.token, request.form.get("next", ""))
    COOKIE.clear(response)
    return response


def _checked() -> CheckedLogin | None:
    """Return the login whose password was right; None after five minutes or a change of the password."""
    stored = COOKIE.read()
    if stored is None:
        return None
    with services().database.reading() as session:
        account = session.get(Account, stored["account"])
    if account is None or _digest(account.password_hash) != stored["password"]:
        return None
    return CheckedLogin.of(account)


def _digest(password_hash: str) -> str:
    return services().digest_keys.digest(_PURPOSE, password_hash).hex()


def _form(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    next_path = local_path(request.values.get("next", "/"))
    return page("sign_in_code.html", status, errors=errors or {}, next=next_path)


def _start_again() -> Response:
    reason = "Sign in again: the second step took too long, or the account was changed."
    response = sign_in_form(401, errors={"": reason})
    COOKIE.clear(response)
    return response
