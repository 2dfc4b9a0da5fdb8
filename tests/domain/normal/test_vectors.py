import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.emails import normal_email
from app.domain.normal.hashes import hex_hash, website_hash
from app.domain.normal.names.name_keys import name_key
from app.domain.normal.phones.phones import parse_phone
from app.domain.normal.profiles.profiles import normal_company_url, normal_profile_url
from app.domain.normal.websites import normal_website

SECTIONS: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "app/domain/data/vectors.json").read_text(encoding="utf-8")
)


def normal_phone(text: str, region: str | None) -> str:
    number = parse_phone(text, region)
    return number.e164 + (f";ext={number.extension}" if number.extension else "")


NORMAL: dict[str, Callable[[str], str]] = {
    "website": normal_website,
    "profile_url": normal_profile_url,
    "company_url": normal_company_url,
    "email": normal_email,
    "name_key": name_key,
    "company_key": company_key,
}


def vectors(outcome: str) -> list[Any]:
    return [
        pytest.param(section, vector, id=f"{section} {ascii(vector['input'])[:60]}")
        for section in sorted(SECTIONS.keys() - {"about"})  # the same order in all processes
        for vector in sorted(SECTIONS[section], key=ascii)
        if outcome in vector
    ]


def normal(section: str, vector: dict[str, Any]) -> str:
    if section == "phone":
        return normal_phone(vector["input"], vector.get("region"))
    return NORMAL[section](vector["input"])


def test_there_are_vectors_for_every_normal_form() -> None:
    sections = SECTIONS.keys() - {"about"}

    total = sum(len(SECTIONS[section]) for section in sections)

    assert sections == NORMAL.keys() | {"phone"}
    assert total >= 200


@pytest.mark.parametrize(("section", "vector"), vectors("normal"))
def test_a_published_vector_has_its_normal_form(section: str, vector: dict[str, Any]) -> None:
    assert normal(section, vector) == vector["normal"]


@pytest.mark.parametrize(("section", "vector"), vectors("error"))
def test_a_published_vector_without_a_normal_form_is_refused(section: str, vector: dict[str, Any]) -> None:
    with pytest.raises((InvalidValue, NotAProfileUrl)):
        normal(section, vector)


@pytest.mark.parametrize("vector", [vector for vector in SECTIONS["website"] if "sha256" in vector])
def test_a_websites_published_hash_is_that_of_its_normal_form(vector: dict[str, Any]) -> None:
    assert hex_hash(website_hash(vector["normal"])) == vector["sha256"]
