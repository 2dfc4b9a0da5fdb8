"""The page of providers."""

from __future__ import annotations

from app.features.providers import pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    pages=(pages.blueprint,),
    navigation=(Entry("admin_providers.index", "Providers", position=20, needs="operator"),),
)
