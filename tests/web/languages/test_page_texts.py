"""What pages say of statuses, places and sizes, and that none of it is fixed in one language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from apiflask import APIFlask
from babel.messages.catalog import Catalog
from jinja2 import nodes

from app.web.pages import rendering, value_words
from tools import languages
from tools.languages import SOURCE

OF_THE_API = SOURCE / "pages/start.py"
"""It describes a response of the API, in English."""


def test_no_template_formats_a_constant(app: APIFlask) -> None:
    """Jinja does so once, in the language of the first reader."""
    templates = {
        path: app.jinja_env.parse(path.read_text("utf-8")) for path in SOURCE.rglob("templates/**/*.html")
    }

    found = {
        f"{path.name}: {node.name}"
        for path, template in templates.items()
        for node in template.find_all(nodes.Filter)
        if isinstance(node.node, nodes.Const)
    }

    assert templates
    assert found == set()


def test_every_sentence_of_a_module_of_pages_can_be_translated() -> None:
    known = set(texts_of(languages.read("de")))

    found = {
        f"{path.relative_to(SOURCE)}: {sentence}"
        for path in SOURCE.rglob("*.py")
        if "pages" in (path.stem, *path.parent.parts[-2:]) and path != OF_THE_API
        for sentence in sentences(path.read_text("utf-8"))
        if sentence not in known
    }

    assert found == set()


def test_a_sentence_is_found_unless_it_documents() -> None:
    source = '"""A module."""\nREASON = "This is said."\n"""Of what."""\nNAME = "Not this"'

    assert list(sentences(source)) == ["This is said."]


def texts_of(catalogue: Catalog) -> Iterator[str]:
    for message in catalogue:
        yield from (message.id,) if isinstance(message.id, str) else message.id


def sentences(source: str) -> Iterator[str]:
    """Yield the strings that end as a sentence does, but for docstrings."""
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documentation:
            continue
        if isinstance(node.value, str) and re.fullmatch(r"[A-Z].* .*[.?]", node.value, re.DOTALL):
            yield node.value


@pytest.mark.parametrize(
    ("language", "place", "size"),
    [("en", "Bonn, Germany", "1\u202f001\u20135\u202f000"), ("de", "Bonn, Deutschland", "1.001\u20135.000")],
)
def test_a_place_and_a_size_are_as_the_reader_writes_them(
    app: APIFlask, language: str, place: str, size: str
) -> None:
    with app.test_request_context(headers={"Accept-Language": language}):
        assert rendering.place({"city": "Bonn", "country": "DE"}) == place
        assert rendering.place({"city": None, "country": "Ruritania"}) == "Ruritania"
        assert rendering.place({"city": None, "country": None}) == rendering.NONE
        assert rendering.headcount("1001-5000") == size


def test_the_best_statuses_come_first() -> None:
    counts = {"unknown": 9, "other": 1, "not_found": 3, "valid": 2, "found": 4}

    assert [name for name, _count in value_words.ranked(counts)] == [
        "valid",
        "unknown",
        "found",
        "not_found",
        "other",
    ]


@pytest.mark.parametrize(
    ("status", "of_number", "text", "tone"),
    [
        ("valid", False, "Verified", "good"),
        ("unknown", False, "Unknown", ""),
        ("suppressed", False, "Opted out", "fair"),
        ("valid", True, "Assigned", "good"),
        ("invalid", True, "Not assigned", "bad"),
        ("of_a_later_release", False, "Of a later release", ""),
    ],
)
def test_a_verdict_says_what_was_verified(status: str, text: str, tone: str, *, of_number: bool) -> None:
    assert value_words.verdict(status, of_number=of_number) == (text, tone)


@pytest.mark.parametrize(
    ("status", "outcome", "kind", "text"),
    [
        ("succeeded", "found", "reveal_email", "Found"),
        ("succeeded", "not_found", "verification", "Finished"),
        ("succeeded", "suppressed", "verification", "Opted out"),
        ("running", None, "verification", "In progress"),
    ],
)
def test_a_verification_finds_nothing_and_finishes(
    status: str, outcome: str | None, kind: str, text: str
) -> None:
    assert value_words.result(status, outcome, kind).text == text


def test_a_job_that_ended_without_an_outcome_is_named_in_the_language_of_the_reader(app: APIFlask) -> None:
    with app.test_request_context(headers={"Accept-Language": "de"}):
        assert rendering.shown(value_words.result("succeeded", None).text) == "Abgeschlossen"
