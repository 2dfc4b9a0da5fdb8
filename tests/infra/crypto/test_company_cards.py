"""The published company cards, sealed in Python and opened in JavaScript; the latter needs Node.js.

`python tests/infra/crypto/test_company_cards.py` writes the vectors again after a change of the format.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from node_support import run_in_node
from sealed_cards_support import open_card

from app.domain.normal.hashes import website_hash
from app.infra.crypto import company_cards
from app.infra.crypto.company_cards import CardKey
from app.infra.crypto.oprf import OprfKey

VECTORS = Path(__file__).parents[3] / "app/domain/data/company_card_vectors.json"
READER = Path(__file__).with_name("company_card_reader.mjs")
SEED, ANOTHER_SEED = bytes(range(32)), bytes(32)
KEY, ANOTHER_KEY = OprfKey.derive(SEED), OprfKey.derive(ANOTHER_SEED)
PREFIX_DIGITS = 2
CARD_BYTES = 192
NAMES = {
    "acme.example": "Acme Engines",
    "kabushiki.example": "Ünïcode & Sons 株式会社",
    "nameless.example": None,
}


def vectors() -> dict[str, Any]:
    """Compute the vectors."""
    return {
        "seed": SEED.hex(),
        "public_key": KEY.public.hex(),
        "another_public_key": ANOTHER_KEY.public.hex(),
        "info": "company card",
        "cards": [_vector(number, domain) for number, domain in enumerate(NAMES)],
    }


def _vector(number: int, domain: str) -> dict[str, Any]:
    output = KEY.output(website_hash(domain))
    card_key = company_cards.card_key(output)
    company = {
        "id": f"com_{number:024}",
        "name": NAMES[domain],
        "domain": domain,
        "contacts_count": number,
    }
    card = json.dumps(company, ensure_ascii=False, separators=(",", ":")).encode().ljust(CARD_BYTES)
    sealed = company_cards.seal(card_key, KEY.public, card, nonce=bytes([number] * 12))
    return {
        "website": domain,
        "hash": website_hash(domain).hex(),
        "output": output.hex(),
        "id": card_key.id.hex(),
        "key": card_key.key.hex(),
        "prefix": output.hex()[:PREFIX_DIGITS],
        "sealed": base64.b64encode(sealed).decode(),
        "company": company,
    }


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(VECTORS.read_text(encoding="utf-8"))
    return read


@pytest.fixture(scope="module")
def opened_in_javascript() -> list[dict[str, Any]]:
    """The results of the extension's module."""
    answers: list[dict[str, Any]] = run_in_node(READER, VECTORS)
    return answers


def test_the_published_cards_are_those_that_python_seals(published: dict[str, Any]) -> None:
    assert published == vectors()


def test_the_output_opens_a_published_card(published: dict[str, Any]) -> None:
    for card in published["cards"]:
        match = {"suffix": card["id"][PREFIX_DIGITS:], "sealed": card["sealed"]}
        response = {"key": published["public_key"], "prefix": card["prefix"], "matches": [match]}

        assert open_card(response, bytes.fromhex(card["output"])) == card["company"]


def test_javascript_opens_the_published_cards(
    published: dict[str, Any], opened_in_javascript: list[dict[str, Any]]
) -> None:
    opened = [answer["opened"] for answer in opened_in_javascript]

    assert opened == [card["company"] for card in published["cards"]]


def test_javascript_opens_no_other_card(opened_in_javascript: list[dict[str, Any]]) -> None:
    others = [
        (name, company)
        for answer in opened_in_javascript
        for name, company in answer.items()
        if name != "opened"
    ]

    assert len(others) == 9 * len(NAMES)
    assert [name for name, company in others if company is not None] == []


def test_the_id_does_not_open_the_card() -> None:
    """Everyone gets the ids of all cards by asking for all prefixes."""
    output = KEY.output(website_hash("acme.example"))
    sealed = company_cards.seal(company_cards.card_key(output), KEY.public, b"{}")
    guess = company_cards.card_key(output[:16] + bytes(48))
    match = {"suffix": output[:16].hex(), "sealed": base64.b64encode(sealed).decode()}

    assert guess.id == output[:16]
    with pytest.raises(InvalidTag):
        open_card({"key": KEY.public.hex(), "prefix": "", "matches": [match]}, output[:16] + bytes(48))


def test_a_card_is_never_sealed_with_the_same_nonce() -> None:
    card_key = CardKey(bytes(16), bytes(32))

    sealed = {company_cards.seal(card_key, KEY.public, b"{}")[:12] for _ in range(100)}

    assert len(sealed) == 100


if __name__ == "__main__":
    VECTORS.write_text(json.dumps(vectors(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
