"""The endpoints and the page of address books."""

from __future__ import annotations

from app.features.address_books import api, pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry

WEB = WebPart(
    api=(api.blueprint,),
    pages=(pages.blueprint,),
    navigation=(Entry("address_books_page.index", "Address books", position=30),),
)
