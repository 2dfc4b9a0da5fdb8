"""The endpoint of the page rules, and the key that clients check them with."""

from __future__ import annotations

from app.features.page_rules import api, signing_keys
from app.settings import Settings
from app.web.feature import WebPart


def _session(settings: Settings) -> dict[str, str]:
    return {"page_rules_key": signing_keys.public_text(settings)}


WEB = WebPart(api=(api.blueprint,), session=_session)
