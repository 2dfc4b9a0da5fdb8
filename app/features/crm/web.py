"""The endpoints and the pages of CRM connections and pushes."""

from __future__ import annotations

from app.api import crm_connections, crm_pushes
from app.pages import crm, crm_oauth
from app.pages import crm_pushes as pushes_pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(crm_connections.blueprint, crm_pushes.blueprint),
    pages=(crm.blueprint, crm_oauth.blueprint, pushes_pages.blueprint),
    navigation=(Entry("crm_page.index", "CRM", position=60),),
)
