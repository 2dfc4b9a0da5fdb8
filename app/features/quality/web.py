"""The endpoints and pages of feedback."""

from __future__ import annotations

from app.features.quality import api, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("reports_page.index", "Report bounces", position=45),),
)
