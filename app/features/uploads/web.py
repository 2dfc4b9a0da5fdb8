"""The endpoints and the pages of uploads."""

from __future__ import annotations

from app.features.uploads import api
from app.features.uploads.pages import uploads
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(uploads.blueprint,),
    navigation=(Entry("uploads_page.index", "Uploads", position=70, icon="upload"),),
)
