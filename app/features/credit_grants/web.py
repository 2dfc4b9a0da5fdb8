"""The page of monthly grants."""

from __future__ import annotations

from app.features.credit_grants import pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    pages=(pages.blueprint,),
    navigation=(Entry("admin_grants.index", "Monthly grants", position=20, needs="operator"),),
)
