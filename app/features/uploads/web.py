"""The endpoints and the pages of uploads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.features.uploads import api, representations, uploads
from app.features.uploads.pages import uploads as upload_pages
from app.features.uploads.tables import Upload
from app.web.feature import WebPart
from app.web.pages.navigation import Entry
from app.web.pages.start_parts import Card, Start

SHOWN = 4
"""The uploads of the start page."""


def _start_cards(start: Start) -> Iterator[Card]:
    """Return the uploads that are not over, with their progress, or else the latest ones."""
    latest = uploads.unfinished_first(start.session, start.viewer.workspace_id, limit=SHOWN)
    if latest:
        shown = [_shown(start, upload) for upload in latest]
        yield Card(10, "uploads_card.html", {"uploads": shown}, is_wide=any(map(_is_open, latest)))


def _shown(start: Start, upload: Upload) -> tuple[Upload, Mapping[str, Any] | None]:
    """Return the upload, and what it has done so far if it is not over."""
    return upload, representations.summary(start.session, upload) if _is_open(upload) else None


def _is_open(upload: Upload) -> bool:
    return upload.status not in uploads.FINAL


WEB = WebPart(
    api=(api.blueprint,),
    pages=(upload_pages.blueprint,),
    navigation=(Entry("uploads_page.index", "Uploads", position=70, icon="upload"),),
    start_cards=_start_cards,
)
