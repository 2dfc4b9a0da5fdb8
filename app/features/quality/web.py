"""The endpoint of feedback."""

from __future__ import annotations

from app.features.quality import api
from app.web.feature import WebPart

WEB = WebPart(api=(api.blueprint,))
