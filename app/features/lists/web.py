"""The endpoints and the pages of lists."""

from __future__ import annotations

from collections.abc import Iterator

from app.engine.contacts.saved import contact_lists
from app.features.lists import api, matching_pages, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry
from app.web.pages.start_parts import Card, Start

SHOWN = 5
"""The lists of the start page."""


def _start_cards(start: Start) -> Iterator[Card]:
    lists = contact_lists.latest(start.session, start.viewer.workspace_id, limit=SHOWN)
    yield Card(20, "lists_card.html", {"lists": lists})


WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint, matching_pages.blueprint),
    navigation=(Entry("lists_page.index", "Lists", position=60, icon="lists"),),
    start_cards=_start_cards,
)
