"""Connects workspaces to CRMs; a worker checks and reads them at once."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence

from benchmarks.comparison.servers import Servers
from benchmarks.comparison.systems.product import Product
from tools.services import environment
from tools.services.processes import ServiceError
from tools.state import ROOT, State

MODULE = "benchmarks.crm_reading.seed"


def connect(shared: Servers, product: Product, wanted: Sequence[Mapping[str, str]]) -> None:
    """Store connections in the product's database; each has `workspace_id`, `vendor` and `url`.

    Raises:
        ServiceError: that failed.

    """
    state = State.open(shared.folder / product.name)
    env = environment.for_children(state, product.env, redis_url=product.env["REDIS_URL"])
    completed = subprocess.run(  # noqa: S603 -- this module
        [sys.executable, "-m", MODULE, json.dumps(wanted)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if completed.returncode:
        raise ServiceError(f"The CRMs could not be connected:\n{completed.stderr}")


def main(wanted: str) -> int:
    """Store the connections of the JSON text."""
    from app.engine.accounts import accounts  # noqa: PLC0415 -- `connect` needs no settings of the product
    from app.features.crm import connections  # noqa: PLC0415
    from app.features.crm.connections import Credentials  # noqa: PLC0415
    from app.features.crm.vendors import registry  # noqa: PLC0415
    from app.infra import clock  # noqa: PLC0415
    from cli.application import create_app  # noqa: PLC0415

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
                mapping=dict(crms[one["vendor"]].mapping),
                account_id=account.id,
                now=clock.now(),
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
