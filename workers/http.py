"""The one door out to addresses that customers name: https, public, and nowhere else."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass

import httpx2

from app.domain.addresses import is_public

SECONDS = 10.0


class Refused(Exception):  # noqa: N818 -- it names what happened
    """The address may not be called, or its name leads nowhere."""


@dataclass(frozen=True, slots=True)
class Door:
    """Posts to a URL. Its name is resolved once, every answer must be allowed, and that answer is called.

    So a name that points elsewhere a moment later leads nowhere, and a redirect is an answer like others.
    """

    allowed: Callable[[str], bool] = is_public
    scheme: str = "https"

    def post(self, url: str, body: bytes, headers: dict[str, str]) -> int:
        """Post, and give the status of the answer.

        Raises:
            Refused: the URL may not be called.
            httpx2.HTTPError: it could not be, in time.

        """
        try:
            target = httpx2.URL(url)
        except httpx2.InvalidURL as error:
            raise Refused from error
        if target.scheme != self.scheme or not target.host or target.userinfo:
            raise Refused
        address = self._resolve(target.host, target.port or socket.getservbyname(self.scheme))
        with (
            httpx2.Client(timeout=SECONDS, follow_redirects=False, trust_env=False) as client,
            client.stream(  # the answer's body is nobody's business
                "POST",
                target.copy_with(host=address),
                content=body,
                headers={**headers, "Host": target.netloc.decode()},
                extensions={"sni_hostname": target.host},
            ) as response,
        ):
            return response.status_code

    def _resolve(self, host: str, port: int) -> str:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise Refused from error
        addresses = [str(entry[4][0]) for entry in found]
        if not addresses or not all(self.allowed(address) for address in addresses):
            raise Refused
        return addresses[0]
