"""The endpoints of the company filter, and the key that clients check it with."""

from __future__ import annotations

from app.features.company_filter import signing_keys
from app.features.company_filter.api import download, evaluation
from app.settings import Settings
from app.web.feature import WebPart


def _hash_lookup(settings: Settings) -> dict[str, str]:
    """Return the public key of the signature, unless no filter is built."""
    is_built = settings.company_filter_seconds
    return {"filter_key": signing_keys.company_filter_public_text(settings)} if is_built else {}


WEB = WebPart(api=(download.blueprint, evaluation.blueprint), hash_lookup=_hash_lookup)
