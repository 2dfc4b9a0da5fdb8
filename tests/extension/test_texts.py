"""Every word that the extension shows comes from _locales, none is missing, and none is left over.

No browser: the sources are read, and the sentences for errors are made by the extension's own module in node.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.core.lookups.disclosure import TYPES
from app.domain.errors import all_problems
from app.domain.findings import EmailStatus
from app.domain.kinds import Kind, Outcome, Status, TraceOutcome

EXTENSION = Path(__file__).parents[2] / "extension"
SOURCES = {path.relative_to(EXTENSION).as_posix(): path.read_text() for path in EXTENSION.rglob("*.js")}
TEXTS = {
    key: text["message"]
    for key, text in json.loads((EXTENSION / "_locales/en/messages.json").read_text()).items()
}
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/                                        # a comment
    |"(?P<string>(?:\\.|[^"\\\n])*)"|`(?P<template>(?:\\.|[^`\\])*)`
    |(?<=[(=,:!&|?]) ?/(?:\\.|\[(?:\\.|[^]\\\n])*\]|[^/\\\n\[])+/  # a regular expression""",
    re.VERBOSE | re.DOTALL,
)
ASKED_ABOUT = {Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE, Kind.ENRICHMENT_REQUEST}
CLIENTS_OWN = {"server_away", "not_this_service"}  # what there is no answer of the service for
WORKING = {"queued", "running", "succeeded"}  # states of a job that are shown as another word
FAMILIES = {
    "status": {status.value for status in EmailStatus},
    "outcome": {outcome.value for outcome in TraceOutcome},
    "state": {outcome.value for outcome in Outcome} | {status.value for status in Status} - WORKING,
    "kind": {kind.value.replace(".", "_") for kind in ASKED_ABOUT} | {"email", "phone"},
    "type": {kind for kinds in TYPES.values() for kind in kinds},
    "error": set(all_problems()) | CLIENTS_OWN,
}
PLURALS = ("one", "other")
CODE = re.compile(r"[#/:=@${}|]|^[a-z .-]+$")  # selectors, addresses, names of classes
NO_TEXTS = {"use strict", "Content-Type", "Accept", "ApiError", "GET", "POST"}
IN_NODE = """
import { readFileSync } from "node:fs";
const [texts, source, problems] = JSON.parse(readFileSync(0, "utf8"));
globalThis.chrome = { i18n: { getUILanguage: () => "en",
  getMessage: (key, values) => (texts[key] ?? "").replace(/\\$(\\d)/g, (_, n) => values[n - 1] ?? "") } };
const { sentence } = await import("data:text/javascript," + encodeURIComponent(source));
console.log(JSON.stringify(problems.map((one) => sentence(one, "https://contacts.example.com"))));
"""


def test_every_text_that_is_shown_exists() -> None:
    asked = {key for source in SOURCES.values() for key in _literal_keys(source)}
    in_manifest = set(re.findall(r"__MSG_(\w+)__", (EXTENSION / "manifest.json").read_text()))

    assert len(asked) > 80
    assert asked | in_manifest <= set(TEXTS), asked - set(TEXTS)


def test_every_value_that_the_service_names_has_its_word() -> None:
    shown = {"status", "outcome", "state", "kind", "type"}

    missing = {f"{family}_{value}" for family in shown for value in FAMILIES[family]} - set(TEXTS)

    assert not missing


def test_no_text_is_left_over() -> None:
    strings = {text for source in SOURCES.values() for text in _strings(source)}
    in_manifest = re.findall(r"__MSG_(\w+)__", (EXTENSION / "manifest.json").read_text())
    counted = {f"{key}_{form}" for key in strings for form in PLURALS}
    built = {f"{family}_{value}" for family, values in FAMILIES.items() for value in values}
    prefixes = {start for source in SOURCES.values() for start in _starts(source)}
    made = {f"{prefix}{text}" for prefix in prefixes for text in strings if re.fullmatch("[a-z_]+", text)}

    left_over = set(TEXTS) - strings - set(in_manifest) - counted - built - made

    assert not left_over


def test_every_text_has_places_for_just_what_is_put_into_it() -> None:
    calls = [call for source in SOURCES.values() for call in _calls(source)]
    wrong = {
        (key, given, TEXTS[key])
        for keys, given in calls
        for key in keys
        if key in TEXTS and given != len(set(re.findall(r"\$\d", TEXTS[key])))
    }
    plurals = {key for key in TEXTS if key.removesuffix("_one") + "_other" in TEXTS and key.endswith("_one")}

    assert len(calls) > 90
    assert not wrong
    assert all(TEXTS[key].count("$1") == 1 and "$2" not in TEXTS[key] for key in plurals)
    assert all(
        "$2" not in text
        for key, text in TEXTS.items()
        if key.startswith("error_") and key != "error_insufficient_credits"
    )


def test_no_word_is_written_into_the_page_or_the_scripts() -> None:
    page = _Words()
    page.feed((EXTENSION / "panel.html").read_text())
    in_scripts = {
        (name, text)
        for name, source in SOURCES.items()
        for text in _strings(source)
        if (re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", text) or re.fullmatch(r"[A-Z][a-z]+[.!?]?", text))
        and not CODE.search(text)
        and text not in NO_TEXTS
    }

    assert page.found == []
    assert not in_scripts


def test_every_error_of_the_service_is_a_sentence_that_a_person_understands() -> None:
    told = [
        {
            "code": code,
            "status": kind.status,
            "title": kind.title,
            "detail": kind.help,
            "retry_after": 7,
            "required": 2,
            "balance": 1,
        }
        for code, kind in all_problems().items()
    ]
    own = [{"code": code, "status": 0} for code in sorted(CLIENTS_OWN)]
    newer = [{"code": "made_next_year", "status": 418, "title": "Teapot", "detail": "Boil it elsewhere."}]

    sentences = _sentences([*told, *own, *newer])

    by_code = dict(zip([one["code"] for one in [*told, *own, *newer]], sentences, strict=True))
    assert all(re.fullmatch(r"[A-Z0-9a-z].*\.", sentence) for sentence in sentences), by_code
    assert all("undefined" not in sentence and "$" not in sentence for sentence in sentences), by_code
    assert "7 s" in by_code["rate_limited"]
    assert "2 credits" in by_code["insufficient_credits"]
    assert "1 credit left" in by_code["insufficient_credits"]
    assert by_code["server_away"].startswith("contacts.example.com does not answer")
    assert by_code["made_next_year"] == "This did not work: Boil it elsewhere."
    assert {by_code[code] for code in ("missing_token", "invalid_token")} == {TEXTS["error_signed_out"]}


def test_the_texts_read_as_texts() -> None:
    assert all(re.fullmatch("[a-z][a-z_]*", key) for key in TEXTS)
    assert all(text == text.strip() and text for text in TEXTS.values())
    assert not [text for text in TEXTS.values() if re.search(r"anonym|  |\.\.\.|!", text)]
    assert len(TEXTS["name"]) <= 45
    assert len(TEXTS["short_name"]) <= 12
    assert len(TEXTS["description"]) <= 132


class _Words(HTMLParser):
    """Collects what a person would read of a page, or hear."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found += [data] if data.strip() else []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 -- not ours
        read = {"alt", "aria-label", "placeholder", "title", "value"}
        self.found += [value for name, value in attrs if name in read and value]


@cache
def _without_comments(source: str) -> str:
    return TOKEN.sub(lambda token: token[0] if _is_text(token) else " ", source)


def _is_text(token: re.Match[str]) -> bool:
    return token["string"] is not None or token["template"] is not None


def _strings(source: str) -> Iterator[str]:
    """Give each string of a script, and what stands still in each template."""
    for token in TOKEN.finditer(source):
        if token["string"] is not None:
            yield token["string"]
        elif token["template"] is not None:
            yield re.sub(r"\$\{[^}]*\}", "\0", token["template"]).replace("\0", "")
            yield from _strings(" ".join(re.findall(r"\$\{([^}]*)\}", token["template"])))


def _starts(source: str) -> Iterator[str]:
    """Give what texts' names made of a template begin with: `receipt_` of `receipt_${one}`."""
    for token in TOKEN.finditer(source):
        if token["template"] and (start := re.match(r"([a-z]+_)\$\{\w+\}$", token["template"])):
            yield start[1]


def _calls(source: str) -> Iterator[tuple[list[str], int]]:
    """Give each call of t(): the names it may ask for, and how many values it puts in."""
    code = _without_comments(source)
    for call in re.finditer(r"(?<![\w.])t\(", code):
        key, *values = _arguments(code[call.end() :])
        names = re.findall(r'"([a-z_]+)"', key.partition(" ? ")[2] or key) if '"' in key else []
        if not any(value.startswith("...") for value in values):
            yield names, len(values)


def _literal_keys(source: str) -> Iterator[str]:
    for names, _values in _calls(source):
        yield from names
    for function in ("counted", "credits"):
        for key in re.findall(rf'\b{function}\("([a-z_]+)"', _without_comments(source)):
            yield from (f"{key}_{form}" for form in PLURALS)
    if 'field("' in source:  # a field's label has the name of the field
        yield from re.findall(r'\bfield\("([a-z_]+)"', source)


def _arguments(code: str) -> list[str]:
    """Give the arguments of a call, whose bracket was just opened."""
    depth, start, found = 0, 0, []
    for at, sign in enumerate(_blanked(code)):
        if sign in "([{":
            depth += 1
        elif sign in ")]}" and depth > 0:
            depth -= 1
        elif sign in ",)" and depth == 0:
            found.append(code[start:at].strip())
            start = at + 1
            if sign == ")":
                break
    return [argument for argument in found if argument]


def _blanked(code: str) -> str:
    """Give the code with nothing in its strings."""
    return TOKEN.sub(lambda token: '"' + "_" * (len(token[0]) - 2) + '"', code)


def _sentences(problems: list[dict[str, object]]) -> list[str]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    told = json.dumps([TEXTS, SOURCES["texts.js"], problems])
    run = subprocess.run(
        [node, "--input-type=module", "-e", IN_NODE], input=told, capture_output=True, text=True, check=True
    )
    sentences: list[str] = json.loads(run.stdout)
    return sentences
