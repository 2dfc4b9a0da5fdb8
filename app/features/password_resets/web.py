"""The endpoint and the pages of new passwords."""

from __future__ import annotations

from app.features.password_resets import api, pages
from app.web.feature import WebPart

WEB = WebPart(api=(api.blueprint,), pages=(pages.blueprint,))
