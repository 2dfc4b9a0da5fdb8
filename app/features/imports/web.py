"""The page and the gauges of imports."""

from __future__ import annotations

from app.features.imports import pages
from app.features.imports.gauges import gauges
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    pages=(pages.blueprint,),
    navigation=(Entry("admin_imports.index", "Imports", position=40, needs="operator"),),
    gauges=gauges,
)
