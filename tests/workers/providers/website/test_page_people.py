from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from workers.providers.website.page_people import PageReading, read_page

CASES = json.loads((Path(__file__).parent / "page_cases.json").read_text(encoding="utf-8"))
"""Structures of pages; `source` is where such pages, or bugs of other readers with them, are described."""
MAX_SECONDS = 4.0
CARD = "<div><h3>Ada {0}</h3><p>CTO</p><p>{0}@acme.de</p></div>"


def read(html: str | bytes, **options: Any) -> PageReading:
    page = html.encode() if isinstance(html, str) else html
    return read_page(page, **{"url": "https://acme.de/team", "domain": "acme.de", **options})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_page_is_read(case: dict[str, Any]) -> None:
    html = case["html"].encode(case.get("encoding") or case.get("charset") or "utf-8")

    found = read(html, url=case.get("url", "https://acme.de/team"), charset=case.get("charset"))

    people = [{name: value for name, value in asdict(person).items() if value} for person in found.people]
    assert people == case["people"]
    assert list(found.role_addresses) == case.get("role_addresses", [])
    assert found.is_noindex is case.get("is_noindex", False)
    assert list(found.links) == case.get("links", list(found.links))


def test_the_country_of_numbers_is_given_or_from_the_domain_or_the_language() -> None:
    card = "<div><h3>Ada Lovelace</h3><p>CTO</p><p>{}</p></div>"

    given = read(card.format("030 901820"), domain="acme.com", url="https://acme.com/team", country="DE")
    region = read(
        f"<html lang=de-AT>{card.format('01 58858')}", domain="acme.com", url="https://acme.com/team"
    )
    language = read(
        f"<html lang=pl>{card.format('22 250 01 15')}", domain="acme.com", url="https://acme.com/team"
    )
    unknown = read(card.format("030 901820"), domain="acme.com", url="https://acme.com/team")

    phones = [found.people[0].phone for found in (given, region, language, unknown)]
    assert phones == ["+4930901820", "+43158858", "+48222500115", None]


def hostile() -> Iterator[bytes]:
    for text in (
        "<div>", "<b>", "<p>", "<li>", "<svg><option>", "<!--", "<!-- -->", "<script>", "<table>", "<h1>",
        "<a href=x>", "<x y='", "<p><b id=1>", "<", "</", "&amp;", "a at ", "( at ) ", "1 ", " ", "\0", "[",
        "a.", "a:", "ada@acme.de ", "Ada Lovelace ", "CEO: ", "Ada, ", "<p>Ada Lovelace</p><p>CTO</p>",
        "Ada Lovelace Byron King ada.lovelace@acme.de ", "<p>Ada Lovelace Byron Ada<p>king.ada@acme.de",
        "Ada\u00a0+49 30 (9) ",
    ):  # fmt: skip
        yield (text * (1_000_000 // len(text))).encode()
    yield b"<script type='application/ld+json'>" + b"[" * 200_000 + b"</script>"
    yield b"<script type='application/ld+json'>" + b"[{}," * 60_000 + b"{}]</script>"
    yield "".join(CARD.format(f"B{index}") for index in range(10_000)).encode()
    yield "".join(CARD.format("B" + chr(97 + index % 26) * 3) for index in range(10_000)).encode()
    yield b"x" * 10_000_000
    yield ("<p>" + "".join(f"<b id={index}>" for index in range(15)) + "<p>x" * 200_000).encode()


@pytest.mark.parametrize("page", list(hostile()), ids=lambda page: ascii(page[:24]))
def test_a_hostile_page_is_read_within_seconds(page: bytes) -> None:
    started = time.process_time()

    read(page)

    assert time.process_time() - started < MAX_SECONDS


def test_what_follows_a_page_too_deep_is_left_out() -> None:
    found = read(CARD.format("Lovelace") + "<div>" * 10_000 + CARD.format("Byron"))

    assert [person.full_name for person in found.people] == ["Ada Lovelace"]
