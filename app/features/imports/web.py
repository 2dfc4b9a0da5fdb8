"""The page and the gauges of imports."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.messages import Message
from app.features.imports import pages
from app.features.imports.gauges import gauges
from app.web.feature import WebPart
from app.web.pages.navigation import Entry
from app.web.pages.start_parts import Start, Step


def _first_steps(start: Start) -> Iterator[Step]:
    if start.viewer.is_operator and not start.viewer.lacks_second_factor:
        yield Step(
            20,
            Message("Import contacts"),
            Message("What is imported is found at once, and costs no provider's credits."),
            "/admin/imports",
            start.done.has_contacts,
        )


WEB = WebPart(
    pages=(pages.blueprint,),
    navigation=(Entry("admin_imports.index", "Imports", position=40, needs="operator"),),
    gauges=gauges,
    first_steps=_first_steps,
)
