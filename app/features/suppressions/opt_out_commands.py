"""`flask suppressions review`, `accept` and `dismiss`: the opt-outs that providers reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from flask.cli import with_appcontext

from app.domain.ids import is_id
from app.engine.providers import provider_opt_outs
from app.engine.providers.provider_opt_outs import ProviderOptOut
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.session import Session
from cli.groups.command_group import as_json_option, database, show
from cli.tables import table


@click.command()
@with_appcontext
@click.option("--all", "all_states", is_flag=True, help="Include accepted and dismissed opt-outs.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="Maximum number.")
@as_json_option
def review(*, all_states: bool, limit: int, as_json: bool) -> None:
    """List the opt-outs that providers reported, newest first.

    If the provider was called with a single identifier, that identifier is on the suppression list (listed).
    Otherwise (open) nothing is suppressed: only that job ended, and the provider is not called again for the
    same request. Accept an opt-out to hide the person's e-mail or profile from every workspace; dismiss it to
    allow calls again.
    """
    with database().reading() as session:
        opt_outs = provider_opt_outs.latest(session, all_states=all_states, limit=limit)
    body = {"opt_outs": [_to_json(row) for row in opt_outs]}
    show(body, _review_page(opt_outs), as_json=as_json)


@click.command()
@with_appcontext
@click.argument("opt_out")
@as_json_option
def accept(opt_out: str, *, as_json: bool) -> None:
    """Suppress the single e-mail or profile of OPT_OUT, an id that 'review' lists."""
    with database().transaction() as session:
        row = _opt_out(session, opt_out)
        if not provider_opt_outs.accept(session, row, now=database_clock.value(session)):
            raise click.ClickException(
                "The provider was called with no e-mail or profile, or with several, so the person who opted "
                "out is unknown. Ask the provider, then use: flask suppressions add"
            )
        body = _to_json(row)
    show(body, f"Accepted {opt_out}: its {row.kind} is on the suppression list.", as_json=as_json)


@click.command()
@with_appcontext
@click.argument("opt_out")
@as_json_option
def dismiss(opt_out: str, *, as_json: bool) -> None:
    """Allow provider calls for OPT_OUT again, and remove its entry from the suppression list."""
    with database().transaction() as session:
        row = _opt_out(session, opt_out)
        removed = provider_opt_outs.dismiss(session, row, now=database_clock.value(session))
        body = _to_json(row) | {"removed": removed}
    effect = "Its value is no longer suppressed." if removed else "The suppression list is unchanged."
    show(body, f"Dismissed {opt_out}. {effect}", as_json=as_json)


def _opt_out(session: Session, opt_out_id: str) -> ProviderOptOut:
    """Return the opt-out."""
    row = provider_opt_outs.get(session, opt_out_id) if is_id(opt_out_id, "opt") else None
    if row is None:
        raise click.ClickException(
            "There is no opt-out with this id. List them with: flask suppressions review --all"
        )
    return row


def _to_json(opt_out: ProviderOptOut) -> dict[str, Any]:
    return {
        "id": opt_out.id,
        "provider": opt_out.provider,
        "field": opt_out.field,
        "asked_by": opt_out.asked_by,
        "identifier": opt_out.kind,
        "state": opt_out.state,
        "created_at": clock.rfc3339(opt_out.created_at),
        "reviewed_at": clock.rfc3339(opt_out.reviewed_at),
    }


def _review_page(opt_outs: Sequence[ProviderOptOut]) -> str:
    if not opt_outs:
        return "No provider reported an opt-out."
    columns = ("id", "provider", "field", "asked_by", "identifier", "state", "created_at")
    rows = [_to_json(opt_out) | {"asked_by": ", ".join(opt_out.asked_by)} for opt_out in opt_outs]
    return table(columns, [[row[name] for name in columns] for row in rows])
