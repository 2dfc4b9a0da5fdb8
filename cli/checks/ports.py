"""Checks of the ports that the API and Flower bind: free, or who answers there."""

from __future__ import annotations

import http.client
import socket
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http import HTTPStatus

from app.infra.crypto.digest_keys import INSTALLATION_HEADER
from cli.checks.findings import Finding, error, ok

TIMEOUT_SECONDS = 2.0
MAX_PORT = 65_535
THIS_SERVICE = "this service"
OTHER_INSTALLATION = "another installation of this service"
OTHER_PROGRAM = "another program"


def findings(environment: Mapping[str, str], installation: str | None) -> Iterator[Finding]:
    """Check the addresses that the processes of the Procfile bind; any installation is this one if None."""
    web = environment.get("WEB_BIND") or f"0.0.0.0:{environment.get('PORT') or 8000}"
    yield from _port("port of the API", web, "WEB_BIND", partial(_api_at, installation=installation))
    flower = f"{environment.get('FLOWER_ADDRESS') or '127.0.0.1'}:{environment.get('FLOWER_PORT') or 5555}"
    login = environment.get("FLOWER_BASIC_AUTH", "")
    yield from _port("port of Flower", flower, "FLOWER_PORT", partial(_flower_at, login=login))


def _port(what: str, bind: str, setting: str, user_of: Callable[[str, int], str]) -> Iterator[Finding]:
    host, _, number = bind.rpartition(":")
    if not number.isdigit():  # a unix socket
        return
    if int(number) > MAX_PORT:
        yield error(what, f"{bind} has no valid port", f"set {setting} to one up to {MAX_PORT}")
        return
    host = host.strip("[]") or "0.0.0.0"  # noqa: S104 -- compared, and bound for a moment
    if _is_free(host, int(number)):
        yield ok(what, f"{bind} is free")
        return
    user = user_of({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), int(number))  # noqa: S104 -- as above
    state = f"{bind} is in use by {user}"
    yield (
        ok(what, state) if user == THIS_SERVICE else error(what, state, f"stop it, or set another {setting}")
    )


def _is_free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _api_at(host: str, port: int, *, installation: str | None) -> str:
    """Return who answers: the API sends a header of its own, and the fingerprint of its SECRET_KEY."""
    response = _answer(host, port, "/healthz", {})
    if response is None or response.headers.get("API-Version") is None:
        return OTHER_PROGRAM
    is_this = installation in {None, response.headers.get(INSTALLATION_HEADER)}
    return THIS_SERVICE if is_this else OTHER_INSTALLATION


def _flower_at(host: str, port: int, *, login: str) -> str:
    """Return who answers: Flower names its server, and another installation's refuses the login."""
    basic = b64encode(login.encode()).decode()
    response = _answer(host, port, "/", {"Authorization": f"Basic {basic}"})
    if response is None or not response.headers.get("Server", "").startswith("TornadoServer"):
        return OTHER_PROGRAM
    return OTHER_INSTALLATION if response.status == HTTPStatus.UNAUTHORIZED else THIS_SERVICE


def _answer(host: str, port: int, path: str, headers: Mapping[str, str]) -> http.client.HTTPResponse | None:
    """Return the status and headers of an answer; None if no web server answers."""
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", path, headers=dict(headers))
        return connection.getresponse()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
