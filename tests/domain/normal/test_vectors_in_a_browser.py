"""The published test vectors, computed in JavaScript as a browser extension does; needs Node.js."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from node_support import run_in_node

from app.domain.errors import InvalidValue
from app.domain.normal.hashes import hex_hash, profile_hash, website_hash
from app.domain.normal.websites import normal_website

VECTORS = Path(__file__).parents[3] / "app/domain/data/vectors.json"
SECTIONS: dict[str, Any] = json.loads(VECTORS.read_text(encoding="utf-8"))
CLIENT = Path(__file__).with_name("browser_client.mjs")
EXACT = ("profile_url", "company_url", "email")


@pytest.fixture(scope="module")
def client() -> dict[str, list[list[dict[str, str]]]]:
    """The results of the JavaScript client."""
    answers: dict[str, list[list[dict[str, str]]]] = run_in_node(CLIENT, VECTORS)
    return answers


def test_python_and_javascript_run_the_same_vectors_at_least_200(
    client: dict[str, list[list[dict[str, str]]]],
) -> None:
    counted = {section: len(answers) for section, answers in client.items()}

    assert counted == {section: len(SECTIONS[section]) for section in ("website", *EXACT)}
    assert sum(counted.values()) >= 200


@pytest.mark.parametrize("section", EXACT)
def test_a_browser_computes_the_same_normal_form_and_hash(
    client: dict[str, list[list[dict[str, str]]]], section: str
) -> None:
    expected = [
        [{"form": vector["normal"], "sha256": hex_hash(profile_hash(vector["normal"]))}]
        if "normal" in vector
        else []
        for vector in SECTIONS[section]
    ]

    assert client[section] == expected


def test_a_websites_hash_is_among_the_candidates_of_a_client_without_a_suffix_list(
    client: dict[str, list[list[dict[str, str]]]],
) -> None:
    missed = [
        vector["input"]
        for vector, candidates in zip(SECTIONS["website"], client["website"], strict=True)
        if "sha256" in vector and {"form": vector["normal"], "sha256": vector["sha256"]} not in candidates
    ]

    assert missed == []


def test_no_candidate_of_an_invalid_website_is_a_stored_hash(
    client: dict[str, list[list[dict[str, str]]]],
) -> None:
    candidates = [
        vector["form"]
        for vector, found in zip(SECTIONS["website"], client["website"], strict=True)
        if "error" in vector
        for vector in found
    ]

    assert candidates == ["co.uk", "github.io", "myshopify.com"]
    for form in candidates:
        with pytest.raises(InvalidValue):
            normal_website(form)


def test_a_candidate_that_is_a_website_is_the_expected_one(
    client: dict[str, list[list[dict[str, str]]]],
) -> None:
    published = {vector["sha256"] for vector in SECTIONS["website"] if "sha256" in vector}

    for vector, found in zip(SECTIONS["website"], client["website"], strict=True):
        known = [vector["sha256"] for vector in found if vector["sha256"] in published]
        assert known[:1] == ([hex_hash(website_hash(vector["normal"]))] if "normal" in vector else [])
