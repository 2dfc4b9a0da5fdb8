"""/account: the signed-in account, its sessions and its password."""

from __future__ import annotations

from flask import Response, flash, request

from app.domain.errors import TooManyAttempts, ValidationFailed
from app.engine.accounts import sessions
from app.engine.accounts.accounts import Account
from app.infra.database import database_clock
from app.pages.sign_in_form import sentence
from app.web.accounts import grant_words
from app.web.languages.texts import ngettext
from app.web.pages import forms
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.sign_in_schemas import PasswordSchema
from app.web.services import services
from app.web.sign_in import own_password, own_sessions, session_cookie
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("account", __name__)


@blueprint.get("/account")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """Show the account, its sessions and the form for a new password."""
    return _page()


@blueprint.post("/account/sessions/<session_id>/end")
@signed_in
@limited(Policy.WRITE)
def end_session(session_id: str) -> Response:
    """End one session of the account at once."""
    own_sessions.end(session_id)
    flash("The session has ended.", "success")
    return go_to("account.index")


@blueprint.post("/account/sessions/end-others")
@signed_in
@limited(Policy.WRITE)
def end_others() -> Response:
    """End every other session of the account at once."""
    ended = own_sessions.end_others()
    flash(ngettext("Ended {count} other session.", "Ended {count} other sessions.", ended), "success")
    return go_to("account.index")


@blueprint.post("/account/password")
@signed_in
@limited(Policy.WRITE)
def change_password() -> Response:
    """Change the password; all sessions end, so the next page is the sign-in."""
    typed = {name: request.form.get(name, "") for name in ("current_password", "new_password")}
    try:
        own_password.change(**forms.load(PasswordSchema(), typed))
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    except ValidationFailed as problem:
        return _page(422, errors=forms.messages(problem.errors))
    except TooManyAttempts as problem:
        return _page(problem.status, errors={"": sentence(problem)})
    flash("The password is changed, and all sessions and API keys have ended. Sign in with the new password.")
    response = go_to("sign_in.form", next="/account")
    session_cookie.clear(response)
    return response


def _page(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    lifetime = services().session_lifetime
    with services().database.reading() as session:
        rows = sessions.of_account(session, caller().account_id, lifetime=lifetime, now=database_clock.now())
        has_second_factor = session.get_one(Account, caller().account_id).totp_enabled_at is not None
        next_grant = grant_words.next_grant(session)
    return page(
        "account.html",
        status,
        sessions=[(row, row.ends_at(lifetime), row.id == caller().token_id) for row in rows],
        next_grant=next_grant,
        has_second_factor=has_second_factor,
        errors=errors or {},
    )
