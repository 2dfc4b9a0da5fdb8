"""Checks of workers and providers: live workers, and valid provider settings."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.errors import Unavailable
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import WorkerState
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.settings import Settings, SettingsError
from cli.checks.findings import Finding, error, note, ok, warning
from workers.providers import registry
from workers.providers.base import Provider, ProviderField, ProviderRequest
from workers.providers.sandbox import Sandbox
from workers.providers.website.provider import Website

WEBSITE_REMEDY = "set it to an address or a page of yours for the owners of websites, or remove website"
SANDBOX_REMEDY = f"before real use, remove {Sandbox.name} from the PROVIDERS_* settings"
KEY_REMEDY = "set them (flask providers check names the settings), or remove these providers"
_NOBODY = ProviderRequest(field=ProviderField.EMAIL, subject=Subject())


def worker_findings(url: str) -> Iterator[Finding]:
    """Check for live workers; the tables must exist."""
    database = Database(url)
    try:
        with database.reading() as session:
            now = database_clock.value(session)
            live = [
                row
                for row in worker_heartbeats.list_all(session)
                if worker_heartbeats.state(row, now=now) is not WorkerState.OFFLINE
            ]
    except Unavailable:
        return
    finally:
        database.close()
    if live:
        queues = sorted({str(queue) for row in live for queue in row.queues})
        yield ok("workers", f"{len(live)} for {', '.join(queues)}")
    else:
        yield note(
            "workers",
            "none is running",
            "start those of the Procfile: honcho start, or systemd (docs/install.md)",
        )


def provider_findings(settings: Settings) -> Iterator[Finding]:
    """Check the provider settings; no provider is called."""
    try:
        known = registry.load(settings)
        names = settings.providers("email")
    except SettingsError as fault:
        yield error("providers", str(fault), "see docs/providers.md; to test each key: flask providers check")
        return
    state = f"called for e-mails: {', '.join(names) or 'none'}"
    if Website.name in settings.provider_names:
        contact = settings.access(Website.name).contact
        if contact:
            yield ok("websites", f"read once in some days, with the contact {contact}")
        else:
            yield warning(
                "websites", "in an order of providers, but WEBSITE_CONTACT is empty", WEBSITE_REMEDY
            )
    keyless = [name for name in sorted(settings.provider_names) if _lacks_its_key(known[name])]
    if keyless:
        yield warning("provider keys", f"not set, so never called: {', '.join(keyless)}", KEY_REMEDY)
    if Sandbox.name in settings.provider_names:
        yield warning("providers", f"{state}; the sandbox invents people", SANDBOX_REMEDY)
    else:
        yield ok("providers", state)


def _lacks_its_key(provider: Provider) -> bool:
    """Return whether the provider is not configured; the website's contact has a finding of its own."""
    return provider.name != Website.name and provider.unavailability(_NOBODY) is TraceOutcome.UNCONFIGURED
