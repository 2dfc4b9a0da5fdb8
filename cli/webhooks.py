"""`flask webhooks`: who was told that a job is over, who was not and why, and telling them again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import click

from app.core.jobs import webhook_admin, webhook_attempts
from app.core.jobs.webhook_admin import WebhookStatus
from app.core.jobs.webhook_attempts import WebhookAttempt
from app.infra import database_clock
from app.infra.clock import rfc3339
from cli.tables import table
from cli.workspaces import DatabaseGroup, as_json_option, database, find, show

group = DatabaseGroup("webhooks", help="See how webhooks were delivered, and deliver them again.")
COLUMNS = ("id", "job", "host", "tries", "state", "next_at")
ATTEMPT_COLUMNS = ("attempted_at", "state", "status", "error", "latency_ms")
workspace_option = click.option("--workspace", help="Only those of this workspace, an id or a name.")


def _moment(_context: click.Context, _option: click.Parameter, said: datetime | None) -> datetime | None:
    return said and said.replace(tzinfo=UTC)


@group.command("list")
@workspace_option
@click.option("--failed", is_flag=True, help="Only those given up, or tried in vain and waiting.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many.")
@as_json_option
def list_latest(workspace: str | None, *, failed: bool, limit: int, as_json: bool) -> None:
    """List the latest webhooks, newest first."""
    with database().reading() as session:
        workspace_id = find(session, workspace).id if workspace else None
        sights = webhook_admin.latest(session, workspace_id=workspace_id, failed=failed, limit=limit)
    listed = [_described(sight) for sight in sights]
    show({"webhooks": listed}, _table(listed) if listed else "There are no such webhooks.", as_json=as_json)


@group.command("show")
@click.argument("webhook_id", metavar="ID")
@as_json_option
def show_webhook(webhook_id: str, *, as_json: bool) -> None:
    """Show the webhook ID and its log: every attempt of the last 30 days.

    The state of an attempt is delivered, failed, running, or lost: its worker died, and whether the
    receiver took it is not known.
    """
    with database().reading() as session:
        sight = webhook_admin.get(session, webhook_id)
        attempts = webhook_attempts.of_webhook(session, webhook_id)
        now = database_clock.value(session)
    if sight is None:
        raise _unknown(webhook_id)
    webhook = _described(sight)
    log = [_attempt(attempt, now=now) for attempt in attempts]
    lines = [_table([webhook]), table(ATTEMPT_COLUMNS, ([*one.values()] for one in log))]
    show({"webhook": webhook, "attempts": log}, "\n\n".join(lines), as_json=as_json)


@group.command()
@click.argument("webhook_ids", nargs=-1, metavar="[ID]...")
@click.option("--failed", is_flag=True, help="All that failed of the jobs over --since then.")
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%SZ"]),
    callback=_moment,
    help="A day or a time, in UTC.",
)
@workspace_option
@as_json_option
def replay(
    webhook_ids: tuple[str, ...],
    *,
    failed: bool,
    since: datetime | None,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Deliver webhooks again: those with an ID, or with --failed --since all that failed.

    Each goes out at once with the id it always had, so that a receiver can leave out what it has, and with a
    fresh run of tries.
    """
    if webhook_ids and not (failed or since or workspace):
        replayed = _replay(webhook_ids)
    elif failed and since and not webhook_ids:
        replayed = _replay_failed(since, workspace)
    else:
        raise click.UsageError("Give ids, or --failed and --since.")
    show({"replayed": replayed}, f"To be delivered again: {len(replayed)}.", as_json=as_json)


def _replay(webhook_ids: tuple[str, ...]) -> list[str]:
    """Replay all of them or, if one is not known, none."""
    with database().transaction() as session:
        replayed = webhook_admin.replay(session, webhook_ids, now=database_clock.now())
        for unknown in set(webhook_ids).difference(replayed):
            raise _unknown(unknown)
    return replayed


def _replay_failed(since: datetime, workspace: str | None) -> list[str]:
    with database().transaction() as session:
        workspace_id = find(session, workspace).id if workspace else None
        return webhook_admin.replay_failed(
            session, workspace_id=workspace_id, since=since, now=database_clock.now()
        )


def _described(sight: WebhookStatus) -> dict[str, Any]:
    """Write a webhook without its path and query: receivers keep secrets in them."""
    return {
        "id": sight.webhook.id,
        "workspace_id": sight.workspace_id,
        "job_id": sight.webhook.job_id,
        "host": urlsplit(sight.webhook.url).hostname,
        "attempts": sight.webhook.attempts,
        "state": sight.state.value,
        "next_at": rfc3339(sight.next_at),
        "delivered_at": rfc3339(sight.webhook.delivered_at),
    }


def _attempt(attempt: WebhookAttempt, *, now: datetime) -> dict[str, Any]:
    return {
        "attempted_at": rfc3339(attempt.attempted_at),
        "state": webhook_attempts.state(attempt, now=now).value,
        "status": attempt.status,
        "error": attempt.error,
        "latency_ms": attempt.latency_ms,
    }


def _table(webhooks: list[dict[str, Any]]) -> str:
    cells = ("id", "job_id", "host", "attempts", "state", "next_at")
    return table(COLUMNS, ([webhook[cell] for cell in cells] for webhook in webhooks))


def _unknown(webhook_id: str) -> click.ClickException:
    return click.ClickException(f"There is no webhook {webhook_id!r}. See them with: flask webhooks list")
