"""POST /language: the language in which this browser gets the pages, also before signing in."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Response, request

from app.domain.errors import FieldError, Unauthorized, ValidationFailed
from app.engine.accounts import accounts
from app.infra.languages.catalogues import NAMES
from app.web import admission
from app.web.languages.negotiation import COOKIE, COOKIE_SECONDS
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.error_pages import local_path
from app.web.pages.rendering import go_to_path
from app.web.sign_in import session_cookie
from app.web.sign_in.auth import authenticate

blueprint = PageBlueprint("language", __name__)


@blueprint.post("/language")
def choose() -> Response:
    """Keep the choice in a cookie and in the account, and return to the page on which it was made."""
    chosen = request.form.get("language", "")
    if chosen not in NAMES:
        raise ValidationFailed(errors=(FieldError("/language", "Choose one of the languages on the page."),))
    _store(chosen)
    response = go_to_path(_page_of_choice())
    response.set_cookie(
        COOKIE, chosen, max_age=COOKIE_SECONDS, secure=request.is_secure, httponly=True, samesite="Lax"
    )
    return response


def _store(chosen: str) -> None:
    """Store the choice in the account whose session the browser has, if it has one that is in force."""
    token = session_cookie.token()
    if token is None:
        return
    try:
        account_id = authenticate(token).account_id
    except Unauthorized:
        return
    with admission.transaction() as session:
        accounts.choose_language(session, account_id, chosen)


def _page_of_choice() -> str:
    """Return the path of the page on which the form was, from `Referer`; a page elsewhere does not count."""
    referrer = urlsplit(request.referrer or "")
    if referrer.netloc != request.host:
        return "/"
    return local_path(f"{referrer.path}?{referrer.query}".rstrip("?"))
