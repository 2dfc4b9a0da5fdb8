"""`python -m … <connections as JSON>`: connect workspaces to CRMs; a worker checks and reads them at once.

A connection has `workspace_id`, `vendor` and `url`. It prints nothing.
"""

from __future__ import annotations

import json
import secrets
import sys

from app.engine.accounts import accounts
from app.features.crm import connections
from app.features.crm.connections import Credentials
from app.features.crm.vendors import registry
from app.infra import clock
from cli.application import create_app


def main(wanted: str) -> int:
    """Store the connections."""
    services = create_app().extensions["services"]
    crms = registry.load(services.settings)
    with services.database.transaction() as session:
        for one in json.loads(wanted):
            account = accounts.of_workspace(session, one["workspace_id"])[0]
            connections.create(
                session,
                one["workspace_id"],
                vendor=one["vendor"],
                base_url=one["url"] if crms[one["vendor"]].needs_url else None,
                credentials=Credentials(token=secrets.token_hex()),
                mapping={},
                account_id=account.id,
                now=clock.now(),
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
