"""Registration of the pages with the application; each subject is a blueprint in `BLUEPRINTS`."""

from __future__ import annotations

from pathlib import Path

from flask import Blueprint, Flask, Response

from app.pages import (
    account,
    companies,
    contacts,
    events,
    history,
    home,
    keys,
    language,
    manual,
    search,
    sign_in,
    sign_in_code,
    start,
    two_factor,
)
from app.pages.admin import accounts as admin_accounts
from app.pages.admin import audit_log as admin_audit_log
from app.pages.admin import jobs as admin_jobs
from app.pages.admin import ledger as admin_ledger
from app.pages.admin import queues as admin_queues
from app.pages.admin import start as admin_start
from app.pages.admin import workspaces as admin_workspaces
from app.web.feature import web_parts
from app.web.pages import error_pages, messages, navigation, rendering

CACHE_SECONDS = 31_536_000
BLUEPRINTS = (
    sign_in.blueprint,
    sign_in_code.blueprint,
    start.blueprint,
    home.blueprint,
    search.blueprint,
    contacts.blueprint,
    companies.blueprint,
    history.blueprint,
    keys.blueprint,
    account.blueprint,
    language.blueprint,
    two_factor.blueprint,
    admin_start.blueprint,
    admin_accounts.blueprint,
    admin_jobs.blueprint,
    admin_ledger.blueprint,
    admin_audit_log.blueprint,
    admin_workspaces.blueprint,
    admin_queues.blueprint,
    events.blueprint,
    manual.blueprint,
)
_FOLDER = Path(__file__).parent


def register(app: Flask, *, message_key: str) -> None:
    """Register the pages, their templates and their static files."""
    rendering.register(app)
    messages.register(app, message_key)
    error_pages.register(app)
    features = web_parts()
    navigation.register(app, (entry for part in features for entry in part.navigation))
    for blueprint in (_files(), *BLUEPRINTS, *(page for part in features for page in part.pages)):
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
