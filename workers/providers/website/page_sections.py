"""Sections of a page about people who are not the company's: customers, and those who have left."""

from __future__ import annotations

from workers.providers.website.names_on_page import is_about_strangers, people_in
from workers.providers.website.page_lines import Line, PageLines

_SECTIONS = frozenset({"section", "article", "aside", "main", "nav", "footer", "li", "td"})


def mark(lines: PageLines) -> None:
    """Mark the lines below a heading about strangers, up to the end of its section or the next heading.

    A heading of the same or a higher level ends it unless it is a name.
    """
    level, section = 0, -1
    for line in lines.lines:
        is_within = section < 0 or section in lines.ancestors(line.container)
        is_end = 0 < line.level <= level and not people_in(line.text)
        if level and (is_end or not is_within):
            level = 0
        if line.is_heading and not line.is_aside and is_about_strangers(line.text):
            level, section = line.level, _section(lines, line)
        line.is_aside = line.is_aside or level > 0


def _section(lines: PageLines, line: Line) -> int:
    """Return the section element around a line; -1 if it is in none."""
    around = lines.ancestors(line.container)
    return next((index for index in around if lines.containers[index].tag in _SECTIONS), -1)
