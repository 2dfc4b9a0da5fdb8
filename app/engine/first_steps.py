"""What a new workspace has done so far, for the page that shows its first steps."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import BindParameter, bindparam, exists, select

from app.engine.accounts.accounts import Account
from app.engine.accounts.sessions import LoginSession
from app.engine.contacts.contacts import Contact
from app.engine.ledger.reveals import Reveal
from app.infra.database.session import Session

EXTENSION = "extension"
"""The name with which the extension signs in."""


class Done(NamedTuple):
    """What is done.

    The account has signed in with the extension, the workspace has revealed a value and has another account,
    and any contact is stored.
    """

    has_extension: bool
    has_revealed: bool
    has_colleagues: bool
    has_contacts: bool


_WORKSPACE: BindParameter[str] = bindparam("workspace_id")
_ACCOUNT: BindParameter[str] = bindparam("account_id")
_DONE = select(
    exists().where(LoginSession.account_id == _ACCOUNT, LoginSession.client_name == EXTENSION),
    exists().where(Reveal.workspace_id == _WORKSPACE),
    exists().where(Account.workspace_id == _WORKSPACE, Account.id != _ACCOUNT),
    exists(select(Contact.id)),
)


def done(session: Session, workspace_id: str, account_id: str) -> Done:
    """Return what has been done, in one statement that reads a row of each table at most."""
    row = session.execute(_DONE, {"workspace_id": workspace_id, "account_id": account_id}).one()
    return Done(*map(bool, row))
