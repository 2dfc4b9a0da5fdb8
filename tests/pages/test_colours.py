"""The colours of the pages and of the extension are the same."""

from __future__ import annotations

import re

from tools.state import ROOT


def _colours(path: str) -> list[str]:
    """Return the custom properties that are colours, in order, of both colour schemes."""
    return re.findall(r"--[\w-]+: light-dark\([^)]+\);", (ROOT / path).read_text(encoding="utf-8"))


def test_pages_and_extension_have_the_same_colours() -> None:
    assert _colours("app/pages/static/pages.css") == _colours("extension/panel.css")
    assert len(_colours("extension/panel.css")) >= 15
