"""The parts of a template in their order: text, expressions, statements and tags of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

_TAG_START = re.compile(r"<(?=[A-Za-z/!]|$)")
_NAME = re.compile(r"</?\s*([A-Za-z][A-Za-z0-9]*)")
_BEGINS = {"variable_begin": "variable_end", "block_begin": "block_end"}
_COMMENTS = {"comment_begin", "comment", "comment_end", "linecomment", "linecomment_begin", "linecomment_end"}


class Part(Enum):
    """What a part of a template is."""

    TEXT = auto()
    EXPRESSION = auto()
    STATEMENT = auto()
    TAG = auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """A part with its source; a tag has the pieces of which it consists, such as the expressions in it."""

    kind: Part
    source: str
    inner: tuple[Piece, ...] = ()

    @property
    def code(self) -> str:
        """Return what an expression or statement has between its delimiters."""
        return re.sub(r"^\{[{%][-+]?|[-+]?[}%]\}\s*$", "", self.source).strip()

    @property
    def keyword(self) -> str:
        """Return the first word of a statement: `if`, `block`."""
        return self.code.split(maxsplit=1)[0] if self.kind is Part.STATEMENT else ""

    @property
    def tag_name(self) -> str:
        """Return the name of a tag in lower case, without the slash."""
        found = _NAME.match(self.source)
        return found[1].lower() if found else ""

    @property
    def is_closing(self) -> bool:
        """Return whether a tag closes an element."""
        return self.source.startswith("</")

    @property
    def is_dynamic(self) -> bool:
        """Return whether a tag has expressions or statements in it."""
        return any(piece.kind is not Part.TEXT for piece in self.inner)


def pieces(tokens: Iterable[tuple[int, str, str]]) -> Iterator[Piece]:
    """Yield the parts of a template, given the raw tokens of Jinja's lexer."""
    tag: list[Piece] = []
    quote = ""
    for piece in _jinja_pieces(tokens):
        if piece.kind is not Part.TEXT:
            if tag:
                tag.append(piece)
            else:
                yield piece
            continue
        text = piece.source
        while text:
            if not tag:
                start = _TAG_START.search(text)
                before, text = (text[: start.start()], text[start.start() :]) if start else (text, "")
                if before:
                    yield Piece(Part.TEXT, before)
                if start:
                    tag, quote = [Piece(Part.TEXT, "")], ""
                continue
            end, quote = _end_of_tag(text, quote)
            tag.append(Piece(Part.TEXT, text[:end] if end else text))
            text = text[end:] if end else ""
            if end:
                yield _tag(tag)
                tag = []
    if tag:
        yield _tag(tag)


def _tag(inner: list[Piece]) -> Piece:
    parts = tuple(piece for piece in inner if piece.source)
    return Piece(Part.TAG, "".join(piece.source for piece in parts), parts)


def _end_of_tag(text: str, quote: str) -> tuple[int, str]:
    """Return the index after the `>` that ends the tag, or 0; and the quote that is open at the end."""
    for index, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == ">":
            return index + 1, ""
    return 0, quote


def _jinja_pieces(tokens: Iterable[tuple[int, str, str]]) -> Iterator[Piece]:
    gathered: list[str] = []
    closing = ""
    for _line, kind, value in tokens:
        if closing:
            gathered.append(value)
            if kind == closing:
                is_expression = closing == "variable_end"
                yield Piece(Part.EXPRESSION if is_expression else Part.STATEMENT, "".join(gathered))
                closing = ""
        elif kind in _BEGINS:
            gathered, closing = [value], _BEGINS[kind]
        elif kind == "data":
            yield Piece(Part.TEXT, value)
        elif kind not in _COMMENTS:
            yield Piece(Part.STATEMENT, value)  # the delimiters of {% raw %}
