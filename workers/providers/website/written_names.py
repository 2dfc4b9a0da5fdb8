"""Whose an address is that stands beside no name: the person nearby from whose name it is written out.

Names stand in sentences, behind titles that are in no list, or a table away from their address. Words with
capital letters are a name there only if the address has the given and the family name or an initial of one.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import chain, takewhile

from app.domain.normal.emails import mailbox_name
from app.domain.normal.names.name_keys import name_key, spellings
from app.domain.normal.names.names import PersonName
from app.domain.normal.texts.text_folding import fold
from workers.providers.website.names_on_page import (
    LEAST,
    MAX_NAME_WORDS,
    PARTICLES,
    NamedPerson,
    is_of_strangers,
    is_title,
    is_written_out,
    name_of,
)
from workers.providers.website.page_lines import PageLines

MAX_ABOVE, MAX_BELOW = 10, 2
"""Lines above and below an address in which its name is looked for."""
MAX_HEADINGS = 3
MAX_TEXT_LENGTH = 600
MAX_RUN = 12
"""Neighbouring words with capital letters."""

_PARTS = re.compile(r"[|/;:()\[\]\u2013\u2014]+|\s-\s")
_SEGMENTS = re.compile(r"[|/,;:()\[\]\u2013\u2014\uff1a\u3000]+|\s-\s")


def owner(
    lines: PageLines, index: int, email: str, others: Container[int], *, is_alone: bool
) -> NamedPerson | None:
    """Return who is named around the line of an address, up to the lines of `others`.

    An address that is alone on its page (`is_alone`) may be of the person in the page's first headings.
    """
    for near in _near(lines, index, others, is_alone=is_alone):
        line = lines.lines[near]
        around = lines.lines[max(near - 1, 0) : near + 1]
        is_strange = lines.is_aside(line) or any(is_of_strangers(one.text) for one in around)
        name = None if is_strange else name_in(line.spaced, email)
        if name:
            below = lines.lines[near + 1 : near + 2]
            texts = [*_PARTS.split(line.text), *line.text.split(", "), *(line.text for line in below)]
            texts = [text.partition(name.full)[0].strip() for text in texts]
            title = next((text for text in texts if is_title(text) and not name_of(text)), None)
            return NamedPerson(name, title)
    return None


def name_in(text: str, email: str) -> PersonName | None:
    """Return the name in a text from which an address is written out; None if there is none.

    The text may be a sentence, or have a title before the name or degrees behind it. It is the longest name
    there, of which the address may have a part: gsoto@ of Gina Soto Vega.
    """
    text = text[:MAX_TEXT_LENGTH]
    local = name_key(mailbox_name(email.rpartition("@")[0])).replace(" ", "")
    for part in _PARTS.split(text):
        name = name_of(part) if part.count(",") == 1 else None  # Lovelace, Ada
        if name and is_written_out(email, name):
            return name
    runs = (run for run in _runs(text) if any(_is_in(local, word) for word in run))
    return next(filter(None, (_longest(run, email) for run in runs)), None)


def _near(lines: PageLines, index: int, others: Container[int], *, is_alone: bool) -> list[int]:
    above = range(index - 1, max(index - MAX_ABOVE, 0) - 1, -1)
    below = range(index + 1, min(index + 1 + MAX_BELOW, len(lines.lines)))
    headings = [position for position, line in enumerate(lines.lines) if line.is_heading][:MAX_HEADINGS]
    sides = (takewhile(lambda position: position not in others, side) for side in (above, below))
    return [index, *chain.from_iterable(sides), *(headings if is_alone else ())]


def _runs(text: str) -> Iterator[list[str]]:
    """Yield neighbouring words that begin with capital letters, or are particles of names."""
    for segment in _SEGMENTS.split(text):
        run: list[str] = []
        for word in segment.split():
            is_within = word[0].isupper() or fold(word) in PARTICLES
            if is_within and len(run) < MAX_RUN:
                run.append(word)
            if not is_within or _ends_sentence(word):
                yield run
                run = []
        yield run


def _ends_sentence(word: str) -> bool:
    return word.endswith(".") and len(word) > LEAST + 1  # not of Dr. and J.


def _is_in(local: str, word: str) -> bool:
    """Return whether an address has a word, in one of its spellings."""
    keys = (spelled.replace(" ", "") for spelled in spellings(word))
    return any(len(key) >= LEAST and key in local for key in keys)


def _longest(run: Sequence[str], email: str) -> PersonName | None:
    """Return the longest name in a run of words, if the address is written from it or from a part of it."""
    for size in range(min(len(run), MAX_NAME_WORDS), 1, -1):
        spans = [run[start : start + size] for start in range(len(run) - size + 1)]
        names = [(span, name) for span in spans if (name := name_of(" ".join(span)))]
        if names:
            return next((name for span, name in names if _has_part(span, email)), None)
    return None


def _has_part(span: Sequence[str], email: str) -> bool:
    size = len(span)
    parts = (span[first:last] for first in range(size - 1) for last in range(size, first + 1, -1))
    names = (name_of(" ".join(part)) for part in parts)
    return any(name is not None and is_written_out(email, name) for name in names)
