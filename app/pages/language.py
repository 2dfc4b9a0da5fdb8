"""POST /language: the language in which this browser gets the pages, also before signing in."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Response, request

from app.domain.errors import FieldError, ValidationFailed
from app.infra.languages.catalogues import NAMES
from app.web.languages.negotiation import COOKIE, COOKIE_SECONDS
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.error_pages import local_path
from app.web.pages.rendering import go_to_path

blueprint = PageBlueprint("language", __name__)


@blueprint.post("/language")
def choose() -> Response:
    """Keep the choice in a cookie, and return to the page on which it was made."""
    chosen = request.form.get("language", "")
    if chosen not in NAMES:
        raise ValidationFailed(errors=(FieldError("/language", "Choose one of the languages on the page."),))
    response = go_to_path(_page_of_choice())
    response.set_cookie(
        COOKIE, chosen, max_age=COOKIE_SECONDS, secure=request.is_secure, httponly=True, samesite="Lax"
    )
    return response


def _page_of_choice() -> str:
    """Return the path of the page on which the form was, from `Referer`; a page elsewhere does not count."""
    referrer = urlsplit(request.referrer or "")
    if referrer.netloc != request.host:
        return "/"
    return local_path(f"{referrer.path}?{referrer.query}".rstrip("?"))
