"""Marks the texts of templates for translation, so that templates are written in plain English.

Jinja's `{% trans %}` is put around each run of text that a reader sees, when a template is compiled and when
its texts are extracted. A run reaches from one block element or statement to the next; inline elements and
expressions in it belong to the sentence:

    <p>Signed in as <b>{{ viewer.name }}</b>.</p>
    <p>{% trans name=viewer.name %}Signed in as <b>{{ name }}</b>.{% endtrans %}</p>

`{{ "person is" if count == 1 else "people are" }}` in a run makes it a plural. Literals that begin with a
capital letter are marked in expressions, too: the label in `ui.field("email", "Your address")`. What is in
`{% trans %}`, `_()` or `pgettext()` stays as it is. Genshi and Kajiki do likewise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from jinja2.ext import Extension

from app.web.languages.template_runs import Part, Piece, pieces

INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "br",
        "cite",
        "code",
        "em",
        "i",
        "kbd",
        "mark",
        "q",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "time",
        "u",
        "var",
        "wbr",
    ]
)
_VISIBLE_ATTRIBUTE = re.compile(r"""\s(?:aria-label|placeholder|title|alt|data-confirm)=(["'])""")
_VERBATIM = frozenset({"script", "style", "textarea", "pre", "svg"})
_CODE = frozenset({"code", "kbd", "var"})
_EMPTY = frozenset({"br", "wbr"})
_LEADING = " \n\t\r·•|→"
"""What separates a text from the one before it."""
_SILENT_STATEMENTS = frozenset(
    {"extends", "import", "from", "include", "block", "endblock", "if", "elif", "endraw", "raw"}
)
_LETTERS = re.compile(r"[^\W\d_]{2}")
_STRING = re.compile(r'"([^"\\\n]*)"|\'([^\'\\\n]*)\'')
_SILENT_CALLS = re.compile(r"\b(?:url_for|has_page|static_url|_|gettext|ngettext|get|dict|render)\(\s*$")
_CONTEXT = re.compile(r"\bpgettext\(\s*(?:[\"'][^\"']*[\"']\s*,\s*)?$")
"""Before the context of a text, and before the text."""
_SILENT_KEYWORD = re.compile(
    r"\b(?:type|class|id|autocomplete|inputmode|pattern|attribute|name|accept|endpoint)\s*=\s*$"
)
_NO_TEXT = re.compile(
    r"https?://\S+|(?:(?:good|bad|fair|primary|secondary|danger|single|columns|number|time|link)\b ?)+"
)
"""URLs, and the classes that are literals in expressions."""
_PLURAL = re.compile(r'^"([^"]*)" if (.+?) == 1 else "([^"]*)"$')
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset({"trimmed", "notrimmed", "count", "if", "else", "and", "or", "not", "in", "is"})


class TemplateTexts(Extension):
    """The extension of Jinja that marks texts before a template is compiled."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Return the source with its texts marked."""
        tokens = self.environment.lexer.tokeniter(source, name, filename)
        return "".join(_marked(pieces(tokens)))


def _marked(parts: Iterator[Piece]) -> Iterator[str]:
    run: list[Piece] = []
    is_translated = is_verbatim = False
    for part in parts:
        is_end = part.kind is Part.STATEMENT or (part.kind is Part.TAG and part.tag_name not in INLINE)
        if is_verbatim or is_translated or not is_end:
            run.append(part)
            if is_verbatim and part.kind is Part.TAG and part.is_closing and part.tag_name in _VERBATIM:
                yield from (piece.source for piece in run)
                run, is_verbatim = [], False
            if is_translated and part.keyword == "endtrans":
                yield from (piece.source for piece in run)
                run, is_translated = [], False
            continue
        yield from _run(run)
        run = []
        is_translated = part.keyword == "trans"
        is_verbatim = part.kind is Part.TAG and part.tag_name in _VERBATIM and not part.is_closing
        yield part.source if is_translated else _other(part)
    yield from (piece.source for piece in run) if is_verbatim or is_translated else _run(run)


def _other(part: Piece) -> str:
    if part.kind is Part.TAG:
        return _tag(part)
    if part.kind is Part.EXPRESSION:
        return _with_literals(part.source, branches=True)
    if part.kind is Part.STATEMENT and part.keyword not in _SILENT_STATEMENTS:
        return _with_literals(part.source, branches=False)
    return part.source


def _tag(tag: Piece) -> str:
    """Return a tag in which the attributes that a reader sees or hears are marked."""
    if not tag.inner:
        return tag.source
    done: list[str] = []
    queue = list(tag.inner)
    while queue:
        piece = queue.pop(0)
        if piece.kind is not Part.TEXT:
            done.append(piece.source)
            continue
        text = piece.source
        start = _VISIBLE_ATTRIBUTE.search(text)
        if start is None:
            done.append(text)
            continue
        done.append(text[: start.end()])
        value, rest = _attribute_value([Piece(Part.TEXT, text[start.end() :]), *queue], start[1])
        done.extend(_run(value))
        queue = rest
    return "".join(done)


def _attribute_value(parts: list[Piece], quote: str) -> tuple[list[Piece], list[Piece]]:
    """Return the parts of an attribute's value, and what follows from its closing quote."""
    value: list[Piece] = []
    for index, part in enumerate(parts):
        if part.kind is Part.TEXT and quote in part.source:
            end = part.source.index(quote)
            value.append(Piece(Part.TEXT, part.source[:end]))
            # the quote cannot start another attribute, so the rest is read as text of the tag
            return value, [Piece(Part.TEXT, part.source[end:]), *parts[index + 1 :]]
        value.append(part)
    return value, []


@dataclass(slots=True)
class _Sentence:
    """A run as it becomes the body of `{% trans %}`."""

    before: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    one: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    counted: str = ""

    def add(self, text: str, other: str | None = None) -> None:
        self.one.append(text)
        self.other.append(text if other is None else other)

    def placeholder(self, wanted: str, code: str) -> str:
        name = wanted
        number = 2
        while name in _RESERVED or self.variables.get(name, code) != code:
            name, number = f"{wanted}{number}", number + 1
        self.variables[name] = code
        return f"{{{{ {name} }}}}"

    def source(self) -> str:
        names = ", ".join(f"{name}={code}" for name, code in self.variables.items())
        body = "".join(self.one)
        if self.counted:
            names = ", ".join(filter(None, [names, f"counted={self.counted}"]))
            body += "{% pluralize counted %}" + "".join(self.other)
        return f"{''.join(self.before)}{{% trans {names} %}}{body}{{% endtrans %}}"


def _run(run: list[Piece]) -> Iterator[str]:
    """Yield a run with its sentence marked; what stands around the sentence stays outside."""
    if any(part.kind is Part.STATEMENT for part in run):  # in an attribute
        yield from (part.source for part in run)
        return
    start, end = _bounds(run)
    inner = run[start:end]
    if (start > 0 and run[start - 1].tag_name in _CODE) or not _has_words(inner):
        yield from (_other(part) for part in run)
        return
    yield from (_other(part) for part in run[:start])
    yield from _separate(inner) if _is_row(inner) else _marked_sentence(inner)
    yield from (_other(part) for part in run[end:])


def _has_words(run: list[Piece]) -> bool:
    words = "".join(part.source for part in run if part.kind is Part.TEXT)
    plurals = [
        found[1] for part in run if part.kind is Part.EXPRESSION and (found := _PLURAL.match(part.code))
    ]
    if _NO_TEXT.fullmatch(words.strip()):
        return False
    return any(_LETTERS.search(unescape(text)) for text in (words, *plurals))


def _marked_sentence(run: list[Piece]) -> Iterator[str]:
    first, last = run[0], run[-1]
    lead = _space(first.source, at_end=False) if first.kind is Part.TEXT else ""
    tail = _space(last.source, at_end=True) if last.kind is Part.TEXT else ""
    yield (
        lead
        + _sentence([Piece(first.kind, first.source[len(lead) :], first.inner), *run[1:]]).source()
        + tail
    )


def _is_row(run: list[Piece]) -> bool:
    """Return whether the run is a row of elements, such as links, with no words between them."""
    between, elements = _top_level(run)
    return elements > 0 and not _has_words(between)


def _top_level(run: list[Piece]) -> tuple[list[Piece], int]:
    between: list[Piece] = []
    depth = elements = 0
    for part in run:
        if part.kind is Part.TAG and part.tag_name not in _EMPTY:
            depth += -1 if part.is_closing else 1
            elements += 1
        elif depth == 0:
            between.append(part)
    return between, elements


def _separate(run: list[Piece]) -> Iterator[str]:
    """Yield a row of elements, each of which has its own sentence."""
    depth = 0
    inner: list[Piece] = []
    for part in run:
        is_tag = part.kind is Part.TAG and part.tag_name not in _EMPTY
        if is_tag and part.is_closing:
            depth -= 1
        if is_tag and depth == 0:
            yield from _run(inner)
            inner = []
            yield _other(part)
        elif depth == 0:
            yield _other(part)
        else:
            inner.append(part)
        if is_tag and not part.is_closing:
            depth += 1
    yield from (_other(part) for part in inner)


def _space(text: str, *, at_end: bool) -> str:
    bare = text.rstrip() if at_end else text.lstrip(_LEADING)
    return text[len(bare) :] if at_end else text[: len(text) - len(bare)]


def _bounds(run: list[Piece]) -> tuple[int, int]:
    """Return where the sentence starts and ends: without white space and tags that surround it."""
    start, end = 0, len(run)
    changed = True
    while changed and start < end:
        changed = False
        first, last = run[start], run[end - 1]
        if _is_blank(first) or (first.kind is Part.TAG and _partner(run, start, end) in {None, end - 1}):
            start, changed = start + 1, True
        elif _is_blank(last) or (last.kind is Part.TAG and _opener(run, start, end) in {None, start - 1}):
            end, changed = end - 1, True
    return start, end


def _is_blank(part: Piece) -> bool:
    return part.kind is Part.TEXT and not part.source.strip()


def _partner(run: list[Piece], start: int, end: int) -> int | None:
    """Return the index of the tag that closes the first one, if it is in the run."""
    return _match(run, range(start, end), run[start])


def _opener(run: list[Piece], start: int, end: int) -> int | None:
    """Return the index of the tag that the last one closes, if it is in the run."""
    last = run[end - 1]
    if not last.is_closing:
        return None
    return _match(run, range(end - 1, start - 1, -1), last)


def _match(run: list[Piece], indexes: range, tag: Piece) -> int | None:
    depth = 0
    if tag.tag_name in _EMPTY or (tag.is_closing and indexes.step > 0):
        return None
    for index in indexes:
        part = run[index]
        if part.kind is Part.TAG and part.tag_name == tag.tag_name:
            depth += 1 if part.is_closing == tag.is_closing else -1
            if depth == 0:
                return index
    return None


def _sentence(run: list[Piece]) -> _Sentence:
    sentence = _Sentence()
    plurals = [
        match[2] for part in run if part.kind is Part.EXPRESSION and (match := _PLURAL.match(part.code))
    ]
    sentence.counted = plurals[0] if plurals else ""
    for part in run:
        if part.kind is Part.TEXT:
            sentence.add(re.sub(r"\s+", " ", part.source))
        elif part.kind is Part.TAG and not part.is_dynamic:
            sentence.add(part.source)
        elif part.kind is Part.TAG:
            name = f"{part.tag_name}_tag"
            variable = f"{name}_{len(sentence.before)}"
            sentence.before.append(f"{{% set {variable} %}}{_tag(part)}{{% endset %}}")
            sentence.add(sentence.placeholder(name, variable))
        elif (match := _PLURAL.match(part.code)) and match[2] == sentence.counted:
            sentence.add(match[1], match[3])
        else:
            sentence.add(sentence.placeholder(_name_of(part.code), f"({_marked_code(part.code)})"))
    for parts in (sentence.one, sentence.other):
        parts[0], parts[-1] = parts[0].lstrip(), parts[-1].rstrip() if len(parts) > 1 else parts[-1].strip()
    return sentence


def _marked_code(code: str) -> str:
    return _with_literals(code, branches=True)


def _name_of(code: str) -> str:
    """Return a name for an expression: its last identifier that is no filter."""
    bare = _STRING.sub("", code.split("|", maxsplit=1)[0].split(" if ", maxsplit=1)[0])
    names = [name for name in _IDENTIFIER.findall(bare) if name not in _RESERVED]
    return names[-1].lower() if names else "value"


def _with_literals(source: str, *, branches: bool) -> str:
    """Return code with `_()` around the literals that are texts.

    A literal is one if it begins with a capital letter and is neither compared with something nor the key of
    a dictionary; with `branches`, also if it is what a conditional expression results in.
    """

    def replace(found: re.Match[str]) -> str:
        text = found[1] if found[1] is not None else found[2]
        before, after = source[: found.start()], source[found.end() :]
        if not _LETTERS.search(text) or _NO_TEXT.fullmatch(text) or _is_silent(before, after):
            return found[0]
        is_branch = branches and (re.search(r"\belse\s+$", before) or re.match(r"\s+if\b", after))
        is_joined = branches and " " in text and (re.search(r"~\s*$", before) or re.match(r"\s*~", after))
        is_badge = re.search(r"\bbadge\(\s*$", before)
        if re.match(r"[A-ZÀ-Ý]", text) or is_branch or is_joined or is_badge:
            return f"_({found[0]})"
        return found[0]

    return _STRING.sub(replace, source)


def _is_silent(before: str, after: str) -> bool:
    if re.match(r"\s*:", after) and re.search(r"[{,]\s*$", before):
        return True
    if re.search(r"(?:[=!<>]=|\bin\s*\(?(?:\s*[\"'][^\"']*[\"']\s*,)*)\s*$", before):
        return True
    if re.search(r"\[\s*$", before) and re.match(r"\s*\]", after) and re.search(r"[\w\)\]]\[\s*$", before):
        return True
    return any(pattern.search(before) for pattern in (_SILENT_CALLS, _CONTEXT, _SILENT_KEYWORD))
