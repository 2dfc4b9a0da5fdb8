"""The endpoints, the page and the gauges of do-not-call registers."""

from __future__ import annotations

from app.features.call_registers import api, pages
from app.features.call_registers.gauges import gauges
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("admin_call_registers.index", "Do-not-call registers", position=85, needs="admin"),),
    gauges=gauges,
)
