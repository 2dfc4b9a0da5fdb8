"""The account of a CRM, such as a HubSpot portal, to which the credentials of a connection belong.

A connection keeps the ids of records, so it works with one account only: in another one, they are other
people's.
"""

from __future__ import annotations

from app.features.crm.vendors.errors import AccessRefused, Rejected, Unreachable
from app.features.crm.vendors.exchange import Send
from app.features.crm.vendors.vendor import Crm

UNKNOWN = ""
"""The CRM does not say to which account the credentials belong."""


def read(crm: Crm, send: Send, token: str) -> str | None:
    """Return the account of the credentials, `UNKNOWN` if they may not read it; None without an answer."""
    try:
        return crm.account(send, token) or UNKNOWN
    except (AccessRefused, Rejected):
        return UNKNOWN
    except Unreachable:
        return None


def compare(known: str | None, account: str | None) -> None:
    """Return if the credentials belong to the account of the connection, or it has none yet.

    Raises:
        AccessRefused: they belong to another account, or the CRM no longer says to which.
        Unreachable: it can be tried again.

    """
    if not known or known == account:
        return
    if account is None:
        raise Unreachable("account_unknown")
    raise AccessRefused("other_account" if account else "account_unknown")
