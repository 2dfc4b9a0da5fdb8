"""`flask audit`: checks that ledger, jobs and reveals are consistent; and the audit log."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict

import click
from rich.console import Console
from rich.progress import track

from app.engine.audit import audits, rule_checks
from app.engine.audit.invariants import RULES
from app.engine.audit.rule_checks import AuditScope, RuleResult
from app.infra.database import database_clock
from app.web.services import services
from cli import audit_log
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.tables import table
from cli.workspaces import find

group = DatabaseGroup("audit", help="Check the consistency of stored data, and the audit log.")
for _command in (audit_log.verify, audit_log.head, audit_log.export, audit_log.prune):
    group.add_command(_command)
FAULT = ("rule", "id", "expected", "found")


@group.command()
@click.option("--workspace", help="Only this workspace (id or name); such an audit is not stored.")
@as_json_option
def ledger(workspace: str | None, *, as_json: bool) -> None:
    """Check every invariant of credits, jobs and reveals while the service runs; exit 1 on a violation."""
    started = time.monotonic()
    stuck_after = rule_checks.stuck_after(services().settings)
    with database().reading(no_deadline=True) as session:
        rule_checks.use_repeatable_read(session)
        now = database_clock.value(session)
        workspace_id = None if workspace is None else find(session, workspace).id
        scope = rule_checks.scope(session, workspace_id)
        checks = rule_checks.check(session, stuck_after=stuck_after, now=now, workspace_id=workspace_id)
        progress = Console(stderr=True)
        checked = list(
            track(checks, "Checking", len(RULES), console=progress, transient=True, disable=as_json)
            if progress.is_terminal
            else checks
        )
    milliseconds = round((time.monotonic() - started) * 1000)
    if workspace_id is None:
        with database().transaction() as session:
            audit_id = audits.add(session, now=now)
            audits.finish(session, audit_id, scope, checked, milliseconds=milliseconds, now=now)
    show(_to_json(scope, checked, milliseconds), _page(scope, checked, milliseconds), as_json=as_json)
    if any(result.faults for result in checked):
        raise SystemExit(1)


def _to_json(scope: AuditScope, checked: Sequence[RuleResult], milliseconds: int) -> dict[str, object]:
    return {
        "ok": not any(result.faults for result in checked),
        **asdict(scope),
        "rules": len(checked),
        "milliseconds": milliseconds,
        "faults": [
            asdict(fault) | {"next_step": result.rule.next_step}
            for result in checked
            for fault in result.faults
        ],
    }


def _page(scope: AuditScope, checked: Sequence[RuleResult], milliseconds: int) -> str:
    """Format the result of each rule, the violations, the next steps and the number of rows checked."""
    verdicts = [
        (_verdict(result), result.rule.name, result.rule.description, f"{result.milliseconds} ms")
        for result in checked
    ]
    parts = [table(("", "rule", "description", "took"), verdicts)]
    broken = [result for result in checked if result.faults]
    if broken:
        faults = [[getattr(fault, name) for name in FAULT] for result in broken for fault in result.faults]
        parts.append(table(FAULT, faults))
        parts.append(
            table(
                ("rule", "what to do next"), [(result.rule.name, result.rule.next_step) for result in broken]
            )
        )
    parts.append(_summary(scope, checked, milliseconds))
    return "\n\n".join(parts)


def _verdict(result: RuleResult) -> str:
    if len(result.faults) < rule_checks.MAX_VIOLATIONS:
        return "ok" if not result.faults else f"{len(result.faults)} broken"
    return f"{rule_checks.MAX_VIOLATIONS} or more broken"


def _summary(scope: AuditScope, checked: Sequence[RuleResult], milliseconds: int) -> str:
    broken = sum(1 for result in checked if result.faults)
    rows = scope.workspaces + scope.jobs + scope.entries
    verdict = f"{broken} of {len(checked)} rules are broken" if broken else f"All {len(checked)} rules hold"
    return (
        f"{verdict}: {scope.workspaces} workspaces, {scope.jobs} jobs and {scope.entries} entries of the "
        f"ledger, in {milliseconds} ms ({rows * 1000 // max(milliseconds, 1)} rows/s)."
    )
