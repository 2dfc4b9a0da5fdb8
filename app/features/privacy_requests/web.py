"""The pages of people's requests."""

from __future__ import annotations

from app.features.privacy_requests import pages
from app.web.feature import WebPart

WEB = WebPart(pages=(pages.blueprint,))
