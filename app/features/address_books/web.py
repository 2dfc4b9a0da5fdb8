"""The endpoints and the page of address books."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.messages import Message
from app.features.address_books import api, books, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry
from app.web.pages.start_parts import Start, Step


def _first_steps(start: Start) -> Iterator[Step]:
    if not start.viewer.is_operator:
        yield Step(
            20,
            Message("Bring the contacts that you have"),
            Message("Send an export of your address book: you do not pay for the people in it."),
            "/address-books",
            bool(books.of_workspace(start.session, start.viewer.workspace_id)),
        )


WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("address_books_page.index", "Address books", position=30),),
    first_steps=_first_steps,
)
