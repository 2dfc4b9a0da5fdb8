"""The endpoint and the page of the search for stored people."""

from __future__ import annotations

from app.features.stored_people import api, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("people_page.index", "People", position=30, icon="people"),),
)
