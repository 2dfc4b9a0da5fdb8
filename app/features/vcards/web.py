"""The endpoint and the page of vCards."""

from __future__ import annotations

from app.features.vcards import api, pages
from app.web.feature import WebPart

WEB = WebPart(api=(api.blueprint,), pages=(pages.blueprint,))
