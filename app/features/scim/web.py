"""The endpoints of SCIM, and the endpoints and the page with which admins set it up."""

from __future__ import annotations

from app.features.scim import api, pages, protocol
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(protocol.blueprint, api.blueprint),
    pages=(pages.blueprint,),
    navigation=(Entry("admin_provisioning.index", "Provisioning", position=27, needs="admin"),),
)
