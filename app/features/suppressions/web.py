"""The page of suppressions."""

from __future__ import annotations

from app.features.suppressions import pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    pages=(pages.blueprint,),
    navigation=(Entry("admin_suppressions.index", "Suppressions", position=30, needs="operator"),),
)
