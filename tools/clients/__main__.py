"""`dev.py clients`: write clients/openapi.json, and build the typed clients for Python and TypeScript."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tools.clients import document, python_client, typescript_client
from tools.clients.commands import ClientError
from tools.console import echo, step
from tools.state import ROOT, State

NO_NODE = "The TypeScript client is not built: it needs Node 20 or newer, with npm."


def main() -> int:
    """Return 0 if both packages were built; 1 if not, but without Node only in CI."""
    target = State.open().path("clients")
    target.mkdir(exist_ok=True)
    with step("write clients/openapi.json"):
        document.PATH.write_text(document.text(document.served()), encoding="utf-8")
    clients = [python_client, typescript_client] if typescript_client.is_possible() else [python_client]
    specification = json.loads(document.PATH.read_text(encoding="utf-8"))
    try:
        for client in clients:
            with step(f"build {client.SOURCE.relative_to(ROOT)}"), tempfile.TemporaryDirectory() as folder:
                package = shutil.copy(client.build(specification, Path(folder)), target)
            sys.stdout.write(f"{package}\n")
    except ClientError as error:
        echo(str(error))
        return 1
    if typescript_client not in clients:
        echo(NO_NODE)
        return 1 if os.environ.get("CI") else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
