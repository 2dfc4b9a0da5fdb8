"""The field of a request that names a URL for webhooks."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

from marshmallow import ValidationError, fields, validate

from app.domain.errors import InvalidValue
from app.domain.normal.webhook_addresses import parse_target
from app.web.schemas.fields import MAX_URL
from app.web.services import services

EXAMPLE = "https://hooks.acme.example/contact-lookup"


def webhook_url(*, description: str, **options: Any) -> fields.String:
    """Return a field for a URL that can be called: https, and not an internal address."""
    return fields.String(
        validate=[validate.Length(max=MAX_URL), _check],
        metadata={"format": "url", "example": EXAMPLE, "description": description},
        **options,
    )


def _check(url: str) -> None:
    """Raise ValidationError if the URL can never be called.

    The host name is resolved at delivery, because its addresses may have changed by then.
    """
    try:
        parse_target(url, tuple(map(ip_network, services().settings.webhook_networks)))
    except InvalidValue as error:
        raise ValidationError(str(error)) from error
