"""Builds the Flask application for gunicorn and the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiflask import APIFlask
from werkzeug.middleware.proxy_fix import ProxyFix

from app import settings as app_settings
from app.api import (
    company_by_hash,
    contacts,
    enrichment_request,
    events,
    jobs,
    keys,
    leads_by_website_hash,
    linkedin_save,
    login,
    lookup,
    password,
    reveal,
    session,
    sessions,
    sign_in_options,
    totp,
    workspace_jobs,
)
from app.api.docs import llms, openapi, problems
from app.api.ops import health
from app.domain.version import VERSION
from app.infra.telemetry import log
from app.pages import registration as pages
from app.settings import Settings
from app.web import admission, cors, costs, deprecation_headers, errors, lifecycle
from app.web.bodies import body, body_memory
from app.web.bodies.received_files import FileRequest
from app.web.feature import web_parts
from app.web.languages import negotiation
from app.web.services import AppServices

BLUEPRINTS = (
    sign_in_options.blueprint,
    login.blueprint,
    session.blueprint,
    lookup.blueprint,
    reveal.blueprint,
    enrichment_request.blueprint,
    linkedin_save.blueprint,
    company_by_hash.blueprint,
    leads_by_website_hash.blueprint,
    jobs.blueprint,
    workspace_jobs.blueprint,
    contacts.blueprint,
    keys.blueprint,
    sessions.blueprint,
    password.blueprint,
    events.blueprint,
    totp.blueprint,
    health.blueprint,
    problems.blueprint,
    llms.blueprint,
)


class Application(APIFlask):
    """The Flask application."""

    request_class = FileRequest

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function. Flask would examine 13 functions of each request; none of ours is async."""
        return func


def create_app(settings: Settings | None = None) -> APIFlask:
    """Return the application for these settings, by default the settings of the environment.

    Raises:
        SettingsError: a setting is missing or invalid.

    """
    settings = settings or app_settings.load()
    log.configure(level=settings.log_level, style=settings.log_format)
    app = Application(
        "app",
        title="Contact lookup",
        version=VERSION,
        spec_path="/openapi.json",
        docs_path="/docs",
        docs_oauth2_redirect_path=None,  # the API has bearer tokens only
        static_folder=None,  # type: ignore[arg-type]  # Flask takes None for none
    )
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.config["MAX_CONTENT_LENGTH"] = body.READ_BYTES
    app.extensions["services"] = AppServices.build(settings)
    openapi.configure(app)
    openapi.cache_spec(app)
    app.url_map.merge_slashes = False  # its redirects would be HTML and would echo the Host header
    lifecycle.register(app)
    deprecation_headers.register(app)
    body_memory.register(app)
    admission.register(app)
    errors.register(app)
    costs.register(app)
    negotiation.register(app)
    cors.register(app, settings.cors_origins)
    for blueprint in (*BLUEPRINTS, *(part for feature in web_parts() for part in feature.api)):
        app.register_blueprint(blueprint)
    pages.register(app, message_key=settings.secret_key)
    if settings.trusted_proxies:
        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops)  # type: ignore[method-assign]
    return app
