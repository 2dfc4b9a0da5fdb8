"""The endpoints and the page of permissions."""

from __future__ import annotations

from app.features.permissions import api, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("admin_permissions.index", "Permissions", position=25, needs="admin"),),
)
