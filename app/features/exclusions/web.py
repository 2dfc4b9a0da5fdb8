"""The endpoints and the page of exclusions."""

from __future__ import annotations

from app.features.exclusions import api, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("exclusions_page.index", "Exclusions", position=40),),
)
