"""A real OpenID provider on loopback, in its own process, whose users sign in with one click."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from local_servers import free_port
from polling import wait_until

START_SECONDS = 20


@dataclass(frozen=True, slots=True)
class OpenIdProcess:
    """The running provider; it accepts every client."""

    port: int

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        return {
            "OIDC_ISSUER": self.issuer,
            "OIDC_CLIENT_ID": "contact-lookup",
            "OIDC_CLIENT_SECRET": "a secret of the client",
            "OIDC_NAME": "Acme",
        }

    def add_user(self, subject: str, **claims: Any) -> None:
        """Add a user, who is signed in as `subject`."""
        self._request(f"/users/{subject}", "PUT", claims)

    def is_up(self) -> bool:
        try:
            self._request("/.well-known/openid-configuration", "GET")
        except OSError:
            return False
        return True

    def _request(self, path: str, method: str, body: dict[str, Any] | None = None) -> None:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.issuer + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=5) as response:
            response.read()


@contextmanager
def running_provider() -> Iterator[OpenIdProcess]:
    """Run the provider, which insists on a nonce."""
    provider = OpenIdProcess(free_port())
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "-p", str(provider.port), "-n", "true"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(provider.is_up, START_SECONDS)
        yield provider
    finally:
        process.terminate()
        process.wait(10)
