"""Workers and providers: who lives, and whether the orders of the settings make sense."""

from __future__ import annotations

from collections.abc import Iterator

from app.cli.checks.findings import Finding, error, note, ok
from app.cli.elsewhere import loaded_providers
from app.core import workers
from app.core.workers import State
from app.domain.errors import Unavailable
from app.infra import database_clock
from app.infra.db import Database
from app.settings import Settings, SettingsError


def living(url: str) -> Iterator[Finding]:
    """See who works; the tables must be there."""
    database = Database(url)
    try:
        with database.reading() as session:
            now = database_clock.value(session)
            found = [row for row in workers.known(session) if workers.state(row, now=now) is not State.SILENT]
    except Unavailable:
        return
    finally:
        database.engine.dispose()
    if found:
        queues = sorted({str(queue) for row in found for queue in row.queues})
        yield ok("workers", f"{len(found)} for {', '.join(queues)}")
    else:
        yield note(
            "workers", "none runs now", "start the Procfile: honcho start, or systemd (docs/install.md)"
        )


def providers(settings: Settings) -> Iterator[Finding]:
    """Examine what the settings say of providers; nobody is asked anything."""
    try:
        names = loaded_providers(settings)
    except SettingsError as fault:
        yield error("providers", str(fault), "see Providers in README.md; flask providers check asks each")
        return
    if names is None:
        yield note("providers", "the workers are not installed here")
    else:
        yield ok("providers", f"asked for e-mails: {', '.join(names) or 'nobody'}")
