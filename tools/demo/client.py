"""The demo's HTTP client: sends a request, prints it, and checks the response."""

from __future__ import annotations

import copy
import json
import re
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.json import JSON
from rich.text import Text

from tools import http_client

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console

    from tools.http_client import HttpResponse

PRESENT = object()  # an expected value: any but null
SHOWN_HEADERS = (
    "location",
    "retry-after",
    "preference-applied",
    "idempotent-replay",
    "x-credits-charged",
    "x-credits-balance",
    "ratelimit",
)
REQUEST_WIDTH = len("POST /api/ext/leads-by-website-hash")
SECRET_FIELDS = {"password", "access_token", "key"}
_ID = re.compile(r"[a-z]{3}_[0-9a-z]+")


class DemoError(Exception):
    """A response was not as expected."""


@dataclass(slots=True)
class DemoClient:
    """A client that prints a line for each step or, with `verbose`, the full request and response."""

    console: Console
    base_url: str
    verbose: bool = False
    token: str = ""
    number: int = 0
    heading: str = ""
    printers: list[Callable[[], None]] = field(default_factory=list)
    """Functions that print the request and the response of the latest step."""

    def step(
        self,
        heading: str,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        status: int | tuple[int, ...] = 200,
        expect: Mapping[str, object] | None = None,
    ) -> HttpResponse:
        """Send a request and return its response.

        Raises:
            DemoError: the status or a field is not as expected, or there was no response.

        """
        self.number += 1
        self.heading = f"{self.number}. {heading}"
        sent = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        sent |= headers or {}
        self.printers = [lambda: self._print_request(method, path, body, sent)]
        if self.verbose:
            self.console.print()
            self.console.rule(f"[bold]{self.heading}", align="left")
            self.print_exchange()
        started = time.monotonic()
        response = self._send(method, path, body, sent)
        seconds = time.monotonic() - started
        self.printers.append(lambda: self._print_response(response))
        if self.verbose:
            self._print_response(response)
        else:
            self._print_line(f"{method} {path.partition('?')[0]}", response, seconds, heading)
        allowed = (status,) if isinstance(status, int) else status
        if response.status not in allowed:
            self._fail(f"status {' or '.join(map(str, allowed))}", str(response.status))
        for name, value in (expect or {}).items():
            self.check(name, response.value_at(name), value)
        return response

    def check(self, name: str, actual: object, expected: object) -> None:
        """Raise DemoError unless the value is the expected one."""
        if expected is PRESENT:
            if actual is None:
                self._fail(f"{name} to be present", "nothing")
        elif actual != expected:
            self._fail(f"{name} to be {expected!r}", repr(actual))

    def print_exchange(self) -> None:
        """Print the request of the latest step, and the response if there was one."""
        for printer in self.printers:
            printer()

    def _fail(self, expected: str, actual: str) -> None:
        raise DemoError(f"Step {self.heading}\n  expected {expected}\n  found    {actual}")

    def _print_line(self, request: str, response: HttpResponse, seconds: float, heading: str) -> None:
        line = Text(f"{self.number:>3}  {_ID.sub('…', request):<{REQUEST_WIDTH}}  ")
        line.append(str(response.status), _status_colour(response))
        line.append(f"  {seconds * 1000:>5.0f} ms  {heading}")
        terminal = self.console.is_terminal
        self.console.print(line, no_wrap=True, overflow="ellipsis" if terminal else "ignore", crop=terminal)

    def _print_request(self, method: str, path: str, body: object, headers: Mapping[str, str]) -> None:
        self.console.print(_curl(method, path, body, headers), style="cyan", highlight=False, markup=False)

    def _send(self, method: str, path: str, body: object, headers: dict[str, str]) -> HttpResponse:
        notice = threading.Timer(1.0, lambda: self.console.print("  … still waiting", style="dim"))
        notice.daemon = True
        if self.verbose:
            notice.start()
        try:
            return http_client.send(method, self.base_url + path, body, headers)
        except OSError as error:
            raise DemoError(f"Step {self.heading}\n  expected a response\n  found    {error}") from error
        finally:
            notice.cancel()

    def _print_response(self, response: HttpResponse) -> None:
        self.console.print(f"→ [bold {_status_colour(response)}]{response.status}[/]")
        for name in SHOWN_HEADERS:
            if name in response.headers:
                self.console.print(f"  {name}: {response.headers[name]}", highlight=False, markup=False)
        if isinstance(response.body, dict | list):
            self.console.print(JSON(json.dumps(_without_secrets(response.body))))


def _status_colour(response: HttpResponse) -> str:
    return "green" if response.status < 400 else "yellow"  # noqa: PLR2004 - the first error status


def _curl(method: str, path: str, body: object, headers: Mapping[str, str]) -> str:
    arguments = ["curl", f"$BASE{path}"] if method == "GET" else ["curl", "-X", method, f"$BASE{path}"]
    for name, value in headers.items():
        shown = "Bearer $TOKEN" if name == "Authorization" else value
        arguments += ["-H", f'"{name}: {shown}"']
    if body is not None:
        arguments += ["-d", f"'{json.dumps(_without_secrets(body), ensure_ascii=False)}'"]
    return " ".join(arguments)


def _without_secrets(content: Any) -> Any:  # noqa: ANN401 - JSON has every type
    """Return a copy that may be printed, in which tokens and passwords are cut to their first characters."""
    if isinstance(content, list):
        return [_without_secrets(element) for element in content]
    if not isinstance(content, dict):
        return copy.copy(content)
    return {
        name: f"{value[:8]}…" if name in SECRET_FIELDS and isinstance(value, str) else _without_secrets(value)
        for name, value in content.items()
    }
