"""The endpoint and the pages of searches for people."""

from __future__ import annotations

from app.features.people_searches import api, pages
from app.settings import Settings
from app.web.feature import WebPart
from app.web.pages.navigation import Entry


def _session(settings: Settings) -> dict[str, object]:
    """Say whether a provider can search; without one, a search would return nobody but stored people."""
    return {"people_search": bool(settings.providers_people)}


WEB = WebPart(
    api=(api.blueprint,),
    session=_session,
    pages=(pages.blueprint,),
    navigation=(Entry("people_searches_page.index", "People of companies", position=40, icon="company"),),
)
