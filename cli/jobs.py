"""`flask jobs`: what was asked, who was asked about it, and what it cost. Nobody's values are printed."""

from __future__ import annotations

from typing import Any

import click
from sqlalchemy import select

from app.core.jobs import jobs
from app.core.jobs.jobs import Job, JobItem
from app.domain.kinds import Status
from app.infra.clock import rfc3339
from cli.tables import table
from cli.workspaces import DatabaseGroup, as_json_option, database, find, show

group = DatabaseGroup("jobs", help="See jobs and their receipts.")
COLUMNS = ("id", "workspace_id", "kind", "status", "outcome", "charged", "created_at")
TRACE = ("item", "field", "provider", "outcome", "status", "latency_ms", "cost", "at")
"""What a line of the receipt may say, whatever else is stored with it."""
ITEM = ("index", "outcome", "charged", "error")


@group.command("list")
@click.option("--workspace", help="Only those of this workspace, an id or a name.")
@click.option("--status", type=click.Choice([status.value for status in Status]), help="Only in this state.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many.")
@as_json_option
def list_latest(workspace: str | None, *, status: str | None, limit: int, as_json: bool) -> None:
    """List the latest jobs, newest first."""
    query = select(Job).order_by(Job.id.desc()).limit(limit)
    with database().reading() as session:
        if workspace is not None:
            query = query.where(Job.workspace_id == find(session, workspace).id)
        if status is not None:
            query = query.where(Job.status == status)
        listed = [_described(job) | {"charged": job.charged} for job in session.scalars(query)]
    lines = table(COLUMNS, ([job[name] for name in COLUMNS] for job in listed))
    show({"jobs": listed}, lines if listed else "There are no such jobs.", as_json=as_json)


@group.command("show")
@click.argument("job_id", metavar="ID")
@as_json_option
def show_job(job_id: str, *, as_json: bool) -> None:
    """Show the job ID and its receipt: who was asked, with what outcome, at what cost in their credits."""
    with database().reading() as session:
        job = session.get(Job, job_id)
        items = jobs.items(session, job_id)
    if job is None:
        raise click.ClickException(f"There is no job {job_id!r}. See them with: flask jobs list")
    answer = {
        "job": _described(job) | {"attempts": job.attempts, "crashes": job.crashes, "error": _error(job)},
        "credits": _credits(job),
        "trace": [{name: line[name] for name in TRACE if name in line} for line in job.trace],
        "items": [_item(item) for item in items],
    }
    show(answer, _page(answer), as_json=as_json)


def _described(job: Job) -> dict[str, Any]:
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
    """Tell where the credits are that were set aside; a job that is over has given back what was left."""
    rest = job.held - job.charged
    return {
        "held": job.held,
        "charged": job.charged,
        "refunded": rest if job.finished_at else 0,
        "reserved": 0 if job.finished_at else rest,
        "already_owned": job.already_owned,
    }


def _item(item: JobItem) -> dict[str, Any]:
    return {"index": item.index, "outcome": item.outcome, "charged": item.charged, "error": _error(item)}


def _error(row: Job | JobItem) -> dict[str, Any] | None:
    """Give the problem's code and title; its detail may quote what was sent."""
    return row.error and {name: row.error[name] for name in ("code", "title") if name in row.error}


def _page(answer: dict[str, Any]) -> str:
    """Lay the receipt out for people: facts, who was asked, and an enrichment's items."""
    facts = [(name, _plain(value)) for name, value in (answer["job"] | answer["credits"]).items()]
    asked = [[_plain(line.get(name)) for name in TRACE] for line in answer["trace"]]
    items = [[_plain(item[name]) for name in ITEM] for item in answer["items"]]
    parts = [table(("", ""), facts).strip("\n")]
    parts.append(table(TRACE, asked) if asked else "Nobody was asked.")
    if items:
        parts.append(table(ITEM, items))
    return "\n\n".join(parts)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return value.get("code")
    return f"{value:g}" if isinstance(value, float) else value
