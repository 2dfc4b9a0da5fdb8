"""CHANGELOG.md: the section of a version (https://keepachangelog.com)."""

from __future__ import annotations

import re
from datetime import date


class ChangelogError(ValueError):
    """CHANGELOG.md lacks what a release needs."""


def notes(changelog: str, version: str) -> str:
    """Return the text below the heading of the version.

    Raises:
        ChangelogError: the version has no section, or an empty one.

    """
    sections = re.split(r"^(## .+)$", changelog, flags=re.MULTILINE)
    by_heading = dict(zip(sections[1::2], (text.strip() for text in sections[2::2]), strict=True))
    for heading, text in by_heading.items():
        if heading.removeprefix("## ").split(" ")[0].strip("[]") == version:
            if not text:
                break
            return f"{text}\n"
    raise ChangelogError(
        f"CHANGELOG.md has no entries for {version}. Rename “Unreleased” to “{version} - {date.today()}”,"  # noqa: DTZ011 - a suggestion
        " and start a new, empty “Unreleased”."
    )
