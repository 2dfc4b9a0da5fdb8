"""Registration of the pages with the application; each subject is a blueprint in `BLUEPRINTS`."""

from __future__ import annotations

from pathlib import Path

from flask import Blueprint, Flask, Response

from app.pages import account, history, keys, search, sign_in, start
from app.pages.http import error_pages, messages, rendering

CACHE_SECONDS = 31_536_000
BLUEPRINTS = (
    sign_in.blueprint,
    start.blueprint,
    search.blueprint,
    history.blueprint,
    keys.blueprint,
    account.blueprint,
)
_FOLDER = Path(__file__).parent


def register(app: Flask, *, message_key: str) -> None:
    """Register the pages, their templates and their static files."""
    rendering.register(app)
    messages.register(app, message_key)
    error_pages.register(app)
    for blueprint in (_files(), *BLUEPRINTS):
        app.register_blueprint(blueprint)


def _files() -> Blueprint:
    """Return the blueprint of templates and static files, whose URLs change with their content."""
    files = Blueprint(
        "pages",
        __name__,
        root_path=str(_FOLDER),
        template_folder="templates",
        static_folder="static",
        static_url_path="/static",
    )

    @files.after_request
    def keep(response: Response) -> Response:
        response.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}, immutable"
        return response

    return files
