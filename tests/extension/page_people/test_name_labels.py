"""The name in the text of a link to a profile, as sites write it in their languages."""

from __future__ import annotations

import csv
from pathlib import Path

from chromium_support import BrowserUser
from page_reading import read_people

LABELS = Path(__file__).parent / "name_labels.csv"
"""Texts of links, the name in each, none for a hidden member, and where it is written so."""


def test_the_name_is_read_from_the_text_of_a_link_in_any_language(user: BrowserUser) -> None:
    with LABELS.open(encoding="utf-8", newline="") as file:
        labels = list(csv.DictReader(file))
    user.sign_in()
    rows = (
        f"<li><a href='https://www.linkedin.com/in/p-{index}'>{label['text']}</a><p>Engineer</p></li>"
        for index, label in enumerate(labels)
    )

    read = read_people(user, "http://event.test/speakers", f"<ul>{''.join(rows)}</ul>")

    names = {person["linkedin_url"]: person.get("full_name") for person in read["people"]}
    found = [names.get(f"https://www.linkedin.com/in/p-{index}") for index in range(len(labels))]
    assert found == [label["name"] or None for label in labels]
