"""The tour in the browser and the tour with curl, which a reader may take in either order."""

from __future__ import annotations

import csv
import re

from pages import text_of

from tools.state import ROOT


def test_the_tours_reveal_different_people() -> None:
    _, _, rest = text_of("docs/workspace.md").partition("\n## A first tour\n")
    browser = rest.partition("\n## ")[0]
    with (ROOT / "demo/prospects.csv").open(newline="") as file:
        uploaded = {row["Name"] for row in csv.DictReader(file)}

    revealed_by_curl = set(re.findall(r'"full_name": "([^"]+)"', text_of("README.md")))

    assert "demo/prospects.csv" in browser
    assert revealed_by_curl
    assert not revealed_by_curl & (uploaded | set(re.findall(r"`([A-Z]\w+ [A-Z]\w+)`", browser)))
