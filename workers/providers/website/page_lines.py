"""The visible text of a page as lines, each with its links and with the element that contains it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from app.domain.normal.texts.text_folding import fold, split_camel
from app.domain.normal.texts.wordlists import entries

MAX_LINES = 5_000
MAX_NODES = 100_000
MAX_LINE_LENGTH = 2_000
MAX_LEVELS = 64
"""Levels of containers; what is deeper belongs to the one above."""

_PAGE = dict(entries("websites/page_words.txt"))
_ASIDE, _OWN = frozenset(_PAGE["aside"]), frozenset(_PAGE["aside but"])
_SKIPPED = frozenset({"script", "style", "noscript", "template", "head", "title", "option", "button"})
_INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6, "dt": 7}
_PLAIN = frozenset({"wbr", "abbr", "bdi", "nobr", "sup", "sub", "font", "img"})
"""Elements inside of words and names, which do not part a line."""
_BOUNDS = frozenset({"html", "body", "main", "header", "footer", "nav", "form", "table", "tbody"})
_PLACEHOLDER = re.compile(r"\[email\s+protected\]")
"""What Cloudflare shows instead of an address."""
_SPACES = re.compile(r"\s+")
_UNSEEN = re.compile("[\u00ad\u200b\u2060\ufeff]")
"""Characters without a width, which may stand in the middle of a name or an address."""
_REVERSED = re.compile(r"(?=.*direction:\s?rtl).*unicode-bidi:\s?bidi-override", re.IGNORECASE | re.DOTALL)
_FIGURE_LEVELS = 3
_AT_SIGNS = frozenset({"@", "at", "(at)", "[at]"})
"""What stands beside the picture of an at sign."""
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


@dataclass(slots=True)
class Container:
    """A block element: the index of its parent, its depth, and what it says of the people in it.

    `is_aside` holds for testimonials, comments, authors and the like, `is_bound` for elements that are larger
    than a person's card.
    """

    parent: int
    depth: int
    tag: str
    is_aside: bool
    is_bound: bool


@dataclass(slots=True)
class Line:
    """A line of text: its parts by inline elements, its links, and the index of its container."""

    container: int
    runs: list[str] = field(default_factory=list)
    hrefs: list[str] = field(default_factory=list)
    shielded: list[str] = field(default_factory=list)
    """Values of `data-cfemail`."""
    level: int = 0
    """The level of a heading; 0 for another line."""
    is_aside: bool = False
    """It is in a section about people who are not the company's."""

    @property
    def is_heading(self) -> bool:
        """Return whether the line is a heading."""
        return self.level > 0

    @property
    def text(self) -> str:
        """Return the whole line, its white space as single spaces."""
        return _clean("".join(self.runs))

    @property
    def apart(self) -> str:
        """Return the whole line, with a bar where only the page's style parts two words, as in JonesCEO."""
        text = self.runs[0] if self.runs else ""
        for run in self.runs[1:]:
            is_tight = text[-1:].isalnum() and run[:1].isupper()
            text += f" | {run}" if is_tight else run
        return _clean(text)

    @property
    def spaced(self) -> str:
        """Return the whole line, with a space between its parts, as in E-mail ada@acme.de."""
        return _clean(" ".join(self.runs))

    @property
    def parts(self) -> list[str]:
        """Return the parts that have text."""
        return [text for text in map(_clean, self.runs) if text]


@dataclass(slots=True)
class PageLines:
    """The lines of a page in their order, and the containers they are in."""

    lines: list[Line] = field(default_factory=list)
    containers: list[Container] = field(default_factory=list)

    def is_aside(self, line: Line) -> bool:
        """Return whether the people in a line are not the company's."""
        return line.is_aside or self.containers[line.container].is_aside

    def ancestors(self, index: int) -> Iterator[int]:
        """Yield the container and those around it, the innermost first."""
        while index >= 0:
            yield index
            index = self.containers[index].parent


def read_lines(page: LexborHTMLParser) -> PageLines:
    """Return the lines of a page; at most MAX_LINES."""
    found = PageLines()
    if page.body is None:
        return found
    _Reader(found).read(page.body)
    found.lines = [line for line in found.lines if line.hrefs or line.shielded or line.text]
    return found


class _Reader:
    """Walks through a document without recursion."""

    def __init__(self, found: PageLines) -> None:
        self._found = found
        self._line: Line | None = None
        self._length = 0

    def read(self, body: LexborNode) -> None:
        containers = self._found.containers
        containers.append(Container(-1, 0, "body", is_aside=False, is_bound=True))
        # (node, its container, whether it is left, level of its heading, whether its text is reversed):
        # elements are met twice
        stack: list[tuple[LexborNode, int, bool, int, bool]] = [
            (child, 0, False, 0, False) for child in reversed(list(body.iter(include_text=True)))
        ]
        for _ in range(MAX_NODES):
            if not stack or len(self._found.lines) >= MAX_LINES:
                return
            node, container, is_left, in_heading, is_reversed = stack.pop()
            tag = str(node.tag)
            if is_left:
                self._part(tag)
                continue
            if tag == "-text":
                text = node.text_content or ""
                self._add(text[::-1] if is_reversed else text, container, level=in_heading)
                continue
            if tag in _SKIPPED or tag.startswith(("-", "!")):
                continue
            attributes = node.attributes
            if tag == "br":
                self._line = None
                continue
            if "hidden" in attributes or _HIDDEN.search(attributes.get("style") or ""):
                continue
            inner, heading = container, in_heading
            if tag not in _INLINE:
                self._line = None
                inner = self._enter(tag, attributes, container)
                heading = in_heading or _LEVELS.get(tag, 0)
            elif tag not in _PLAIN:
                self._part(tag)
            self._note(tag, attributes, inner, level=heading)
            turned = is_reversed or _is_reversed(tag, attributes)
            stack.append((node, inner, True, heading, turned))
            stack.extend(
                (child, inner, False, heading, turned)
                for child in reversed(list(node.iter(include_text=True)))
            )

    def _enter(self, tag: str, attributes: dict[str, str | None], parent: int) -> int:
        containers = self._found.containers
        outer = containers[parent]
        if outer.depth >= MAX_LEVELS:
            return parent
        is_aside = outer.is_aside or tag in {"blockquote", "q"} or _is_aside(attributes)
        if tag == "blockquote":
            self._leave_out_figure(parent)
        containers.append(Container(parent, outer.depth + 1, tag, is_aside=is_aside, is_bound=tag in _BOUNDS))
        return len(containers) - 1

    def _leave_out_figure(self, container: int) -> None:
        """Leave out the caption of a figure around a quotation: it names who is quoted."""
        for outer in islice(self._found.ancestors(container), _FIGURE_LEVELS):
            if self._found.containers[outer].tag == "figure":
                self._found.containers[outer].is_aside = True

    def _current(self, container: int, *, level: int) -> Line:
        if self._line is None or self._line.container != container:
            self._line = Line(container, level=level)
            self._length = 0
            self._found.lines.append(self._line)
        return self._line

    def _add(self, text: str, container: int, *, level: int) -> None:
        text = _UNSEEN.sub("", _PLACEHOLDER.sub(" ", text))
        if self._line is None and not text.strip():
            return
        line = self._current(container, level=level)
        if self._length < MAX_LINE_LENGTH:
            text = text[: MAX_LINE_LENGTH - self._length]
            self._length += len(text)
            if line.runs:
                line.runs[-1] += text
            else:
                line.runs.append(text)

    def _part(self, tag: str) -> None:
        """Begin a new part of the line at an inline element, a new line at a block."""
        if tag not in _INLINE:
            self._line = None
        elif tag not in _PLAIN and self._line is not None and self._line.runs and self._line.runs[-1]:
            self._line.runs.append("")

    def _note(self, tag: str, attributes: dict[str, str | None], container: int, *, level: int) -> None:
        href = attributes.get("href") if tag == "a" else None
        shielded = attributes.get("data-cfemail")
        if tag == "cite":
            self._current(container, level=level).is_aside = True
        if tag == "img" and (attributes.get("alt") or "").strip().lower() in _AT_SIGNS:
            self._add("@", container, level=level)
        if href or shielded:
            line = self._current(container, level=level)
            if href and len(line.hrefs) < MAX_LINE_LENGTH:
                line.hrefs.append(href[:MAX_LINE_LENGTH])
            if shielded and len(line.shielded) < MAX_LINE_LENGTH:
                line.shielded.append(shielded[:MAX_LINE_LENGTH])


def _is_reversed(tag: str, attributes: dict[str, str | None]) -> bool:
    """Return whether an element shows its text from right to left, so that it is written backwards."""
    is_override = tag == "bdo" and (attributes.get("dir") or "").lower() == "rtl"
    return is_override or _REVERSED.match(attributes.get("style") or "") is not None


def _is_aside(attributes: dict[str, str | None]) -> bool:
    """Return whether the class or id of an element says that its people are not the company's."""
    named = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:MAX_LINE_LENGTH]
    classes = (set(fold(split_camel(name)).split()) for name in named.split())
    return any(not _ASIDE.isdisjoint(parts) and _OWN.isdisjoint(parts) for parts in classes)


def _clean(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
