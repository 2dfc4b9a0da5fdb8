"""HTML pages for visitors with a browser: self-contained, without scripts, in light and dark colours.

A browser prefers `text/html` and gets a page; other clients get JSON. Paths under `/api` never return pages.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

from flask import Response, request

API = "/api/"
TYPES = ("application/json", "application/problem+json", "text/html")
_STYLE = """
:root { color-scheme: light dark; background: Canvas; color: CanvasText }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 3rem 1rem }
h1 { line-height: 1.25 }
code { font-size: .95em; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% }
th, td { text-align: start; vertical-align: top; padding: .4rem .8rem .4rem 0 }
tr { border-bottom: 1px solid GrayText }
a:focus-visible { outline: 2px solid; outline-offset: 2px }
nav { margin-top: 3rem }
nav a { margin-inline-end: 1.5rem }
"""
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{content}
</main>
<nav aria-label="Service">
<a href="/">Start</a>
<a href="/manual/">Manual</a>
<a href="/docs">API documentation</a>
<a href="/problems">Problems</a>
</nav>
</body>
</html>
"""


def can_render_html() -> bool:
    """Return whether a browser would get a page for this request."""
    return request.method in {"GET", "HEAD"} and not request.path.startswith(API)


def prefers_html() -> bool:
    """Return whether the response to this request is a page."""
    return can_render_html() and request.accept_mimetypes.best_match(TYPES) == "text/html"


def page(title: str, content: str, status: int = 200) -> Response:
    """Return a page; `content` is HTML, and `title` is plain text."""
    html = _PAGE.format(title=escape(title), style=_STYLE, content=content)
    response = Response(html, status=status, mimetype="text/html")
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    return vary(response)


def vary(response: Response) -> Response:
    """Add Accept to the Vary header, also for JSON, and return the response."""
    response.vary.add("Accept")
    return response
