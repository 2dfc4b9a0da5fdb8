"""Names of countries, as people write them."""

from __future__ import annotations

import pytest

from app.domain.errors import InvalidValue
from app.domain.normal.places.countries import country_code
from app.domain.normal.places.places import parse_location


@pytest.mark.parametrize(
    ("text", "code"),
    [
        # In the country's own language: CLDR, https://github.com/unicode-org/cldr
        ("Polska", "PL"),
        ("Sverige", "SE"),
        ("Česko", "CZ"),
        ("Česká republika", "CZ"),
        ("Magyarország", "HU"),
        ("Россия", "RU"),
        ("Україна", "UA"),
        ("Ελλάδα", "GR"),
        ("日本", "JP"),
        ("대한민국", "KR"),
        ("中国", "CN"),
        ("台灣", "TW"),
        ("Türkiye", "TR"),
        # Short, and twice
        ("Bundesrepublik Deutschland", "DE"),
        ("KSA", "SA"),
        ("Holland", "NL"),
        ("United Kingdom (UK)", "GB"),
        ("Deutschland (Germany)", "DE"),
    ],
)
def test_a_country_is_known_by_its_own_name_and_by_short_ones(text: str, code: str) -> None:
    assert country_code(text) == code


@pytest.mark.parametrize(
    "text", ["USA/Canada", "EMEA", "DACH", "Worldwide", "New Jersey", "Germany (Berlin)", "France (UK)"]
)
def test_a_region_or_several_countries_are_no_country(text: str) -> None:
    with pytest.raises(InvalidValue):
        country_code(text)


@pytest.mark.parametrize(
    ("text", "city"),
    [
        # Areas, as LinkedIn writes them in its languages
        ("Großraum München", "München"),
        ("München und Umgebung", "München"),
        ("Paris et périphérie", "Paris"),
        ("Madrid y alrededores", "Madrid"),
        ("São Paulo e Região", "São Paulo"),
        ("Amsterdam en omgeving", "Amsterdam"),
        ("Stockholm med omnejd", "Stockholm"),
    ],
)
def test_the_area_around_a_town_has_its_name(text: str, city: str) -> None:
    assert parse_location(text) == (city, None)
