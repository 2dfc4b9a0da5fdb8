"""The endpoint and the pages of searches for people."""

from __future__ import annotations

from app.features.people_searches import api
from app.web.feature import WebPart

WEB = WebPart(api=(api.blueprint,))
