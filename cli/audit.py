"""`flask audit`: whether what the ledger, the jobs and the reveals say fits together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict

import click
from rich.console import Console
from rich.progress import track

from app.api.http.services import services
from app.core.audit import audits
from app.core.audit.audits import AuditScope, RuleResult
from app.core.audit.invariants import RULES
from app.infra import database_clock
from cli.tables import table
from cli.workspaces import DatabaseGroup, as_json_option, database, find, show

group = DatabaseGroup("audit", help="Look for faults in what is stored.")
FAULT = ("rule", "id", "expected", "found")


@group.command()
@click.option("--workspace", help="Only this one, an id or a name; such an audit is not written down.")
@as_json_option
def ledger(workspace: str | None, *, as_json: bool) -> None:
    """Look at every rule of credits, jobs and reveals, while they are at work; exit 1 if one is broken."""
    started = time.monotonic()
    stuck_after = audits.stuck_after(services().settings)
    with database().reading(no_deadline=True) as session:
        audits.use_repeatable_read(session)
        now = database_clock.value(session)
        workspace_id = None if workspace is None else find(session, workspace).id
        extent = audits.scope(session, workspace_id)
        checks = audits.check(session, stuck_after=stuck_after, now=now, workspace_id=workspace_id)
        progress = Console(stderr=True)
        checked = list(
            track(checks, "Looking", len(RULES), console=progress, transient=True, disable=as_json)
            if progress.is_terminal
            else checks
        )
    milliseconds = round((time.monotonic() - started) * 1000)
    if workspace_id is None:
        with database().transaction() as session:
            audit_id = audits.add(session, now=now)
            audits.finish(session, audit_id, extent, checked, milliseconds=milliseconds, now=now)
    show(_described(extent, checked, milliseconds), _page(extent, checked, milliseconds), as_json=as_json)
    if any(one.faults for one in checked):
        raise SystemExit(1)


def _described(extent: AuditScope, checked: Sequence[RuleResult], milliseconds: int) -> dict[str, object]:
    return {
        "ok": not any(one.faults for one in checked),
        **asdict(extent),
        "rules": len(checked),
        "milliseconds": milliseconds,
        "faults": [
            asdict(fault) | {"next_step": one.rule.next_step} for one in checked for fault in one.faults
        ],
    }


def _page(extent: AuditScope, checked: Sequence[RuleResult], milliseconds: int) -> str:
    """Lay out the verdict on each rule, then each fault, what to do about it, and how much was looked at."""
    verdicts = [(_verdict(one), one.rule.name, one.rule.says, f"{one.milliseconds} ms") for one in checked]
    parts = [table(("", "rule", "says that", "took"), verdicts)]
    broken = [one for one in checked if one.faults]
    if broken:
        faults = [[getattr(fault, name) for name in FAULT] for one in broken for fault in one.faults]
        parts.append(table(FAULT, faults))
        parts.append(
            table(("rule", "what to do next"), [(one.rule.name, one.rule.next_step) for one in broken])
        )
    parts.append(_sum(extent, checked, milliseconds))
    return "\n\n".join(parts)


def _verdict(one: RuleResult) -> str:
    if len(one.faults) < audits.MAX_VIOLATIONS:
        return "ok" if not one.faults else f"{len(one.faults)} broken"
    return f"{audits.MAX_VIOLATIONS} or more broken"


def _sum(extent: AuditScope, checked: Sequence[RuleResult], milliseconds: int) -> str:
    broken = sum(1 for one in checked if one.faults)
    rows = extent.workspaces + extent.jobs + extent.entries
    verdict = f"{broken} of {len(checked)} rules are broken" if broken else f"All {len(checked)} rules hold"
    return (
        f"{verdict}: {extent.workspaces} workspaces, {extent.jobs} jobs and {extent.entries} entries of the "
        f"ledger, in {milliseconds} ms ({rows * 1000 // max(milliseconds, 1)} rows/s)."
    )
