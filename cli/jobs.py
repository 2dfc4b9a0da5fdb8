"""`flask jobs`: jobs and their receipts. Never prints contact data."""

from __future__ import annotations

from typing import Any

import click
from sqlalchemy import select

from app.domain.kinds import Status
from app.engine.jobs import jobs
from app.engine.jobs.jobs import Job, JobItem
from app.infra.clock import rfc3339
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.tables import table
from cli.workspaces import find

group = DatabaseGroup("jobs", help="Show jobs and their receipts.")
COLUMNS = ("id", "workspace_id", "kind", "status", "outcome", "charged", "created_at")
TRACE = ("item", "field", "provider", "outcome", "status", "latency_ms", "cost", "at")
"""The fields of a trace line that are printed; others may hold contact data."""
ITEM = ("index", "outcome", "charged", "error")


@group.command("list")
@click.option("--workspace", help="Only jobs of this workspace (id or name).")
@click.option(
    "--status", type=click.Choice([status.value for status in Status]), help="Only jobs with this status."
)
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Maximum number of jobs."
)
@as_json_option
def list_latest(workspace: str | None, *, status: str | None, limit: int, as_json: bool) -> None:
    """List the latest jobs, newest first."""
    query = select(Job).order_by(Job.id.desc()).limit(limit)
    with database().reading() as session:
        if workspace is not None:
            query = query.where(Job.workspace_id == find(session, workspace).id)
        if status is not None:
            query = query.where(Job.status == status)
        rows = [_to_json(job) | {"charged": job.charged} for job in session.scalars(query)]
    lines = table(COLUMNS, ([job[name] for name in COLUMNS] for job in rows))
    show({"jobs": rows}, lines if rows else "There are no matching jobs.", as_json=as_json)


@group.command("show")
@click.argument("job_id", metavar="ID")
@as_json_option
def show_job(job_id: str, *, as_json: bool) -> None:
    """Show the job ID and its receipt: providers called, their outcomes, and their cost in vendor credits."""
    with database().reading() as session:
        job = session.get(Job, job_id)
        items = jobs.items(session, job_id)
    if job is None:
        raise click.ClickException(f"There is no job {job_id!r}. List jobs with: flask jobs list")
    receipt = {
        "job": _to_json(job) | {"attempts": job.attempts, "crashes": job.crashes, "error": _error(job)},
        "credits": _credits(job),
        "trace": [{name: line[name] for name in TRACE if name in line} for line in job.trace],
        "items": [_item(item) for item in items],
    }
    show(receipt, _page(receipt), as_json=as_json)


def _to_json(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "workspace_id": job.workspace_id,
        "kind": job.kind,
        "status": job.status,
        "outcome": job.outcome,
        "created_at": rfc3339(job.created_at),
        "finished_at": rfc3339(job.finished_at),
    }


def _credits(job: Job) -> dict[str, Any]:
    """Return where the held credits are; a finished job has released the remainder."""
    remainder = job.held - job.charged
    return {
        "held": job.held,
        "charged": job.charged,
        "refunded": remainder if job.finished_at else 0,
        "reserved": 0 if job.finished_at else remainder,
        "already_owned": job.already_owned,
    }


def _item(item: JobItem) -> dict[str, Any]:
    return {"index": item.index, "outcome": item.outcome, "charged": item.charged, "error": _error(item)}


def _error(row: Job | JobItem) -> dict[str, Any] | None:
    """Return code and title of the problem; its detail may quote the request."""
    return row.error and {name: row.error[name] for name in ("code", "title") if name in row.error}


def _page(receipt: dict[str, Any]) -> str:
    """Format the receipt as text: the job, the providers called, and the items of an enrichment."""
    facts = [(name, _plain(value)) for name, value in (receipt["job"] | receipt["credits"]).items()]
    calls = [[_plain(line.get(name)) for name in TRACE] for line in receipt["trace"]]
    items = [[_plain(item[name]) for name in ITEM] for item in receipt["items"]]
    parts = [table(("", ""), facts).strip("\n")]
    parts.append(table(TRACE, calls) if calls else "No provider was called.")
    if items:
        parts.append(table(ITEM, items))
    return "\n\n".join(parts)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return value.get("code")
    return f"{value:g}" if isinstance(value, float) else value
