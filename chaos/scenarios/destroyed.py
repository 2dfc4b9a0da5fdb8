"""R15 and R16: the machine is destroyed under load, and its database restored from the shipped WAL.

All processes are killed, Redis too, and PostgreSQL with its data directory. What remains is the directory
into which `flask backup stream` wrote. The service is started again on what `flask backup recover` restores.
"""

from __future__ import annotations

import os
import shlex
import time
from pathlib import Path

from sqlalchemy import text

from chaos.context import WORKSPACES, ScenarioContext
from chaos.system.service import FLASK, MAX_OUTPUT, SeedData, ServiceUnderTest
from chaos.workload.history import History
from tools.services import postgres
from tools.services.postgres import PostgresServer
from tools.services.processes import ServiceError

MAX_LOST_SECONDS, MAX_RESTORE_SECONDS = 5.0, 60.0  # the recovery point and the recovery time objective
REVEALS, SECONDS = 600, 30.0
SHORT_REVEALS, SHORT_SECONDS = 200, 12.0
BASE_SECONDS = 60.0
STREAM = "stream"
STREAM_GRACE_SECONDS = 5.0


def asynchronous(context: ScenarioContext) -> None:
    """R15: commits do not wait until their WAL was received."""
    _destroy_and_restore(context, synchronous=False)


def synchronous(context: ScenarioContext) -> None:
    """R16: a commit waits until its WAL was received, so nothing that was accepted may be lost."""
    _destroy_and_restore(context, synchronous=True)


def _destroy_and_restore(context: ScenarioContext, *, synchronous: bool) -> None:
    service, database = context.service, context.service.database
    if database is None:
        return
    reveals, seconds = (SHORT_REVEALS, SHORT_SECONDS) if context.short else (REVEALS, SECONDS)
    data = context.start(contacts=max(20, reveals // WORKSPACES))
    shipped = database.log.parent / f"shipped-{context.id}"
    _start_stream(service, shipped, synchronous=synchronous)
    load = context.make_load(data, reveals=reveals, seconds=seconds)
    load.start()
    context.show("load", lambda: f"{len(load.history.accepted):,} accepted")
    time.sleep(seconds / 2)
    destroyed_at = _destroy(service, database)
    context.show("restoring")
    _restore(service, database, shipped, synchronous=synchronous)
    restored = time.monotonic() - destroyed_at
    context.wait_for(load, {"machine": 1}, "load on the restored service")
    drained = context.drain(data, load.history)
    _report(context, data, load.history, destroyed_at, restored, synchronous=synchronous)
    accepted = len(load.history.accepted)
    context.expect("accepted reveals", f"{accepted:,}", f"{reveals:,} or more", holds=accepted >= reveals)
    findings = context.check(data, load.history, drained)
    context.report_responses(load.history, findings, {"machine destroyed": 1})
    _end_stream(service)


def _report(
    context: ScenarioContext,
    data: SeedData,
    history: History,
    destroyed_at: float,
    restored: float,
    *,
    synchronous: bool,
) -> None:
    """Report both objectives; forget the lost jobs, so that the checks that follow find no other ones."""
    lost = _lost(context.service, data, history)
    seconds = max((destroyed_at - history.accepted_at[job] for job in lost), default=0.0)
    limit = 0.0 if synchronous else MAX_LOST_SECONDS
    measured = f"{seconds:.2f} s ({len(lost)} accepted reveals)"
    context.expect("recovery point: loss before the end", measured, f"{limit:.0f} s", holds=seconds <= limit)
    context.expect(
        "recovery time: until ready",
        f"{restored:.1f} s",
        f"{MAX_RESTORE_SECONDS:.0f} s",
        holds=restored <= MAX_RESTORE_SECONDS,
    )
    history.forget(lost)


def _lost(service: ServiceUnderTest, data: SeedData, history: History) -> set[str]:
    """Return the accepted jobs that the restored database does not have."""
    with service.engine.connect() as connection:
        stored = set(connection.scalars(text("SELECT id FROM jobs")))
    workspaces = {tenant.workspace for tenant in data.tenants}
    return {job for (workspace, _), job in history.accepted.items() if workspace in workspaces} - stored


def _start_stream(service: ServiceUnderTest, directory: Path, *, synchronous: bool) -> None:
    """Start `flask backup stream`, and return when it has a base backup.

    Raises:
        ServiceError: it has none within a minute.

    """
    directory.mkdir(mode=0o700)
    command = shlex.join([*FLASK, "backup", "stream", str(directory)])
    path = os.pathsep.join([str(postgres.find_binaries()), service.env["PATH"]])
    url = service.engine.url.render_as_string(hide_password=False)
    service.processes.start(STREAM, command, service.env | {"DATABASE_URL": url, "PATH": path})
    deadline = time.monotonic() + BASE_SECONDS
    while not any(directory.glob("base-*Z/backup_manifest")):
        if time.monotonic() > deadline:
            raise ServiceError(f"There is no base backup after {BASE_SECONDS:.0f} s.")
        time.sleep(0.1)
    _set_standby(service, "pg_receivewal" if synchronous else "")


def _destroy(service: ServiceUnderTest, database: PostgresServer) -> float:
    """Kill everything at once, and delete the data; return the time."""
    destroyed_at = time.monotonic()
    names = [name for name in service.processes.names if name != STREAM]
    for name in names:
        service.processes.kill(name)
    database.destroy()
    service.redis.kill()
    service.processes.stop(names, grace=0.0)
    return destroyed_at


def _restore(
    service: ServiceUnderTest, database: PostgresServer, shipped: Path, *, synchronous: bool
) -> None:
    """Recover the database, start all servers and processes, and ship the new server's WAL.

    Raises:
        ServiceError: the recovery fails, or the service does not become ready.

    """
    service.processes.stop([STREAM], grace=STREAM_GRACE_SECONDS)
    completed = service.run([*FLASK, "backup", "recover", str(shipped), str(database.data)])
    if completed.returncode:
        raise ServiceError(f"The recovery failed:\n{completed.stderr[-MAX_OUTPUT:]}")
    database.give(database.data)
    database.give(shipped)
    database.start()
    service.redis.start()
    service.start(*service.commands())
    if synchronous:  # commits wait for it
        _start_stream(service, shipped.with_name(f"{shipped.name}-again"), synchronous=True)
    service.wait_until_ready()


def _end_stream(service: ServiceUnderTest) -> None:
    _set_standby(service, "")
    service.processes.stop([STREAM], grace=STREAM_GRACE_SECONDS)
    with service.engine.connect() as connection:
        connection.execute(text("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"))


def _set_standby(service: ServiceUnderTest, names: str) -> None:
    """Let commits wait for the standby of this name, or for none."""
    with service.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'"))
        connection.execute(text("SELECT pg_reload_conf()"))
