"""The page of providers."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.messages import Message
from app.features.providers import pages
from app.web.feature import WebPart
from app.web.pages.navigation import Entry
from app.web.pages.start_parts import Start, Step
from app.web.services import services


def _first_steps(start: Start) -> Iterator[Step]:
    if start.viewer.is_operator and not start.viewer.lacks_second_factor:
        settings = services().settings
        has_key = any(settings.access(name).api_key for name in settings.provider_names)
        yield Step(
            30,
            Message("Add a provider's key"),
            Message("Without one, only imported, guessed and website addresses are found."),
            "/manual/providers.html",
            has_key or bool(settings.providers_file),
        )


WEB = WebPart(
    pages=(pages.blueprint,),
    navigation=(Entry("admin_providers.index", "Providers", position=20, needs="operator"),),
    first_steps=_first_steps,
)
