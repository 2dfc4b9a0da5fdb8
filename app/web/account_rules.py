"""Which accounts an admin may change and create: those of the workspace, within what it owns."""

from __future__ import annotations

from app.domain.normal.emails import email_reasons
from app.engine.accounts import accounts, workspaces
from app.infra.database.session import Session
from app.web.feature import owns_domain
from app.web.services import services


def may_change(email: str, *, by_operator: bool) -> bool:
    """Return whether an admin may change the account with this address: none may keep an operator out."""
    return by_operator or not services().settings.is_operator(email)


def may_have(session: Session, workspace_id: str, address: str) -> bool:
    """Return whether admins may give an account this address, whether or not somebody has it.

    Who owns the address would sign in to the account with a company account. And an admin who could try every
    address would learn who has an account in another workspace. So only operators create accounts of domains
    that the workspace does not use yet, or that another workspace uses, too.
    """
    if services().settings.is_operator(address):
        return False
    domain = address.rpartition("@")[2]
    users = accounts.workspaces_of_domain(session, domain)
    if users - {workspace_id}:
        return False
    is_owned = owns_domain(session, workspace_id, domain)
    if is_owned is not None:
        return is_owned
    is_company = not {"webmail", "disposable"}.intersection(email_reasons(address))
    return (is_company and bool(users)) or not workspaces.are_several(session)
