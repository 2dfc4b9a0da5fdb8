"""The endpoints and the pages of verifications."""

from __future__ import annotations

from app.features.verifications import api, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("verifications_page.index", "Verify", position=75, icon="check"),),
)
