"""Checks of this machine: processors, ports and disk space."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

from app.settings import Settings
from cli.checks.findings import Finding, error, ok, warning

MIN_FREE_BYTES = 1_000_000_000
MIN_FREE_SHARE = 0.05
PROCESSES_PER_CORE = 2
TIMEOUT_SECONDS = 2.0
MAX_PORT = 65_535


def findings(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Check the machine that this command runs on."""
    yield from _processes(settings.web_concurrency, environment)
    web = environment.get("WEB_BIND") or f"0.0.0.0:{environment.get('PORT') or 8000}"
    yield from _port("port of the API", web, "WEB_BIND", mark=("API-Version", ""))
    flower = f"{environment.get('FLOWER_ADDRESS') or '127.0.0.1'}:{environment.get('FLOWER_PORT') or 5555}"
    yield from _port("port of Flower", flower, "FLOWER_PORT", mark=("Server", "TornadoServer"))
    beat = Path(environment.get("BEAT_SCHEDULE") or ".data/beat-schedule").parent
    yield from _disks({"beat's schedule": beat, "logs": Path("/var/log")})
    yield from _writable(beat)


def _processes(count: int | None, environment: Mapping[str, str]) -> Iterator[Finding]:
    cores = os.cpu_count() or 1
    if count and environment.get("WEB_CONCURRENCY"):
        if count > PROCESSES_PER_CORE * cores:
            yield warning(
                "WEB_CONCURRENCY",
                f"{count} processes on {cores} processors",
                f"unset it, or set at most {PROCESSES_PER_CORE * cores}",
            )
        else:
            yield ok("WEB_CONCURRENCY", f"{count} processes on {cores} processors")


def _port(what: str, bind: str, setting: str, *, mark: tuple[str, str]) -> Iterator[Finding]:
    host, _, number = bind.rpartition(":")
    if not number.isdigit():  # a unix socket
        return
    if int(number) > MAX_PORT:
        yield error(what, f"{bind} has no valid port", f"set {setting} to one up to {MAX_PORT}")
        return
    host = host.strip("[]") or "0.0.0.0"  # noqa: S104 -- compared, and bound for a moment
    if _is_free(host, int(number)):
        yield ok(what, f"{bind} is free")
    elif _is_this_service(host, int(number), *mark):
        yield ok(what, f"{bind} is in use by this service")
    else:
        yield error(what, f"{bind} is in use by another program", f"stop it, or set another {setting}")


def _is_free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _is_this_service(host: str, port: int, header: str, prefix: str) -> bool:
    """Return whether this service answers on the port: the API and Flower each send a header of their own."""
    target = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 -- as above
    connection = http.client.HTTPConnection(target, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/healthz")
        value = connection.getresponse().headers.get(header)
        return value is not None and value.startswith(prefix)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _disks(paths: Mapping[str, Path]) -> Iterator[Finding]:
    """Check the free space, once per disk."""
    devices: set[int] = set()
    for name, path in paths.items():
        existing = _nearest_existing(path)
        device = existing.stat().st_dev
        if device in devices:
            continue
        devices.add(device)
        usage = shutil.disk_usage(existing)
        state = f"{usage.free / 1e9:.1f} GB free ({name})"
        if usage.free < MIN_FREE_BYTES or usage.free < MIN_FREE_SHARE * usage.total:
            yield warning(f"disk of {existing}", state, "free disk space; rotate logs (docs/install.md)")
        else:
            yield ok(f"disk of {existing}", state)


def _writable(folder: Path) -> Iterator[Finding]:
    if not os.access(_nearest_existing(folder), os.W_OK):
        yield error(
            "BEAT_SCHEDULE", f"{folder} cannot be written to", "choose a directory that beat may write to"
        )


def _nearest_existing(path: Path) -> Path:
    return next((candidate for candidate in (path, *path.resolve().parents) if candidate.exists()), Path("/"))
