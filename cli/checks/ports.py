"""Checks of the ports that the API and Flower bind: free, or who answers there."""

from __future__ import annotations

import http.client
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http import HTTPStatus

from app.infra import listening
from app.infra.crypto.digest_keys import INSTALLATION_HEADER
from cli.checks.findings import Finding, error, ok

TIMEOUT_SECONDS = 2.0
MAX_PORT = 65_535
THIS_SERVICE = "this service"
OTHER_INSTALLATION = "another installation of this service"
OTHER_PROGRAM = "another program"
FLOWER_CHALLENGE = 'Basic realm="flower"'


def findings(environment: Mapping[str, str], installation: str | None) -> Iterator[Finding]:
    """Check the addresses that the Procfile's processes bind; `installation` is None without a SECRET_KEY."""
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
    fault = listening.fault(host, int(number))
    if fault is None:
        yield ok(what, f"{bind} is free")
        return
    if not listening.is_in_use(fault):
        yield error(what, f"{bind} cannot be used: {fault.strerror}", f"set another {setting}")
        return
    user = user_of({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), int(number))  # noqa: S104 -- as above
    state = f"{bind} is in use by {user}"
    yield (
        ok(what, state) if user == THIS_SERVICE else error(what, state, f"stop it, or set another {setting}")
    )


def _api_at(host: str, port: int, *, installation: str | None) -> str:
    """Return who answers: the API sends a header of its own, and the fingerprint of its SECRET_KEY."""
    response = _answer(host, port, "/healthz", {})
    if response is None or response.headers.get("API-Version") is None:
        return OTHER_PROGRAM
    is_this = installation is not None and installation == response.headers.get(INSTALLATION_HEADER)
    return THIS_SERVICE if is_this else OTHER_INSTALLATION


def _flower_at(host: str, port: int, *, login: str) -> str:
    """Return who answers: Flower names itself, and another installation's refuses the login."""
    asked = _answer(host, port, "/", {})
    if asked is None or asked.headers.get("WWW-Authenticate") != FLOWER_CHALLENGE:
        return OTHER_PROGRAM
    basic = b64encode(login.encode()).decode()
    response = _answer(host, port, "/", {"Authorization": f"Basic {basic}"})
    is_this = response is not None and response.status != HTTPStatus.UNAUTHORIZED
    return THIS_SERVICE if is_this else OTHER_INSTALLATION


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
