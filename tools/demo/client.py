"""Take the steps of the walk: send a request, compare its answer with the promise, and print both."""

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

PRESENT = object()  # expected of a field: that it is there, and not null
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
_ID = re.compile(r"[a-z]{3}_[0-9a-z]+")
SECRET_FIELDS = {"password", "access_token", "key"}


class DemoError(Exception):
    """An answer was not the promised one."""


@dataclass(slots=True)
class DemoClient:
    """One client on its walk: where the service is, who it is, and where it prints.

    Each step is a line; with `verbose` its request and answer are printed, too.
    """

    console: Console
    base_url: str
    verbose: bool = False
    token: str = ""
    number: int = 0
    heading: str = field(default="")
    exchange_printers: list[Callable[[], None]] = field(default_factory=list)
    """What prints the request and the answer of the latest step."""

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
    ) -> http_client.HttpResponse:
        """Send one request and return its answer.

        Raises:
            WalkError: the status or a field is not as expected, or there was no answer.

        """
        self.number += 1
        self.heading = f"{self.number}. {heading}"
        sent = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        sent |= headers or {}
        self.exchange_printers = [lambda: self._print_request(method, path, body, sent)]
        if self.verbose:
            self.console.print()
            self.console.rule(f"[bold]{self.heading}", align="left")
            self.print_exchange()
        started = time.monotonic()
        answer = self._send(method, path, body, sent)
        seconds = time.monotonic() - started
        self.exchange_printers.append(lambda: self._print_response(answer))
        if self.verbose:
            self._print_response(answer)
        else:
            self._print_line(f"{method} {path.partition('?')[0]}", answer, seconds, heading)
        allowed = (status,) if isinstance(status, int) else status
        if answer.status not in allowed:
            self.fail(f"status {' or '.join(map(str, allowed))}", str(answer.status))
        for name, value in (expect or {}).items():
            self.check(name, answer.value_at(name), value)
        return answer

    def check(self, name: str, found: object, expected: object) -> None:
        """Hold one value against what was promised."""
        if expected is PRESENT:
            if found is None:
                self.fail(f"{name} to be there", "nothing")
        elif found != expected:
            self.fail(f"{name} to be {expected!r}", repr(found))

    def fail(self, expected: str, found: str) -> None:
        """Give up, saying at which step and why."""
        raise DemoError(f"Step {self.heading}\n  expected {expected}\n  found    {found}")

    def print_exchange(self) -> None:
        """Print the request and the answer of the latest step, as far as it got."""
        for one in self.exchange_printers:
            one()

    def _print_line(
        self, request: str, answer: http_client.HttpResponse, seconds: float, heading: str
    ) -> None:
        line = Text(f"{self.number:>3}  {_ID.sub('…', request):<{REQUEST_WIDTH}}  ")
        line.append(str(answer.status), _status_colour(answer)).append(
            f"  {seconds * 1000:>5.0f} ms  {heading}"
        )
        fits = self.console.is_terminal
        self.console.print(line, no_wrap=True, overflow="ellipsis" if fits else "ignore", crop=fits)

    def _print_request(self, method: str, path: str, body: object, headers: Mapping[str, str]) -> None:
        self.console.print(_curl(method, path, body, headers), style="cyan", highlight=False, markup=False)

    def _send(
        self, method: str, path: str, body: object, headers: dict[str, str]
    ) -> http_client.HttpResponse:
        patience = threading.Timer(1.0, lambda: self.console.print("  … still working", style="dim"))
        patience.daemon = True
        if self.verbose:
            patience.start()
        try:
            return http_client.send(method, self.base_url + path, body, headers)
        except OSError as problem:
            raise DemoError(f"Step {self.heading}\n  expected an answer\n  found    {problem}") from problem
        finally:
            patience.cancel()

    def _print_response(self, answer: http_client.HttpResponse) -> None:
        self.console.print(f"→ [bold {_status_colour(answer)}]{answer.status}[/]")
        for name in SHOWN_HEADERS:
            if name in answer.headers:
                self.console.print(f"  {name}: {answer.headers[name]}", highlight=False, markup=False)
        if isinstance(answer.body, dict | list):
            self.console.print(JSON(json.dumps(_without_secrets(answer.body))))


def _status_colour(answer: http_client.HttpResponse) -> str:
    return "green" if answer.status < 400 else "yellow"  # noqa: PLR2004 - where refusals begin


def _curl(method: str, path: str, body: object, headers: Mapping[str, str]) -> str:
    words = ["curl", f"$BASE{path}"] if method == "GET" else ["curl", "-X", method, f"$BASE{path}"]
    for name, value in headers.items():
        shown = "Bearer $TOKEN" if name == "Authorization" else value
        words += ["-H", f'"{name}: {shown}"']
    if body is not None:
        words += ["-d", f"'{json.dumps(_without_secrets(body), ensure_ascii=False)}'"]
    return " ".join(words)


def _without_secrets(content: Any) -> Any:  # noqa: ANN401 - JSON has every type
    """Return a copy that may be shown: tokens and passwords keep only their beginning."""
    if isinstance(content, list):
        return [_without_secrets(one) for one in content]
    if not isinstance(content, dict):
        return copy.copy(content)
    return {
        name: f"{value[:8]}…" if name in SECRET_FIELDS and isinstance(value, str) else _without_secrets(value)
        for name, value in content.items()
    }
