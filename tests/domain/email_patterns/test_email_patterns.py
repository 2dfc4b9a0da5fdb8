import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.email_patterns.company_forms import FORMS, OTHER, measured_model
from app.domain.email_patterns.patterns import (
    LearnedPattern,
    PatternStat,
    candidates,
    form_of,
    learn,
    simple_form_of,
    spelling_shares,
)
from app.domain.email_patterns.spelling import odds
from app.domain.normal.names.names import PersonName, parse_name

ADA = parse_name("Ada Lovelace")


def render(form: str, name: PersonName, domain: str) -> tuple[str, ...]:
    """Return the addresses of a name in a form, the likeliest spelling first."""
    return tuple(f"{local}@{domain}" for local in spelling_shares(form, name, odds({}, domain)))


@pytest.mark.parametrize("form", FORMS)
def test_an_address_rendered_from_a_form_is_recognised_as_that_form(form: str) -> None:
    name = parse_name("Grace Hopper")

    (email,) = render(form, name, "acme.com")

    assert form_of(email, name) == form


def test_the_common_forms_render_these_addresses() -> None:
    made = [render(form, ADA, "acme.com")[0].partition("@")[0] for form in FORMS[:5]]

    assert made == ["ada.lovelace", "alovelace", "adal", "ada", "lovelace.ada"]


@pytest.mark.parametrize(
    ("name", "domain", "emails"),
    [
        ("Jürgen Müller", "acme.de", ["juergen.mueller", "jurgen.muller"]),
        ("Jürgen Müller", "acme.com", ["juergen.mueller", "jurgen.muller"]),
        ("Göran Öberg", "acme.se", ["goran.oberg", "goeran.oeberg"]),
        ("José Núñez", "acme.es", ["jose.nunez"]),
        (
            "Vincent van Gogh",
            "acme.nl",
            ["vincent.vangogh", "vincent.gogh", "vincent.van-gogh", "vincent.van.gogh"],
        ),
        ("Ada Smith-Jones", "acme.com", ["ada.smith-jones", "ada.smithjones", "ada.smith", "ada.jones"]),
        (
            "Ana García López",
            "acme.es",
            ["ana.garcia", "ana.garcialopez", "ana.garcia-lopez", "ana.lopez", "ana.garcia.lopez"],
        ),
        ("Shaquille O'Neal", "acme.com", ["shaquille.oneal"]),
        ("王小明", "acme.cn", []),
        ("Plato", "acme.gr", []),
        ("Rafael J. Wysocki", "acme.com", ["rafael.wysocki", "rafael.j.wysocki"]),
        (
            "Mary Ann Smith",
            "acme.com",
            ["mary.smith", "mary.a.smith", "mary.ann.smith", "maryann.smith"],
        ),
    ],
)
def test_names_are_spelled_as_in_addresses_likeliest_first(name: str, domain: str, emails: list[str]) -> None:
    made = render("{first}.{last}", parse_name(name), domain)

    assert list(made) == [f"{email}@{domain}" for email in emails]


def test_portuguese_domains_use_the_last_surname_first() -> None:
    made = render("{first}.{last}", parse_name("João Silva Santos"), "acme.com.br")

    assert made[:2] == ("joao.santos@acme.com.br", "joao.silva@acme.com.br")


def test_particles_belong_to_the_surname_they_precede() -> None:
    made = render("{last}", parse_name("María de la Cruz Hernández"), "acme.es")

    assert {"delacruz@acme.es", "cruz@acme.es", "delacruzhernandez@acme.es", "hernandez@acme.es"} <= set(made)


def test_a_family_name_that_is_only_a_particle_is_a_name() -> None:
    assert render("{first}.{last}", PersonName("Minh", "Le", "Minh Le"), "acme.vn") == ("minh.le@acme.vn",)


def test_a_hyphened_given_name_has_one_initial_or_two() -> None:
    made = render("{f}{last}", parse_name("Jean-Luc Picard"), "acme.fr")

    assert made == ("jpicard@acme.fr", "jlpicard@acme.fr")


@pytest.mark.parametrize(
    ("form", "name", "emails"),
    [
        ("{f}{last}", "Grace Brewster Hopper", ["ghopper", "gbhopper"]),
        ("{last}{f}", "Grace B. Hopper", ["hopperg", "hoppergb"]),
        ("{f}.{last}", "Grace B. Hopper", ["g.hopper", "g.b.hopper"]),
        ("{first}", "Grace B. Hopper", ["grace"]),
        ("{first}.{last}", "Grace Б. Hopper", ["grace.hopper"]),
    ],
)
def test_middle_names_are_left_out_or_follow_the_given_name(form: str, name: str, emails: list[str]) -> None:
    made = render(form, parse_name(name), "acme.com")

    assert list(made) == [f"{email}@acme.com" for email in emails]


def test_an_address_of_initial_and_family_name_may_have_only_the_eight_characters_of_a_login_name() -> None:
    made = render("{f}{last}", parse_name("Natalie Samsonov"), "acme.com")

    assert made == ("nsamsonov@acme.com", "nsamsono@acme.com")


def test_a_double_given_name_is_joined_or_shortened() -> None:
    made = render("{first}", parse_name("Jean-Luc Picard"), "acme.fr")

    assert made == ("jean-luc@acme.fr", "jeanluc@acme.fr", "jean@acme.fr")


def test_the_number_of_spellings_is_limited() -> None:
    made = render("{first}.{last}", parse_name("Hans-Jürgen Müller-Lüdenscheidt"), "acme.de")

    assert len(made) == 12


def test_an_unknown_form_renders_nothing() -> None:
    assert render("{middle}", ADA, "acme.com") == ()


@pytest.mark.parametrize(
    ("email", "name", "form"),
    [
        ("bob.smith@acme.com", "Robert Smith", "{first}.{last}"),
        ("jsmith2@acme.com", "John Smith", "{f}{last}"),
        ("ada+news@acme.com", "Ada Lovelace", "{first}"),
        ("info@acme.com", "Ada Lovelace", None),
        ("", "Ada Lovelace", None),
    ],
)
def test_the_form_of_an_address_is_found_from_the_persons_name(
    email: str, name: str, form: str | None
) -> None:
    assert form_of(email, parse_name(name)) == form


@pytest.mark.parametrize(
    ("email", "name", "form"),
    [
        ("v.gogh@acme.nl", "Vincent van Gogh", "{f}.{last} particles:dropped"),
        ("vincent.vangogh@acme.nl", "Vincent van Gogh", "{first}.{last} particles:joined"),
        ("jmueller@acme.de", "Jürgen Müller", "{f}{last} umlauts:expanded"),
        ("jurgen@acme.de", "Jürgen Müller", "{first} umlauts:plain"),
        ("jean-luc.picard@acme.fr", "Jean-Luc Picard", "{first}.{last} given:hyphened"),
        ("jlpicard@acme.fr", "Jean-Luc Picard", "{f}{last} initials:all"),
        ("asmithjones@acme.com", "Ada Smith-Jones", "{f}{last} hyphens:joined length:whole"),
        ("ana.lopez@acme.es", "Ana García López", "{first}.{last} surnames:last"),
        ("rafael.j.wysocki@acme.com", "Rafael J. Wysocki", "{first}.{last} middle:initial"),
        ("mary.ann.smith@acme.com", "Mary Ann Smith", "{first}.{last} middle:whole"),
        ("ghopper@acme.com", "Grace B. Hopper", "{f}{last} middle:dropped"),
        ("earl.carter@acme.com", 'Earl "Buddy" Carter', "{first}.{last}"),
        ("nsamsono@acme.com", "Natalie Samsonov", "{f}{last} length:shortened"),
        ("nsamsonov@acme.com", "Natalie Samsonov", "{f}{last} length:whole"),
        (
            "mdelacruz@acme.es",
            "María de la Cruz Hernández",
            "{f}{last} length:whole particles:joined surnames:first",
        ),
    ],
)
def test_an_address_shows_the_spelling_habits_of_its_domain(email: str, name: str, form: str) -> None:
    assert form_of(email, parse_name(name)) == form


FIRST_NAMES = ("Ada", "Jürgen", "Élodie", "Øystein", "Robert", "Jean-Luc", "Ömer", "Ада", "J.", "")
LAST_NAMES = (
    "Lovelace",
    "Hopper",
    "Müller",
    "Sjöstrand",
    "Ström",
    "O'Brien",
    "van Gogh",
    "García López",
    "Smith-Jones",
    "Øre",
    "王",
)


@pytest.mark.parametrize("first", FIRST_NAMES)
@pytest.mark.parametrize("last", LAST_NAMES)
@pytest.mark.parametrize("middle", ["", "B. "])
def test_the_form_of_a_simple_address_is_found_as_that_of_any_address(
    first: str, middle: str, last: str
) -> None:
    name = PersonName(first, last, f"{first} {middle}{last}")
    emails = {email for form in FORMS for email in render(form, name, "acme.com")}
    emails |= {email.replace("@", "7@") for email in emails} | {"bob@acme.com", "info@acme.com", "@acme.com"}

    assert all(simple_form_of(email, name) in {None, form_of(email, name)} for email in emails)


@pytest.mark.parametrize(
    "name", [parse_name("Ada Hopper"), parse_name("Jürgen Müller"), parse_name("Élodie Lefèvre")]
)
def test_every_form_of_a_simple_name_is_found_in_the_simple_way(name: PersonName) -> None:
    emails = [email for form in FORMS for email in render(form, name, "acme.com")]

    assert [simple_form_of(email, name) for email in emails] == [form_of(email, name) for email in emails]


@pytest.mark.parametrize(
    ("email", "name", "form"),
    [
        ("jmeyer@acme.de", "Jürgen Meyer", "{f}{last}"),
        ("ada@acme.com", "Ada Smith-Jones", "{first}"),
        ("ana.g@acme.es", "Ana García Gil", "{first}.{l}"),
    ],
)
def test_an_ambiguous_address_shows_no_habit(email: str, name: str, form: str) -> None:
    assert form_of(email, parse_name(name)) == form


@pytest.mark.parametrize(
    ("known", "name", "domain", "best"),
    [
        ("umlauts:plain", "Björn Groß", "acme.de", "bjorn.gross"),
        ("umlauts:expanded", "Göran Öberg", "acme.se", "goeran.oeberg"),
        ("particles:dropped", "Vincent van Gogh", "acme.nl", "vincent.gogh"),
        ("particles:joined surnames:first", "Juan de la Cruz Gil", "acme.es", "juan.delacruz"),
        ("surnames:joined", "Ana García López", "acme.es", "ana.garcialopez"),
        ("hyphens:last", "Ada Smith-Jones", "acme.com", "ada.jones"),
        ("middle:initial", "Rafael J. Wysocki", "acme.com", "rafael.j.wysocki"),
        ("middle:whole", "Mary Ann Smith", "acme.com", "mary.ann.smith"),
        ("given:joined", "Jean-Luc Picard", "acme.fr", "jeanluc.picard"),
    ],
)
def test_one_address_determines_the_likeliest_spelling_of_the_next(
    known: str, name: str, domain: str, best: str
) -> None:
    guesses = candidates(parse_name(name), domain, [PatternStat(f"{{first}}.{{last}} {known}", 1)])

    assert guesses[0].email == f"{best}@{domain}"


def test_a_habit_does_not_affect_names_to_which_it_does_not_apply() -> None:
    with_habit = candidates(ADA, "acme.com", [PatternStat("{f}{last} surnames:joined umlauts:plain", 2)])

    assert with_habit == candidates(ADA, "acme.com", [PatternStat("{f}{last}", 2)])


def test_addresses_of_a_form_are_counted_together_regardless_of_habits() -> None:
    learned = learn([PatternStat("{f}{last} particles:joined", 2), PatternStat("{f}{last}", 1)])

    assert learned == learn([PatternStat("{f}{last}", 3)])


@pytest.mark.parametrize(
    ("seen", "total", "confidence"),
    [(1, 1, 0.7416), (3, 3, 0.8561), (10, 10, 0.9359), (3, 6, 0.5576)],
)
def test_the_confidence_of_a_pattern_grows_with_its_sample(seen: int, total: int, confidence: float) -> None:
    learned = learn([PatternStat("{first}.{last}", seen), PatternStat("{first}{m}", total - seen)])

    assert learned == LearnedPattern("{first}.{last}", confidence, total)


def test_of_two_equally_frequent_forms_the_more_common_one_is_learned() -> None:
    learned = learn([PatternStat("{last}{f}", 1), PatternStat("{f}{last}", 1)])

    assert learned is not None
    assert learned.pattern == "{f}{last}"


@pytest.mark.parametrize("stats", [[], [PatternStat("{m}", 3)], [PatternStat("{first}", 0)]])
def test_without_a_known_form_no_pattern_is_learned(stats: list[PatternStat]) -> None:
    assert learn(stats) is None


def test_without_known_addresses_the_most_common_form_is_guessed_first() -> None:
    guesses = candidates(ADA, "acme.com", [])

    assert [guess.email for guess in guesses[:3]] == [
        "ada.lovelace@acme.com",
        "alovelace@acme.com",
        "ada@acme.com",
    ]
    assert guesses[0].confidence == round(measured_model().probabilities({})["{first}.{last}"], 4)


def test_the_observed_form_is_guessed_first() -> None:
    guesses = candidates(ADA, "acme.com", [PatternStat("{last}.{f}", 5)])

    assert (guesses[0].email, guesses[0].form) == ("lovelace.a@acme.com", "{last}.{f}")
    assert guesses[0].confidence > 0.7


def test_a_guess_of_two_forms_has_the_observed_one() -> None:
    guesses = candidates(parse_name("Li Li"), "acme.com", [PatternStat("{last}{first}", 3)])

    assert (guesses[0].email, guesses[0].form) == ("lili@acme.com", "{last}{first}")


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(
        ["Ada Lovelace", "Jürgen Müller", "A B", "Ana García López", "Jean-Luc van der Berg-Öst y Gil"]
    ),
    st.lists(
        st.builds(
            PatternStat,
            st.sampled_from([*FORMS, OTHER, "{m}", "{f}{last} umlauts:plain hyphens:last", ""]),
            st.integers(0, 50),
        ),
        max_size=6,
    ),
)
def test_the_confidences_of_all_guesses_add_up_to_at_most_one(name: str, stats: list[PatternStat]) -> None:
    guesses = candidates(parse_name(name), "acme.com", stats)

    assert sum(guess.confidence for guess in guesses) <= 1.001
    assert [guess.confidence for guess in guesses] == sorted(
        (habit.confidence for habit in guesses), reverse=True
    )
    assert len({guess.email for guess in guesses}) == len(guesses)


@pytest.mark.parametrize(
    "full",
    [
        "Lim Kok Thay",
        "Tham Jun Hoe",
        "Lee Kuan Yew",
        "Ng Eng Hen",
        "Kim Jong Un",
        "Nguyen Van Anh",
        "Le Thi Hoa",
    ],
)
def test_nothing_is_guessed_from_a_name_whose_order_is_not_known(full: str) -> None:
    assert candidates(parse_name(full), "acme.example", []) == ()


@pytest.mark.parametrize(
    "full", ["Lee Ann Bell", "Kok Thay Lim", "Kim Kardashian", "Mary Ann Lim", "Lim Kok-Thay Ong"]
)
def test_a_western_given_name_or_a_family_name_at_the_end_shows_the_order(full: str) -> None:
    assert candidates(parse_name(full), "acme.example", [])


def test_parts_that_are_given_apart_show_the_order() -> None:
    assert candidates(PersonName("Kok Thay", "Lim", "Lim Kok Thay"), "acme.example", [])
