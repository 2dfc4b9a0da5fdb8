import pycountry
import pytest

from app.domain.normal.places.places import country_of_places, parse_location, parse_place, place_in_state
from app.domain.normal.places.subdivisions import subdivisions_called


@pytest.mark.parametrize(
    ("text", "city", "country"),
    [
        ("Saskatoon, SK", "Saskatoon", "CA"),
        ("Toronto, ON, CA", "Toronto", "CA"),
        ("Montreal, Quebec", "Montreal", "CA"),
        ("Calgary AB T2P 1J9", "Calgary", "CA"),
        ("Atlanta, Georgia", "Atlanta", "US"),
        ("Austin, TX", "Austin", "US"),
        ("New York, NY 10001", "New York", "US"),
        ("Miami, Florida", "Miami", "US"),
        ("Washington, D.C.", "Washington", "US"),
        ("Washington DC", "Washington", "US"),
        ("Wilmington, DE", "Wilmington", "US"),
        ("San Jose, CA", "San Jose", "US"),
        ("Gary, IN", "Gary", "US"),
        ("Birmingham, AL", "Birmingham", "US"),
        ("Perth, WA", "Perth", "AU"),
        ("Seattle, WA", "Seattle", "US"),
        ("Sydney NSW", "Sydney", "AU"),
        ("São Paulo, SP", "São Paulo", "BR"),
        ("Vila Velha, ES", "Vila Velha", "BR"),
        ("Bengaluru, KA", "Bengaluru", "IN"),
        ("Mumbai, MH", "Mumbai", "IN"),
        ("München, BY", "München", "DE"),
        ("Zürich, ZH", "Zürich", "CH"),
        ("Milano, MI", "Milano", "IT"),
        ("Ann Arbor, MI", "Ann Arbor", "US"),
        ("Napoli, NA", "Napoli", "IT"),
        ("Paris, Île-de-France", "Paris", "FR"),
        ("Guadalajara, Jalisco", "Guadalajara", "MX"),
        ("Lahore, Punjab", "Lahore", "PK"),
        ("Basel, BS", "Basel", "CH"),
        ("Imola, BO", "Imola", "IT"),
        ("Villeurbanne, Rhône", "Villeurbanne", "FR"),
        ("Reno, NV, 89501", "Reno", "US"),
    ],
)
def test_the_end_of_a_line_may_be_a_state_of_any_country(text: str, city: str, country: str) -> None:
    assert parse_location(text) == (city, country)


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("Tbilisi, Georgia", "GE"),
        ("Bratislava, SK", "SK"),
        ("Berlin, DE", "DE"),
        ("Hamburg, DE", "DE"),
        ("Wien, AT", "AT"),
        ("Graz, AT", "AT"),
        ("Lyon, FR", "FR"),
        ("Málaga, ES", "ES"),
        ("Buenos Aires, AR", "AR"),
        ("Tel Aviv, IL", "IL"),
        ("Minsk, BY", "BY"),
        ("Windhoek, NA", "NA"),
        ("Leeds, UK", "GB"),
        ("San Juan, Puerto Rico", "PR"),
        ("Esch-sur-Alzette, Luxembourg", "LU"),
        ("London, England, United Kingdom", "GB"),
    ],
)
def test_the_end_of_a_line_may_be_a_country_whose_code_or_name_is_that_of_a_state_too(
    text: str, country: str
) -> None:
    assert parse_place(text).country == country


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("Valdosta, Georgia", {"GE", "US"}),
        ("Georgia", {"GE", "US"}),
        ("Pforzheim, DE", {"DE", "US"}),
        ("Olympia, WA", {"AU", "US"}),
        ("Lincoln, IL", {"IL", "US"}),
        ("Sialkot, Punjab", {"IN", "PK"}),
        ("Norwich, Norfolk", {"GB", "NF"}),
        ("Nagpur City, RJ", {"BR", "IN"}),
        ("Mumbai, West", {"CM"}),
        ("Köln, Nippes", {"HT"}),
        ("Tunis, Lac", {"TD"}),
        ("Porto, Norte", {"GW"}),
        ("Leeds, Ouest", {"HT"}),
        ("Bogotá, D.C.", {"US"}),
        ("Bogotá D.C.", {"US"}),
        ("México, D.F.", {"BR"}),
    ],
)
def test_a_line_that_may_end_with_several_countries_or_states_has_no_country(
    text: str, readings: set[str]
) -> None:
    place = parse_place(text)

    assert (place.country, set(place.readings)) == (None, readings)


@pytest.mark.parametrize(
    ("text", "country"),
    [("Washington, D.C.", "US"), ("Georgetown, DC", "US"), ("Brasília, DF", "BR"), ("Taguatinga, DF", "BR")],
)
def test_a_capital_district_is_that_of_its_own_towns(text: str, country: str) -> None:
    assert parse_place(text).country == country


@pytest.mark.parametrize(
    "text", ["Springfield, Somewhere", "Paris", "Paris, 75", "Acme HQ", "Lyon AL", "Room AB12, XQ"]
)
def test_what_names_no_state_and_no_country_has_none(text: str) -> None:
    assert parse_place(text).country is None


def test_a_state_with_a_cell_of_its_own_is_not_a_country() -> None:
    assert place_in_state("Bratislava", "SK").readings == ("CA", "IN")
    assert place_in_state("Saskatoon", "SK").country == "CA"
    assert place_in_state(None, "TX").country == "US"
    assert place_in_state(None, "EMEA").country is None


def test_each_state_of_iso_3166_2_is_known_by_its_name() -> None:
    states = list(pycountry.subdivisions)

    assert [state.code for state in states if state.country_code not in subdivisions_called(state.name)] == []


@pytest.mark.parametrize(
    ("texts", "country"),
    [
        (["Austin, TX", "Reno, NV", "Lincoln, IL"], "US"),
        (["Austin, TX", "Paris, France"], None),
        (["Austin, TX", "Lincoln, IL", "Moscow, ID"], None),
        (["Somewhere"], None),
        ([], None),
    ],
)
def test_the_places_of_a_list_are_in_one_country_if_nearly_all_are(
    texts: list[str], country: str | None
) -> None:
    assert country_of_places(texts) == country
