"""Cookies for a few minutes that hold one step of a sign-in, encrypted, so that browsers only carry them."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import Response, request

from app.infra import clock
from app.infra.crypto import encryption
from app.infra.crypto.encryption import Undecryptable
from app.infra.database import database_clock
from app.web.services import services

_CONTEXT = "cookie"


@dataclass(frozen=True, slots=True)
class SealedCookie:
    """A cookie by its name, and for how long it is valid; over HTTPS no other host can set it (`__Host-`)."""

    name: str
    seconds: int

    def store(self, response: Response, content: dict[str, Any]) -> None:
        """Store the content in the browser."""
        text = json.dumps({"at": clock.rfc3339(_now()), "content": content}).encode()
        sealed = encryption.encrypt(services().digest_keys, self.name, _CONTEXT, text)
        response.set_cookie(
            self._name(),
            base64.urlsafe_b64encode(sealed).decode(),
            max_age=self.seconds,
            secure=request.is_secure,
            httponly=True,
            samesite="Lax",
        )

    def read(self) -> dict[str, Any] | None:
        """Return the content; None if there is none, it was changed, or its time is over."""
        try:
            sealed = base64.urlsafe_b64decode(request.cookies.get(self._name(), ""))
            stored = json.loads(encryption.decrypt(services().digest_keys, self.name, _CONTEXT, sealed))
        except (binascii.Error, ValueError, Undecryptable):
            return None
        age = _now() - datetime.fromisoformat(stored["at"])
        content: dict[str, Any] = stored["content"]
        return content if age.total_seconds() <= self.seconds else None

    def clear(self, response: Response) -> None:
        """Delete the cookie from the browser."""
        response.delete_cookie(self._name(), secure=request.is_secure, httponly=True, samesite="Lax")

    def _name(self) -> str:
        return f"__Host-{self.name}" if request.is_secure else self.name


def _now() -> datetime:
    with services().database.reading() as session:
        return database_clock.value(session)
