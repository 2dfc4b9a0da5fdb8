"""`flask webhooks`: lists deliveries and their attempts, and replays them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from app.features.webhooks import attempts as webhook_attempts
from app.features.webhooks import delivery_log
from app.features.webhooks.delivery_log import WebhookStatus
from app.infra.database import database_clock
from app.infra.database.session import Session
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.tables import table
from cli.workspaces import find

group = DatabaseGroup("webhooks", help="List webhook deliveries and replay them.")
COLUMNS = ("id", "job", "host", "tries", "state", "next_at", "type", "event")
ATTEMPT_COLUMNS = ("attempted_at", "state", "status", "error", "latency_ms")
workspace_option = click.option("--workspace", help="Only webhooks of this workspace (id or name).")


def _in_utc(_context: click.Context, _option: click.Parameter, value: datetime | None) -> datetime | None:
    return value and value.replace(tzinfo=UTC)


@group.command("list")
@workspace_option
@click.option("--failed", is_flag=True, help="Only failed ones: abandoned, or waiting for a retry.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Maximum number.")
@as_json_option
def list_latest(workspace: str | None, *, failed: bool, limit: int, as_json: bool) -> None:
    """List the latest webhooks, newest first."""
    with database().reading() as session:
        workspace_id = find(session, workspace).id if workspace else None
        statuses = delivery_log.latest(session, workspace_id=workspace_id, failed=failed, limit=limit)
    rows = [_to_json(status) for status in statuses]
    show({"webhooks": rows}, _table(rows) if rows else "There are no matching webhooks.", as_json=as_json)


@group.command("show")
@click.argument("webhook_id", metavar="ID")
@as_json_option
def show_webhook(webhook_id: str, *, as_json: bool) -> None:
    """Show the webhook ID and its attempts of the last 30 days.

    The state of an attempt is delivered, failed, running, or lost (its worker died, so the outcome is
    unknown).
    """
    with database().reading() as session:
        status = delivery_log.get(session, webhook_id)
        attempts = webhook_attempts.list_for_webhook(session, webhook_id)
        now = database_clock.value(session)
    if status is None:
        raise _unknown(webhook_id)
    webhook = _to_json(status)
    log = [webhook_attempts.to_public(attempt, now=now) for attempt in attempts]
    lines = [_table([webhook]), table(ATTEMPT_COLUMNS, ([*row.values()] for row in log))]
    show({"webhook": webhook, "attempts": log}, "\n\n".join(lines), as_json=as_json)


@group.command()
@click.argument("webhook_ids", nargs=-1, metavar="[ID]...")
@click.option("--failed", is_flag=True, help="All failed webhooks of jobs and events since --since.")
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%SZ"]),
    callback=_in_utc,
    help="Date or time in UTC.",
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
    """Replay webhooks: those with an ID, or all failed ones with --failed --since.

    Each is sent at once with its original id, so that a receiver can ignore duplicates, and with a new series
    of retries.
    """
    if webhook_ids and not (failed or since or workspace):
        replayed = _replay(webhook_ids)
    elif failed and since and not webhook_ids:
        replayed = _replay_failed(since, workspace)
    else:
        raise click.UsageError("Specify IDs, or --failed with --since.")
    show({"replayed": replayed}, f"Queued for delivery: {len(replayed)}.", as_json=as_json)


def _replay(webhook_ids: tuple[str, ...]) -> list[str]:
    """Replay all of them, or none if one is unknown."""
    with database().transaction() as session:
        replayed = delivery_log.replay(session, webhook_ids, now=database_clock.now())
        for unknown in set(webhook_ids).difference(replayed):
            raise _not_replayed(session, unknown)
    return replayed


def _not_replayed(session: Session, webhook_id: str) -> click.ClickException:
    if delivery_log.get(session, webhook_id) is None:
        return _unknown(webhook_id)
    return click.ClickException(f"The endpoint of {webhook_id} is disabled. Its admin must enable it first.")


def _replay_failed(since: datetime, workspace: str | None) -> list[str]:
    with database().transaction() as session:
        workspace_id = find(session, workspace).id if workspace else None
        return delivery_log.replay_failed(
            session, workspace_id=workspace_id, since=since, now=database_clock.now()
        )


def _to_json(status: WebhookStatus) -> dict[str, Any]:
    """Return the webhook; the words of its state are those that the command has always printed."""
    webhook = {"workspace_id": status.webhook.workspace_id, **status.to_public()}
    return webhook | {"state": status.state.value.replace("_", " ")}


def _table(webhooks: list[dict[str, Any]]) -> str:
    cells = ("id", "job_id", "host", "attempts", "state", "next_at", "type", "event_id")
    return table(COLUMNS, ([row[cell] for cell in cells] for row in webhooks))


def _unknown(webhook_id: str) -> click.ClickException:
    return click.ClickException(
        f"There is no webhook {webhook_id!r}. List webhooks with: flask webhooks list"
    )
