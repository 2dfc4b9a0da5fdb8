"""The endpoints, the pages and the gauges of webhooks."""

from __future__ import annotations

from app.features.webhooks import deliveries_api, endpoints_api, pages, stats
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(endpoints_api.blueprint, deliveries_api.blueprint),
    pages=(pages.blueprint,),
    navigation=(Entry("webhooks_page.index", "Webhooks", position=70),),
    gauges=stats.gauges,
)
