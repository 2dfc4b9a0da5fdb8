"""The endpoints and the pages of lists."""

from __future__ import annotations

from app.features.lists import api, matching_pages, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint, matching_pages.blueprint),
    navigation=(Entry("lists_page.index", "Lists", position=60, icon="lists"),),
)
