"""Records commands in the audit log, with the user of the operating system who called them."""

from __future__ import annotations

import functools
import os
import pwd
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import click
from flask.cli import with_appcontext
from sqlalchemy.exc import DatabaseError, ProgrammingError

from app.domain.audit_actions import Actor, ActorKind, Outcome
from app.domain.errors import Unavailable
from app.engine.audit_log import entries
from app.web.services import services

P = ParamSpec("P")
R = TypeVar("R")
NOT_RECORDED = frozenset(
    {
        "accounts.list",
        "accounts.sessions",
        "audit.head",
        "audit.ledger",
        "audit.verify",
        "backup.key",
        "backup.recover",
        "contacts.imports",
        "credits.show",
        "jobs.list",
        "limits.list",
        "providers.report",
        "webhooks.list",
        "webhooks.show",
        "workers.list",
        "workspaces.list",
    }
)
"""Commands that change nothing and show no data of contacts."""


def recorded(name: str, command: Callable[P, R]) -> Callable[P, R]:
    """Return the command, with an entry before it runs and one with its outcome; see NOT_RECORDED.

    A command also runs if the database has no audit log, because it may be the one that creates it.
    """
    if name in NOT_RECORDED:
        return command

    @with_appcontext
    @functools.wraps(command)
    def recording(*args: P.args, **kwargs: P.kwargs) -> R:
        services().database.actor = actor()
        is_recorded = _record(name, Outcome.STARTED)
        outcome = Outcome.FAILED
        try:
            result = command(*args, **kwargs)
            outcome = Outcome.SUCCEEDED
        except SystemExit as end:
            outcome = Outcome.FAILED if end.code else Outcome.SUCCEEDED
            raise
        finally:
            if not _record(name, outcome) and is_recorded:
                click.echo("The outcome could not be recorded in the audit log.", err=True)
        return result

    return recording


def actor() -> Actor:
    """Return the user of the operating system; with sudo also the user who called it."""
    user_id = os.getuid()
    try:
        name = pwd.getpwuid(user_id).pw_name
    except KeyError:  # in a container, the user may have no entry
        name = f"uid {user_id}"
    caller = os.environ.get("SUDO_USER", "") if user_id == 0 else ""
    return Actor(ActorKind.COMMAND, f"{name} (sudo: {caller})" if caller else name)


def _record(name: str, outcome: Outcome) -> bool:
    """Record the command; return False if the database cannot be used."""
    try:
        with services().database.transaction() as session:
            entries.record(session, f"command.{name}", outcome=outcome)
    except (Unavailable, ProgrammingError):
        return False
    except DatabaseError as error:
        if type(error) is not DatabaseError:  # of a damaged SQLite file, which a restore may replace
            raise
        return False
    return True
