"""The blueprint of a subject's pages: refuses forms of other websites, and protects responses."""

from __future__ import annotations

from flask import Blueprint, Response, request

from app.domain.errors import CrossSiteRequest

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
    "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class PageBlueprint(Blueprint):
    """A blueprint of pages, which are not part of the API and of its document."""

    enable_openapi = False
    """APIFlask reads it from every blueprint that has functions before requests."""

    def __init__(self, name: str, import_name: str, *, template_folder: str | None = None) -> None:
        super().__init__(name, import_name, template_folder=template_folder)
        self.before_request(require_same_origin)


def require_same_origin() -> None:
    """Raise CrossSiteRequest if a browser says that another website sent the form (Fetch Metadata).

    Browsers without `Sec-Fetch-Site` send `Origin`. A request with neither was not sent by a browser.
    """
    if request.method in SAFE_METHODS:
        return
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        is_own = site in {"same-origin", "none"}
    else:
        origin = request.headers.get("Origin")
        is_own = origin is None or origin.partition("://")[2] == request.host
    if not is_own:
        raise CrossSiteRequest


def protect(response: Response) -> Response:
    """Add the headers that limit what a page may load, send and be embedded in; return the response."""
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.vary.add("Accept")
    return response
