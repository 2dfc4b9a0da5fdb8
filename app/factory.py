"""Put the application together: `create_app()` for the server, the workers' tools and the tests."""

from __future__ import annotations

import re
import secrets
import time

import click
from apiflask import APIFlask
from flask import Response, g, request
from structlog.contextvars import bind_contextvars, clear_contextvars
from werkzeug.middleware.proxy_fix import ProxyFix

from app import settings as app_settings
from app.api import (
    body,
    company_by_hash,
    cors,
    document,
    enrichment_request,
    errors,
    feedback,
    health,
    jobs,
    keys,
    leads_by_website_hash,
    linkedin_save,
    login,
    lookup,
    openapi,
    password,
    problems,
    reveal,
    session,
    sessions,
    start,
)
from app.api.answer import Machines
from app.api.hosts import require_host
from app.cli import (
    accounts,
    audit,
    companies,
    contacts,
    credits,
    database,
    suppressions,
    webhooks,
    workers,
    workspaces,
)
from app.cli import jobs as job_commands
from app.cli.doctor import doctor
from app.cli.elsewhere import providers
from app.cli.unconfigured import unconfigured
from app.domain.version import API_VERSION
from app.infra import log, metrics
from app.infra.db import Database
from app.infra.queue import Sender
from app.infra.ring import Ear
from app.infra.waiting_room import WaitingRoom
from app.settings import Settings, SettingsError

BLUEPRINTS = (
    login.blueprint,
    session.blueprint,
    lookup.blueprint,
    reveal.blueprint,
    enrichment_request.blueprint,
    linkedin_save.blueprint,
    company_by_hash.blueprint,
    leads_by_website_hash.blueprint,
    jobs.blueprint,
    feedback.blueprint,
    keys.blueprint,
    sessions.blueprint,
    password.blueprint,
    health.blueprint,
    problems.blueprint,
    start.blueprint,
)
COMMANDS: tuple[click.Command, ...] = (
    accounts.group,
    audit.group,
    companies.group,
    contacts.group,
    credits.group,
    database.group,
    doctor,
    job_commands.group,
    providers,
    suppressions.group,
    webhooks.group,
    workers.group,
    workspaces.group,
)
_SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}", re.ASCII)


def create_app(settings: Settings | None = None) -> APIFlask:
    """Make the application; without settings they are read from the environment.

    Raises:
        SettingsError: a setting is missing or makes no sense. (`flask` gets an application all the same,
            whose command `doctor` says what is wrong.)

    """
    try:
        settings = settings or app_settings.load()
        storage = Database(settings.database_url)
    except SettingsError as fault:
        if click.get_current_context(silent=True) is None:
            raise
        return unconfigured(fault, COMMANDS)
    log.configure(level=settings.log_level, style=settings.log_format)
    app = APIFlask(
        "app",
        title="Contact lookup",
        version="0.1.0",
        spec_path="/openapi.json",
        docs_path="/docs",
        static_folder=None,  # type: ignore[arg-type]  # Flask takes None for none
    )
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.config["MAX_CONTENT_LENGTH"] = body.READ_BYTES
    machines = Machines(
        settings,
        storage,
        Sender(settings.redis_url),
        Ear(settings.redis_url),
        WaitingRoom(),
    )
    app.extensions.update(machines=machines, settings=settings, database=machines.database)
    openapi.configure(app)
    document.write_once(app)
    app.url_map.merge_slashes = False  # or its redirects would be pages, and name the host they were sent
    app.before_request(_begin)
    app.before_request(require_host)
    app.after_request(_finish)
    errors.register(app)
    cors.register(app, settings.cors_origins)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    for command in COMMANDS:
        app.cli.add_command(command)
    if settings.trusted_proxies:
        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops)  # type: ignore[method-assign]
    return app


def _begin() -> None:
    sent = request.headers.get("X-Request-Id", "")
    g.started = time.monotonic()
    g.request_id = sent if _SANE_REQUEST_ID.fullmatch(sent) else f"req_{secrets.token_hex(12)}"
    clear_contextvars()
    bind_contextvars(request_id=g.request_id)


def _finish(response: Response) -> Response:
    response.headers["X-Request-Id"] = g.get("request_id", "")
    response.headers["API-Version"] = API_VERSION
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    if response.calculate_content_length() == 0:
        response.headers.pop("Content-Type", None)
    endpoint = request.url_rule.rule if request.url_rule else "none"
    metrics.REQUESTS.labels(endpoint=endpoint, status=response.status_code).inc()
    if "started" in g:
        metrics.REQUEST_SECONDS.labels(endpoint=endpoint).observe(time.monotonic() - g.started)
    return response
