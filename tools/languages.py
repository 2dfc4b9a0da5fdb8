"""`python -m tools.languages update`: write every text of the service into the catalogues.

`check`, which `dev.py check` runs, fails if a catalogue of `app/translations` lacks a text or has one that
is used no more, and if a translation has other gaps or tags than the English text. `missing de` prints what
has no translation yet, and `fill de FILE` reads translations from a file with an English and a translated
line in turn. A text whose meaning depends on its context is written with it: `address book|Title`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po
from jinja2 import Environment

from app.domain import errors, exclusions, findings, kinds
from app.domain.lists import warning_kinds
from app.factory import BLUEPRINTS  # imports every feature, and so every problem
from app.features.quality.no_bounces import NoBounce
from app.infra.languages import catalogues
from app.web.languages import validation_messages
from app.web.languages.template_texts import TemplateTexts
from tools.state import ROOT


class InContext(NamedTuple):
    """A text that has another translation elsewhere, and its context (`msgctxt`)."""

    context: str
    text: str


Text = str | tuple[str, str] | InContext
SOURCE = ROOT / "app"
WORKERS = ROOT / "workers" / "resolve"
"""Its modules have texts of problems, too, which are stored for a reader."""
ARGUMENTS = {"flash": 0, "gettext": 0, "Message": 0, "InvalidValue": 0, "ValidationError": 0}
"""The argument that is a text, by the function or class to which it is passed."""
SECOND_ARGUMENTS = {"FieldError", "Entry", "Group"}
PLURALS = {"ngettext", "Message"}
ENUMERATIONS = (
    kinds.Outcome,
    kinds.Status,
    kinds.TraceOutcome,
    findings.EmailStatus,
    exclusions.Reason,
    NoBounce,
)
_GAP = re.compile(r"%\(\w+\)s|(?<!\{)\{\w+\}(?!\})")
_TAG = re.compile(r"</?[a-z][^>]*>")


def main(argv: list[str]) -> int:
    """Run a subcommand; return 1 if a catalogue is stale or wrong."""
    match argv:
        case ["update"]:
            texts = set(extracted())
            for language in languages():
                write(language, updated(language, texts))
            return 0
        case ["check"]:
            return check()
        case ["missing", language]:
            sys.stdout.write("".join(f"{text}\n" for text in missing(read(language))))
            return 0
        case ["fill", language, file]:
            fill(language, Path(file).read_text(encoding="utf-8").splitlines())
            return 0
    sys.stderr.write(f"{__doc__}\n")
    return 2


def languages() -> list[str]:
    """Return the languages with catalogues."""
    return [language for language in catalogues.NAMES if language != catalogues.SOURCE]


def extracted() -> Iterator[Text]:
    """Yield every text that a reader may see: a sentence, or its singular and plural."""
    yield from (
        text
        for path in sorted(SOURCE.rglob("templates/**/*.html"))
        for text in of_template(path.read_text("utf-8"))
    )
    named = {kind.__name__ for kind in problem_classes()}
    yield from (
        text
        for path in sorted([*SOURCE.rglob("*.py"), *WORKERS.rglob("*.py")])
        for text in of_module(path.read_text("utf-8"), named)
    )
    for problem in errors.all_problems().values():
        yield from (problem.title, problem.help)
    yield from (kind.label for kind in kinds.KINDS.values())
    yield from (text for kind in warning_kinds.KINDS.values() for text in (kind.text, kind.option) if text)
    yield from (str(value).replace("_", " ") for values in ENUMERATIONS for value in values)
    yield from validation_messages.templates()


def of_template(source: str) -> Iterator[Text]:
    """Yield the texts of a template."""
    environment = Environment(
        extensions=["jinja2.ext.i18n", TemplateTexts], trim_blocks=True, lstrip_blocks=True, autoescape=True
    )
    environment.newstyle_gettext = True  # type: ignore[attr-defined]
    translations = environment.extract_translations(source)  # type: ignore[attr-defined]
    for _line_number, function, found in translations:
        parts = [found] if isinstance(found, str) else [part for part in found or () if part is not None]
        if function == "pgettext":
            yield InContext(*parts)
        elif len(parts) > 1:
            yield parts[0], parts[1]
        else:
            yield from parts


def of_module(source: str, problems: set[str]) -> Iterator[Text]:
    """Yield the texts that a module passes to what shows them to a reader."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg == "errors":
            yield from _values(node.value)
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in PLURALS and len(node.args) > 1:
            pair = [*_literals(node.args[0]), *_literals(node.args[1])]
            if len(pair) == 2:  # noqa: PLR2004 -- singular and plural
                yield pair[0], pair[1]
            continue
        if name == "InvalidForm" and node.args:
            yield from _values(node.args[0])
        index = 1 if name in SECOND_ARGUMENTS else ARGUMENTS.get(name, 0 if name in problems else None)
        if index is not None and len(node.args) > index:
            yield from _literals(node.args[index])


def updated(language: str, texts: set[Text]) -> Catalog:
    """Return the catalogue with these texts and no others; translations are kept."""
    old = read(language)
    new = Catalog(locale=language, project="contact-lookup", version="1", header_comment=f"# {language}")
    for text in sorted(texts, key=_line):
        before = _found(old, _key(text))
        message_id, context = (text.text, text.context) if isinstance(text, InContext) else (text, None)
        new.add(message_id, before.string if before is not None else None, context=context)
    return new


def check() -> int:
    """Print what is wrong with the catalogues; return 1 if anything is."""
    texts = {_key(text) for text in extracted()}
    wrong: list[str] = []
    for language in languages():
        catalogue = read(language)
        known = {_id(message) for message in catalogue if message.id}
        wrong += [f"{language} lacks: {text}" for text in sorted(texts - known)]
        wrong += [f"{language} has, and nothing uses: {text}" for text in sorted(known - texts)]
        wrong += [f"{language}: {fault}" for message in catalogue if (fault := _fault(message))]
        absent = len(missing(catalogue))
        sys.stdout.write(f"{language}: {len(known) - absent} of {len(known)} texts are translated\n")
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    if wrong:
        sys.stdout.write("Run: python3 dev.py run python -m tools.languages update\n")
    return int(bool(wrong))


def missing(catalogue: Catalog) -> list[str]:
    """Return the texts without translation, plural forms in one line."""
    return [
        _with_context(message.context, " || ".join(_texts(message.id))).replace("\n", "\\n")
        for message in catalogue
        if message.id and not all(_texts(message.string or ""))
    ]


def fill(language: str, lines: list[str]) -> None:
    """Store translations: an English and a translated line in turn; plural forms are separated by ` || `."""
    catalogue = read(language)
    for source, translation in zip(lines[::2], lines[1::2], strict=True):
        message = _found(catalogue, source.split(" || ")[0].replace("\\n", "\n"))
        if message is None:
            sys.stderr.write(f"not in the catalogue: {source}\n")
            continue
        forms = translation.replace("\\n", "\n").split(" || ")
        if isinstance(message.id, tuple):
            message.string = (*forms, *[forms[-1]] * (catalogue.num_plurals - len(forms)))
        else:
            message.string = forms[0]
    write(language, catalogue)


def read(language: str) -> Catalog:
    """Return a catalogue as it is committed; a new language has an empty one."""
    path = catalogues.path(language)
    if not path.exists():
        return Catalog(locale=language)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def write(language: str, catalogue: Catalog) -> None:
    """Write a catalogue in an order and form that change with its texts only."""
    path = catalogues.path(language)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalogue, width=0, sort_output=True, omit_header=True, ignore_obsolete=True)
    header = (
        'msgid ""\nmsgstr ""\n'
        '"Content-Type: text/plain; charset=utf-8\\n"\n'
        f'"Language: {language}\\n"\n'
        f'"Plural-Forms: {catalogue.plural_forms}\\n"\n\n'
    )
    path.write_text(header + path.read_text("utf-8"), encoding="utf-8")


def _fault(message: Message) -> str:
    """Return what is wrong with a translation, or an empty text."""
    if not message.id or not message.string:
        return ""
    if message.fuzzy:
        return f"fuzzy: {message.id}"
    sources = _texts(message.id)
    for string in _texts(message.string):
        for pattern, what in ((_GAP, "gaps"), (_TAG, "tags")):
            expected = [set(pattern.findall(source)) for source in sources]
            found = set(pattern.findall(string))
            if string and not any(found == one or (len(sources) > 1 and found <= one) for one in expected):
                return f"other {what} than in English: {string}"
    return ""


def _texts(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """Return the forms of a text or translation: one, or those of its plural."""
    return (text,) if isinstance(text, str) else tuple(text)


def _found(catalogue: Catalog, key: str) -> Message | None:
    """Return the message with this key: its text, or that of its singular, after its context."""
    message = catalogue.get(key)
    context, _bar, text = key.partition("|")
    return message or catalogue.get(text, context)


def _id(message: Message) -> str:
    return _with_context(message.context, _texts(message.id)[0])


def _key(text: Text) -> str:
    return _with_context(*text) if isinstance(text, InContext) else _texts(text)[0]


def _line(text: Text) -> str:
    whole = _key(text) if isinstance(text, InContext) else " || ".join(_texts(text))
    return whole.replace("\n", "\\n")


def _with_context(context: str | None, text: str) -> str:
    return f"{context}|{text}" if context else text


def _values(node: ast.expr) -> Iterator[str]:
    """Yield the texts that are values of a dictionary: the messages of a form by field."""
    if isinstance(node, ast.Dict):
        for value in node.values:
            yield from _literals(value)


def _literals(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.strip():
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _literals(node.body)
        yield from _literals(node.orelse)


def problem_classes() -> Iterator[type]:
    """Yield every class of problems."""
    pending: list[type] = [errors.Problem]
    while pending:
        kind = pending.pop()
        pending.extend(kind.__subclasses__())
        yield kind


assert BLUEPRINTS, "the application is imported"  # noqa: S101 -- the import is what counts

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
