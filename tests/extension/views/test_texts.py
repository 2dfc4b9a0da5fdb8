"""Every text of the extension comes from _locales; none is missing and none is unused.

Without a browser: the tests read the sources, and Node.js runs the module that builds the error messages.
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
from typing import Any

import pytest

from app.domain.errors import all_problems
from app.domain.exclusions import CRM_STAGE, Reason
from app.domain.findings import EmailStatus
from app.domain.kinds import Kind, Outcome, Status, TraceOutcome
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.engine.contacts.bounce_reports import FeedbackKind
from app.engine.lookups.field_requests import TYPES
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.pushes import PushOutcome
from app.features.crm.vendors.registry import CRMS
from app.features.quality.refunds import RefundDecision

EXTENSION = Path(__file__).parents[3] / "extension"
SOURCES = {
    path.relative_to(EXTENSION).as_posix(): path.read_text()
    for path in EXTENSION.rglob("*.js")
    if path.parent.name != "vendor"
}
LANGUAGES = {
    path.parent.name: {key: text["message"] for key, text in json.loads(path.read_text()).items()}
    for path in sorted((EXTENSION / "_locales").glob("*/messages.json"))
}
TEXTS = LANGUAGES["en"]
TRANSLATED = sorted(LANGUAGES.keys() - {"en"})
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/                                        # a comment
    |"(?P<string>(?:\\.|[^"\\\n])*)"|`(?P<template>(?:\\.|[^`\\])*)`
    |(?<=[(=,:!&|?]) ?/(?:\\.|\[(?:\\.|[^]\\\n])*\]|[^/\\\n\[])+/  # a regular expression""",
    re.VERBOSE | re.DOTALL,
)
LISTED_KINDS = {Kind.REVEAL_EMAIL, Kind.REVEAL_PHONE, Kind.ENRICHMENT_REQUEST}
CLIENT_CODES = {"server_unreachable", "not_this_service"}  # errors without a response of the service
UNFINISHED = {"queued", "running", "succeeded"}  # states that the views show in another way
FAMILIES = {
    "status": {status.value for status in EmailStatus},
    "outcome": {outcome.value for outcome in TraceOutcome},
    "state": {outcome.value for outcome in Outcome} | {status.value for status in Status} - UNFINISHED,
    "kind": {kind.value.replace(".", "_") for kind in (*LISTED_KINDS, Kind.PEOPLE_SEARCH)}
    | {"email", "phone"},
    "type": {kind for kinds in TYPES.values() for kind in kinds},
    "exclusion": {reason.value for reason in Reason} | {CRM_STAGE},
    "error": set(all_problems()) | CLIENT_CODES,
    "crm": {outcome.value for outcome in PushOutcome if not outcome.startswith("would_")}
    | {crm.name for crm in CRMS},
    "report": {kind.value for kind in FeedbackKind} - {"valid"},
    "refund": {decision.value for decision in RefundDecision},
    "record": {kind.value for kind in RecordKind} | {"entry"},
}
PLURALS = ("one", "other")
CODE_LIKE = re.compile(r"[#/:=@${}|]|^[a-z .-]+$")  # selectors, URLs, class names
NOT_WORDS = {"use strict", "Content-Type", "Accept", "Person", "ApiError", "GET", "POST"}
NODE_SCRIPT = """
import { readFileSync } from "node:fs";
const [texts, source, language, given] = JSON.parse(readFileSync(0, "utf8"));
globalThis.chrome = { i18n: { getUILanguage: () => language,
  getMessage: (key, values) => (texts[key] ?? "").replace(/\\$(\\d)/g, (_, n) => values[n - 1] ?? "") } };
const { errorMessage, plural } = await import("data:text/javascript," + encodeURIComponent(source));
"""
ERRORS_SCRIPT = """
console.log(JSON.stringify(given.map((problem) => errorMessage(problem, "https://contacts.example.com"))));
"""
PLURAL_SCRIPT = 'console.log(JSON.stringify(plural("credits", given)));'


def test_every_text_that_is_used_exists() -> None:
    used = {key for source in SOURCES.values() for key in _literal_keys(source)}
    in_manifest = set(re.findall(r"__MSG_(\w+)__", (EXTENSION / "manifest.json").read_text()))

    assert len(used) > 80
    assert used | in_manifest <= set(TEXTS), used - set(TEXTS)


def test_every_enum_value_of_the_service_has_a_text() -> None:
    shown = {"status", "outcome", "state", "kind", "type", "record", "report", "refund"}

    missing = {f"{family}_{value}" for family in shown for value in FAMILIES[family]} - set(TEXTS)

    assert not missing


def test_no_text_is_unused() -> None:
    strings = {text for source in SOURCES.values() for text in _strings(source)}
    in_manifest = re.findall(r"__MSG_(\w+)__", (EXTENSION / "manifest.json").read_text())
    counted = {f"{key}_{form}" for key in strings for form in PLURALS}
    built = {f"{family}_{value}" for family, values in FAMILIES.items() for value in values}
    prefixes = {start for source in SOURCES.values() for start in _key_prefixes(source)}
    composed = {f"{prefix}{text}" for prefix in prefixes for text in strings if re.fullmatch("[a-z_]+", text)}

    unused = set(TEXTS) - strings - set(in_manifest) - counted - built - composed

    assert not unused


def test_every_text_has_one_placeholder_per_value() -> None:
    calls = [call for source in SOURCES.values() for call in _calls(source)]
    wrong = {
        (key, argument_count, TEXTS[key])
        for keys, argument_count in calls
        for key in keys
        if key in TEXTS and argument_count != len(set(re.findall(r"\$\d", TEXTS[key])))
    }
    plurals = {key for key in TEXTS if key.removesuffix("_one") + "_other" in TEXTS and key.endswith("_one")}

    assert len(calls) > 90
    assert not wrong
    assert all(TEXTS[key].count("$1") == 1 and "$2" not in TEXTS[key] for key in plurals)
    assert all("$2" not in text for key, text in TEXTS.items() if key.startswith("error_"))


def test_the_page_and_the_scripts_contain_no_user_visible_words() -> None:
    page = _VisibleText()
    page.feed((EXTENSION / "panel.html").read_text())
    in_scripts = {
        (name, text)
        for name, source in SOURCES.items()
        for text in _strings(source)
        if name != "generic_rules.js"  # words that are looked for on pages, and never shown
        and (re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", text) or re.fullmatch(r"[A-Z][a-z]+[.!?]?", text))
        and not CODE_LIKE.search(text)
        and text not in NOT_WORDS
    }

    assert page.found == []
    assert not in_scripts


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_has_no_key_that_english_lacks_and_the_same_placeholders(language: str) -> None:
    translated = LANGUAGES[language]

    stale = {key for key in translated if key not in TEXTS and not _is_further_plural(key)}
    other = {
        key
        for key, text in translated.items()
        if _placeholders(text) != _placeholders(TEXTS.get(key) or TEXTS[_other_form(key)])
    }

    assert not stale
    assert not other
    assert translated["language"] == language


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_is_complete_and_within_the_stores_limits(language: str) -> None:
    translated = LANGUAGES[language]
    same = {key for key, text in translated.items() if text == TEXTS.get(key) and " " in text}

    assert set(TEXTS) <= set(translated), "Chrome shows the English text of a key that is missing"
    assert same <= {"crm_zoho", "history_state", "known_in", "seconds"}
    assert all(text == text.strip() and text for text in translated.values())
    assert not [text for text in translated.values() if re.search(r"  |\.\.\.|'", text)]
    assert len(translated["name"]) <= 45
    assert len(translated["description"]) <= 132


@pytest.mark.parametrize(
    ("language", "count", "expected"),
    [
        ("en", 0, "0 credits"),
        ("en", 1, "1 credit"),
        ("de", 1, "1 Credit"),
        ("de", 12_345, "12.345 Credits"),
        ("fr", 0, "0 crédit"),
        ("fr", 2, "2 crédits"),
        ("fr", 1_000_000, "1\u202f000\u202f000 de crédits"),
        ("es", 1, "1 crédito"),
        ("es", 1_000_000, "1.000.000 de créditos"),
        ("de-AT", 12_345, "12\u00a0345 Credits"),
        ("pl", 2, "2 credits"),
        ("ru", 21, "21 credits"),
    ],
)
def test_a_number_has_the_plural_form_of_the_language_of_the_texts(
    language: str, count: int, expected: str
) -> None:
    assert _run(PLURAL_SCRIPT, language, count) == expected


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_list_that_was_downloaded_in_a_language_can_be_uploaded_again(language: str) -> None:
    header = [text for key, text in LANGUAGES[language].items() if key.startswith("column_")]

    mapping = map_columns(header, Entity.CONTACTS)

    assert mapping.unknown == ()


def test_every_error_of_the_service_has_a_readable_message() -> None:
    known = [
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
    client = [{"code": code, "status": 0} for code in sorted(CLIENT_CODES)]
    newer = [{"code": "made_next_year", "status": 418, "title": "Teapot", "detail": "Boil it elsewhere."}]

    messages = _error_messages([*known, *client, *newer])

    by_code = dict(zip([problem["code"] for problem in [*known, *client, *newer]], messages, strict=True))
    assert all(re.fullmatch(r"[A-Z0-9a-z].*\.", message) for message in messages), by_code
    assert all("undefined" not in message and "$" not in message for message in messages), by_code
    assert "7 s" in by_code["rate_limited"]
    assert "2 credits" in by_code["insufficient_credits"]
    assert "has 1 credit." in by_code["insufficient_credits"]
    assert by_code["spending_limit_reached"] == TEXTS["error_spending_limit_reached"]
    assert by_code["server_unreachable"].startswith("contacts.example.com does not respond")
    assert by_code["made_next_year"] == "The request failed: Boil it elsewhere."
    assert {by_code[code] for code in ("missing_token", "invalid_token")} == {TEXTS["error_signed_out"]}


def test_texts_are_trimmed_and_within_the_stores_limits() -> None:
    assert all(re.fullmatch("[a-z][a-z_]*", key) for key in TEXTS)
    assert all(text == text.strip() and text for text in TEXTS.values())
    assert not [text for text in TEXTS.values() if re.search(r"anonym|  |\.\.\.|!", text)]
    assert len(TEXTS["name"]) <= 45
    assert len(TEXTS["description"]) <= 132


class _VisibleText(HTMLParser):
    """Collects the text of a page that a user reads or a screen reader announces."""

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
    """Yield each string of a script, and the constant parts of each template."""
    for token in TOKEN.finditer(source):
        if token["string"] is not None:
            yield token["string"]
        elif token["template"] is not None:
            yield re.sub(r"\$\{[^}]*\}", "\0", token["template"]).replace("\0", "")
            yield from _strings(" ".join(re.findall(r"\$\{([^}]*)\}", token["template"])))


def _key_prefixes(source: str) -> Iterator[str]:
    """Yield the prefixes of keys built by a template: `receipt_` of `receipt_${name}`."""
    for token in TOKEN.finditer(source):
        if token["template"] and (start := re.match(r"([a-z]+_)\$\{\w+\}$", token["template"])):
            yield start[1]


def _calls(source: str) -> Iterator[tuple[list[str], int]]:
    """Yield each call of t(): its possible keys and the number of its values."""
    code = _without_comments(source)
    for call in re.finditer(r"(?<![\w.])t\(", code):
        key, *values = _arguments(code[call.end() :])
        names = re.findall(r'"([a-z_]+)"', key.partition(" ? ")[2] or key) if '"' in key else []
        if not any(value.startswith("...") for value in values):
            yield names, len(values)


def _literal_keys(source: str) -> Iterator[str]:
    for names, _values in _calls(source):
        yield from names
    for function in ("plural",):
        for key in re.findall(rf'\b{function}\("([a-z_]+)"', _without_comments(source)):
            yield from (f"{key}_{form}" for form in PLURALS)
    if 'field("' in source:  # a field's label has the name of the field
        yield from re.findall(r'\bfield\("([a-z_]+)"', source)


def _arguments(code: str) -> list[str]:
    """Return the arguments of a call; the code starts after its opening bracket."""
    depth, start, found = 0, 0, []
    for index, sign in enumerate(_mask_strings(code)):
        if sign in "([{":
            depth += 1
        elif sign in ")]}" and depth > 0:
            depth -= 1
        elif sign in ",)" and depth == 0:
            found.append(code[start:index].strip())
            start = index + 1
            if sign == ")":
                break
    return [argument for argument in found if argument]


def _mask_strings(code: str) -> str:
    """Return the code with the contents of its strings masked."""
    return TOKEN.sub(lambda token: '"' + "_" * (len(token[0]) - 2) + '"', code)


def _error_messages(problems: list[dict[str, object]]) -> list[str]:
    messages: list[str] = _run(ERRORS_SCRIPT, "en", problems)
    return messages


def _run(script: str, language: str, given: object) -> Any:
    """Run a script on the module of the texts, with the texts that Chrome would choose for the language."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    texts = TEXTS | LANGUAGES.get(language.partition("-")[0], {})
    run = subprocess.run(
        [node, "--input-type=module", "-e", NODE_SCRIPT + script],
        input=json.dumps([texts, SOURCES["texts.js"], language, given]),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def _placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"\$\d", text))


def _other_form(key: str) -> str:
    return f"{key.rpartition('_')[0]}_other"


def _is_further_plural(key: str) -> bool:
    """Return whether the key is a plural form that English does not have."""
    return key.rpartition("_")[2] in {"zero", "two", "few", "many"} and _other_form(key) in TEXTS
