"""The endpoints and the page of spending limits."""

from __future__ import annotations

from app.features.limits import api, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("admin_limits.index", "Limits", position=40, needs="admin"),),
)
