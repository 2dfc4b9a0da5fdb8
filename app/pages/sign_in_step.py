"""The first step of a sign-in with two: the encrypted cookie that says which password was right."""

from __future__ import annotations

from flask import Response

from app.engine.accounts.accounts import Account
from app.web.pages.error_pages import local_path
from app.web.pages.rendering import go_to
from app.web.pages.sealed_cookie import SealedCookie
from app.web.services import services
from app.web.sign_in.password_sign_in import CheckedLogin

COOKIE = SealedCookie("sign-in-step", seconds=300)
_PURPOSE = "checked-password"


def ask(checked: CheckedLogin, next_path: str) -> Response:
    """Redirect to the form for the code; for five minutes, the password is not asked for again."""
    response = go_to("sign_in_code.form", next=local_path(next_path))
    COOKIE.store(response, {"account": checked.account.id, "password": _digest(checked.password_hash)})
    return response


def checked_login() -> CheckedLogin | None:
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
