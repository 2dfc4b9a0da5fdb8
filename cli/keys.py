"""`flask keys`: the keys that encrypt stored values."""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Callable
from typing import Any

import click
from rich.console import Console

from app.encryption_settings import KEY_BYTES, MAX_KEY_ID
from app.engine.privacy import reencryption
from app.infra.clock import rfc3339
from app.infra.crypto.key_ring import DERIVED_ID, KeyRing
from app.infra.database import database_clock
from app.web.services import services
from cli.groups.command_group import DatabaseGroup, as_json_option, database, show
from cli.tables import table

group = DatabaseGroup("keys", help="Manage the keys that encrypt e-mails, phones and notes.")
COLUMNS = ("table", "key", "rows", "started_at", "finished_at")


@group.command()
@as_json_option
def create(*, as_json: bool) -> None:
    """Print a new key for ENCRYPTION_KEYS or its file; nothing is stored."""
    free = max(_ring().ids) + 1
    if free > MAX_KEY_ID:
        raise click.ClickException(f"Key ids end at {MAX_KEY_ID}. Remove a key that is no longer used first.")
    line = f"{free}:{base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()}"
    show({"id": free, "key": line}, line, as_json=as_json)


@group.command("list")
@as_json_option
def list_all(*, as_json: bool) -> None:
    """List the ids of the keys, and how far each table is encrypted under the first one."""
    with database().reading(no_deadline=True) as session:
        rows = [_to_json(row) for row in reencryption.progress(session)]
    keys = [
        {
            "id": key_id,
            "source": "SECRET_KEY" if key_id == DERIVED_ID else "ENCRYPTION_KEYS",
            "encrypts": key_id == _ring().current_id,
        }
        for key_id in _ring().ids
    ]
    lines = [f"{key['id']}: {key['source']}{', encrypts' if key['encrypts'] else ''}" for key in keys]
    progress = table(COLUMNS, ([*row.values()] for row in rows))
    show({"keys": keys, "tables": rows}, "\n".join(lines) + f"\n\n{progress}", as_json=as_json)


@group.command()
@as_json_option
def rotate(*, as_json: bool) -> None:
    """Encrypt all stored values under the first key, while the service runs.

    It can be interrupted, and continues where it was.
    """
    started, rows, console = time.monotonic(), 0, Console(stderr=True)
    with database().transaction() as session:
        reencryption.restart(session, now=database_clock.value(session))
    for name in reencryption.names():
        with console.status(f"Encrypting {name}") as status:
            rows += _encrypt(name, status.update if console.is_terminal else lambda _text: None)
    seconds = round(time.monotonic() - started, 1)
    key_id = _ring().current_id
    text = f"Encrypted {rows} rows under key {key_id} in {seconds} s. Other keys are no longer used."
    show({"key": key_id, "rows": rows, "seconds": seconds}, text, as_json=as_json)


def _encrypt(name: str, report: Callable[[str], object]) -> int:
    """Encrypt a table and return how many rows changed."""
    is_finished, rows = False, 0
    while not is_finished:
        with database().transaction(no_deadline=True) as session:  # on a busy machine, too
            is_finished = reencryption.encrypt_next(session, name, now=database_clock.value(session))
            rows = next(row.rows for row in reencryption.progress(session) if row.name == name)
        report(f"Encrypting {name}: {rows} rows")
    return rows


def _ring() -> KeyRing:
    return services().digest_keys.ring


def _to_json(row: reencryption.EncryptionProgress) -> dict[str, Any]:
    return {
        "table": row.name,
        "key": row.key_id,
        "rows": row.rows,
        "started_at": rfc3339(row.started_at),
        "finished_at": rfc3339(row.finished_at),
    }
