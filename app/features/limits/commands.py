"""`flask limits`: limit what accounts and API keys may spend."""

from __future__ import annotations

from typing import Any

import click
from sqlalchemy import select

from app.domain.errors import InvalidValue, NotFound
from app.domain.normal.emails import normal_email
from app.domain.spending import Period
from app.engine.accounts import accounts, workspaces
from app.engine.accounts.accounts import Account
from app.engine.accounts.api_keys import ApiKey
from app.engine.accounts.workspaces import Workspace
from app.engine.ledger import limit_settings
from app.engine.ledger.limit_settings import MAX_LIMIT, LimitSubject, SubjectLimit
from app.infra.database import database_clock
from app.infra.database.session import Session
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.tables import table
from cli.workspaces import find

COLUMNS = ("subject", "name", "period", "credits", "spent", "held", "left", "resets")
group = DatabaseGroup("limits", help="Limit what accounts and API keys may spend.")
period_option = click.option(
    "--period",
    type=click.Choice([period.value for period in Period]),
    default=Period.MONTH.value,
    show_default=True,
    help="A calendar month (UTC), or all time; an account has only a monthly limit.",
)


@group.command("set")
@click.argument("subject")
@click.argument("amount", type=click.IntRange(0, MAX_LIMIT))
@period_option
@as_json_option
def set_limit(subject: str, amount: int, period: str, *, as_json: bool) -> None:
    """Limit SUBJECT, the e-mail of an account or the id of an account or API key, to AMOUNT credits."""
    _put(subject, Period(period), amount, as_json=as_json)


@group.command()
@click.argument("subject")
@period_option
@as_json_option
def remove(subject: str, period: str, *, as_json: bool) -> None:
    """Remove the limit of SUBJECT, the e-mail of an account or the id of an account or API key."""
    _put(subject, Period(period), None, as_json=as_json)


@group.command("list")
@click.argument("workspace", required=False)
@as_json_option
def list_all(workspace: str | None, *, as_json: bool) -> None:
    """List the limits of WORKSPACE (id or name), or of all workspaces, and their use."""
    limited = select(Workspace).where(Workspace.is_limited).order_by(Workspace.name, Workspace.id)
    with database().reading() as session:
        now = database_clock.value(session)
        listed = [find(session, workspace)] if workspace else session.scalars(limited).all()
        limits = [limit for one in listed for limit in limit_settings.in_force(session, one.id, now=now)]
    _show(limits, as_json=as_json)


def _put(subject: str, period: Period, amount: int | None, *, as_json: bool) -> None:
    with database().transaction() as session:
        workspace_id, found = _find(session, subject)
        if found.type == "account" and period is Period.TOTAL:
            raise click.ClickException("An account has a monthly limit only. Use --period month.")
        workspaces.lock(session, [workspace_id])
        now = database_clock.value(session)
        limit_settings.put(session, workspace_id, found, period, amount, now=now)
        limits = limit_settings.in_force(session, workspace_id, now=now, subject_ids=[found.id])
    _show(limits, as_json=as_json)


def _find(session: Session, subject: str) -> tuple[str, LimitSubject]:
    """Return the workspace and the subject."""
    key = session.get(ApiKey, subject)
    account = session.get(Account, key.account_id if key else subject) or _by_email(session, subject)
    if account is not None:
        try:
            found = limit_settings.subject(session, account.workspace_id, key.id if key else account.id)
        except NotFound:  # a revoked key
            pass
        else:
            return account.workspace_id, found
    message = f"There is no account or API key {subject!r}. List accounts with: flask accounts list"
    raise click.ClickException(message)


def _by_email(session: Session, text: str) -> Account | None:
    try:
        return accounts.by_email(session, normal_email(text))
    except InvalidValue:
        return None


def _show(limits: list[SubjectLimit], *, as_json: bool) -> None:
    rows = [_cells(limit) for limit in limits]
    shown = [limit_settings.to_public(limit) for limit in limits]
    show({"limits": shown}, table(COLUMNS, rows) if rows else "There are no limits.", as_json=as_json)


def _cells(limit: SubjectLimit) -> tuple[Any, ...]:
    usage = limit.usage
    amounts = (usage.credits, usage.spent, usage.held, usage.left)
    resets_at = usage.resets_at and usage.resets_at.date()
    return (limit.subject.id, limit.subject.name, usage.period.value, *amounts, resets_at)
