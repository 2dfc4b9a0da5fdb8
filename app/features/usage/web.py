"""The endpoint and the page of usage."""

from __future__ import annotations

from app.features.usage import api, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("usage_page.index", "Usage", position=50),),
)
