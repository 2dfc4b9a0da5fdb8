"""/manual/: the documentation as a site with search, built by `python3 dev.py manual` or with the image."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from flask import Response, send_from_directory
from werkzeug.exceptions import NotFound as FileNotFound

from app.domain.errors import NotFound
from app.domain.messages import Message
from app.web.pages.blueprint import PageBlueprint, protect

FOLDER = Path(__file__).parents[1] / "manual"
MANIFEST = "manifest.json"
_POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; script-src 'self' "
)

"""The search adds a style element; the pages contain nothing that a caller wrote."""

blueprint = PageBlueprint("manual", __name__)


@blueprint.get("/manual")
def add_slash() -> Response:
    """Redirect to the start page, whose relative links need the slash."""
    return protect(Response(status=308, headers={"Location": "/manual/"}))


@blueprint.get("/manual/")
@blueprint.get("/manual/<path:name>")
def file(name: str = "index.html") -> Response:
    """Return a file of the site."""
    policy = content_security_policy(FOLDER)
    try:
        response = send_from_directory(FOLDER, name, conditional=True, etag=True)
    except FileNotFound:
        raise NotFound(Message("The manual has no page {name}. Start at /manual/.", name=name)) from None
    protect(response).headers["Content-Security-Policy"] = policy
    response.headers["Cache-Control"] = "no-cache"
    return response


@cache
def content_security_policy(folder: Path) -> str:
    """Return the policy of the site in this folder; its inline scripts are allowed by their hashes."""
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except OSError:
        raise NotFound("This installation has no manual. Build it: python3 dev.py manual") from None
    return _POLICY + " ".join(f"'{digest}'" for digest in manifest["script_hashes"])
