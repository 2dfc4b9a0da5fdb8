"""The endpoint and the pages of searches for people."""

from __future__ import annotations

from app.features.people_searches import api, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("people_searches_page.index", "People of companies", position=40, icon="company"),),
)
