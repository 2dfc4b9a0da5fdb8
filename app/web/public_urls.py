"""The addresses of this service that leave it: in a CRM, at a sign-in provider, and in the API's document."""

from __future__ import annotations

from flask import request

from app.web.services import services


def absolute(path: str) -> str:
    """Return the address of a path, below PUBLIC_URL; without it, below the Host that the caller named."""
    return (services().settings.public_url or request.host_url.rstrip("/")) + path
