from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.domain.findings import EmailStatus, FoundContact, FoundEmail, FoundPhone, SourceKind
from app.infra import clock
from workers.providers import parsing
from workers.providers.base import UnexpectedResponse

SOURCE = parsing.source_of("example", datetime(2026, 6, 10, tzinfo=UTC))


def email(value: str, status: EmailStatus = EmailStatus.VALID, **options: Any) -> FoundEmail | None:
    return parsing.found_email(value, status, SOURCE, **options)


def phone(value: str, **options: Any) -> FoundPhone | None:
    return parsing.found_phone(value, SOURCE, **options)


def contact(**value: Any) -> FoundContact:
    found = parsing.found_contact(SOURCE, **value)
    assert found is not None
    return found


def test_a_source_has_the_given_time() -> None:
    assert (SOURCE.provider, SOURCE.kind, SOURCE.at) == (
        "example",
        SourceKind.PROVIDER,
        datetime(2026, 6, 10, tzinfo=UTC),
    )


@pytest.mark.parametrize("at", [None, datetime(2999, 1, 1, tzinfo=UTC)])
def test_a_source_is_never_in_the_future(at: datetime | None) -> None:
    before = clock.now()

    source = parsing.source_of("example", at)

    assert before <= source.at <= clock.now()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"a": {"b": {"c": 1}}}, {"c": 1}),
        ({"a": {"b": None}}, {}),
        ({"a": None}, {}),
        ({}, {}),
    ],
)
def test_a_missing_or_null_object_on_the_path_is_empty(body: Any, found: Any) -> None:
    assert parsing.object_at(body, "a", "b") == found


@pytest.mark.parametrize(
    "body", [{"a": []}, {"a": "text"}, {"a": {"b": 1}}, {"a": {"b": [{}]}}, {"a": False}]
)
def test_a_value_that_is_not_an_object_is_unexpected(body: Any) -> None:
    with pytest.raises(UnexpectedResponse):
        parsing.object_at(body, "a", "b")


@pytest.mark.parametrize("body", [{}, {"a": None}, {"a": []}, {"a": "text"}])
def test_a_missing_required_object_is_unexpected(body: Any) -> None:
    with pytest.raises(UnexpectedResponse):
        parsing.required(body, "a")


def test_a_required_object_is_returned() -> None:
    assert parsing.required({"a": {"b": 1}}, "a") == {"b": 1}


@pytest.mark.parametrize(("body", "found"), [({}, []), ({"a": None}, []), ({"a": [{"b": 1}]}, [{"b": 1}])])
def test_a_missing_or_null_list_is_empty(body: Any, found: Any) -> None:
    assert parsing.records(body, "a") == found


@pytest.mark.parametrize("body", [{"a": {}}, {"a": "text"}, {"a": [1]}, {"a": [{}, None]}])
def test_a_list_of_other_values_is_unexpected(body: Any) -> None:
    with pytest.raises(UnexpectedResponse):
        parsing.records(body, "a")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (" Ada \n", "Ada"),
        ("", None),
        ("  ", None),
        (None, None),
        (5, None),
        (True, None),
        (["Ada"], None),
        ("A\0da", None),
        ("Ada \ud83d", None),
        ("Ada 🚀", "Ada 🚀"),
        ("a" * 400, "a" * parsing.MAX_TEXT_LENGTH),
    ],
)
def test_a_text_is_trimmed_and_storable_or_none(value: Any, found: str | None) -> None:
    assert parsing.text({"a": value}, "a") == found


@pytest.mark.parametrize(("body", "found"), [({"a": " Ada "}, "Ada"), ({"a": None}, None), ({"a": ""}, None)])
def test_a_stated_text_may_be_null(body: dict[str, Any], found: str | None) -> None:
    assert parsing.stated_text(body, "a") == found


@pytest.mark.parametrize("body", [{}, {"a": 5}, {"a": ["Ada"]}])
def test_a_text_that_is_not_stated_is_unexpected(body: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedResponse):
        parsing.stated_text(body, "a")


@pytest.mark.parametrize(
    ("value", "found"),
    [([" a ", "", None, 5, "b\0", "\udc00", "c"], ["a", "c"]), (None, []), ("a", []), ({"a": 1}, [])],
)
def test_only_the_strings_of_a_list_are_returned(value: Any, found: list[str]) -> None:
    assert parsing.texts({"a": value}, "a") == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (5, 5.0),
        (0.5, 0.5),
        ("97", 97.0),
        ("n/a", None),
        ("inf", None),
        ("nan", None),
        (10**400, None),
        (True, None),
        (None, None),
        ([5], None),
    ],
)
def test_a_number_is_finite_or_none(value: Any, found: float | None) -> None:
    assert parsing.figure({"a": value}, "a") == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("2026-06-10", datetime(2026, 6, 10, tzinfo=UTC)),
        ("2026-06-10T12:00:00+02:00", datetime(2026, 6, 10, 10, tzinfo=UTC)),
        ("2026-06", datetime(2026, 6, 1, tzinfo=UTC)),
        ("yesterday", None),
        ("2026-02-31", None),
        ("0001-01-01T00:00:00+23:00", None),
        ("9999-12-31T23:59:59-23:00", None),
        (None, None),
    ],
)
def test_a_time_is_parsed_to_utc_or_none(value: Any, found: datetime | None) -> None:
    assert parsing.time({"a": value}, "a") == found


def test_an_email_is_normalized_with_all_its_attributes() -> None:
    at = clock.now() - timedelta(days=3)

    found = email(
        " Ada@Acme.com ", EmailStatus.RISKY, reasons=("role", "role"), confidence=0.5, verified_at=at
    )

    assert found == FoundEmail(
        email="ada@acme.com",
        type="work",
        status=EmailStatus.RISKY,
        source=SOURCE,
        reasons=("role",),
        confidence=0.5,
        verified_at=at,
    )


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("ada@gmail.com", None, "personal"),
        ("ada@acme.com", None, "work"),
        ("ada@acme.com", "personal", "personal"),
    ],
)
def test_the_type_of_an_email_is_given_or_derived_from_its_domain(
    value: str, kind: str | None, expected: str
) -> None:
    found = email(value, kind=kind)

    assert found is not None
    assert found.type == expected


@pytest.mark.parametrize(
    "value",
    ["", "a***@acme.com", "a•••••@acme.com", "a…@acme.com", "ada", "ada@", "ada@localhost", "ada@acme"],
)
def test_a_masked_or_invalid_email_is_none(value: str) -> None:
    assert email(value) is None


def test_a_phone_is_normalized_with_all_its_attributes() -> None:
    at = clock.now()

    found = phone(
        "06 12 34 56 78 ext. 5",
        kind="mobile",
        country="FR",
        status="valid",
        confidence=0.9,
        do_not_call=True,
        do_not_call_at=at,
    )

    assert found == FoundPhone(
        e164="+33612345678",
        source=SOURCE,
        type="mobile",
        status="valid",
        extension="5",
        confidence=0.9,
        do_not_call=True,
        do_not_call_at=at,
    )


def test_a_given_extension_overrides_the_one_in_the_number() -> None:
    found = phone("+1 650 253 0000 x5", extension="7")

    assert found is not None
    assert (found.e164, found.extension) == ("+16502530000", "7")


def test_an_unknown_phone_type_is_other() -> None:
    found = phone("+16502530000", kind="fax")

    assert found is not None
    assert found.type == "other"


@pytest.mark.parametrize(
    "value",
    [
        "",
        "+1 650 253 ****",
        "+1 650 253 ••••",
        "+1650253XXXX",
        "+1 650 253 xx00",
        "+49 170 12345__",
        "+49 170 12345..",
        "+49 170 12345##",
        "+33 6 12 34 56 …",
        "0612345678",
        "unknown",
    ],
)
def test_a_masked_or_invalid_phone_is_none(value: str) -> None:
    assert phone(value) is None


def test_a_company_is_normalized() -> None:
    found = parsing.found_company(
        SOURCE,
        name="Acme",
        domain="https://www.Acme.com/team",
        linkedin_url="linkedin.com/company/Acme/",
        industry="Machinery",
        employees=120,
        city="Lyon",
        country="France",
    )

    assert found is not None
    assert (found.domain, found.linkedin_url, found.headcount, found.country) == (
        "acme.com",
        "https://www.linkedin.com/company/acme",
        "51-200",
        "FR",
    )
    assert (found.name, found.industry, found.city, found.source) == ("Acme", "Machinery", "Lyon", SOURCE)


@pytest.mark.parametrize(
    ("employees", "headcount"),
    [
        ("11-50", "11-50"),
        (1, "1-10"),
        (12_000.0, "10001+"),
        (0, None),
        (-3, None),
        (None, None),
        ("many", None),
    ],
)
def test_a_headcount_is_a_range_and_zero_is_unknown(employees: Any, headcount: str | None) -> None:
    found = parsing.found_company(SOURCE, name="Acme", employees=employees)

    assert found is not None
    assert found.headcount == headcount


def test_a_company_without_an_identifier_is_none() -> None:
    assert parsing.found_company(SOURCE, domain="localhost", industry="Machinery", city="Lyon") is None


@pytest.mark.parametrize(
    ("name", "domain", "known"),
    [
        ("Acme", "https://sites.google.com/view/acme", ("Acme", None)),
        ("Google", "google.com", ("Google", "google.com")),
        ("Self-employed", "facebook.com/ada", None),
        ("Stealth Startup", "ada.example", (None, "ada.example")),
    ],
)
def test_a_vendors_company_is_known_by_what_identifies_it(
    name: str, domain: str, known: tuple[str | None, str | None] | None
) -> None:
    found = parsing.found_company(SOURCE, name=name, domain=domain)

    assert (found and (found.name, found.domain)) == known


def test_a_person_is_normalized() -> None:
    company = parsing.found_company(SOURCE, name="Acme")

    found = contact(
        full_name="Dr. Ada Lovelace",
        title="CTO",
        level="C-Level",
        area="Engineering",
        linkedin_url="http://fr.linkedin.com/in/Ada-Lovelace/?x=1",
        city="Lyon",
        country="fra",
        company=company,
    )

    assert (found.full_name, found.first_name, found.last_name) == ("Ada Lovelace", "Ada", "Lovelace")
    assert (found.title, found.seniority, found.department) == ("CTO", "c_suite", "engineering")
    assert (found.linkedin_url, found.city, found.country, found.company) == (
        "https://www.linkedin.com/in/ada-lovelace",
        "Lyon",
        "FR",
        company,
    )


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ({"first_name": "Ada", "last_name": "Lovelace"}, ("Ada Lovelace", "Ada", "Lovelace")),
        ({"full_name": "Ada Lovelace", "first_name": "Augusta"}, ("Ada Lovelace", "Augusta", "Lovelace")),
        ({"last_name": "Lovelace"}, ("Lovelace", None, "Lovelace")),
        ({"first_name": "Ada"}, ("Ada", "Ada", None)),
        ({"first_name": "Ada", "last_name": "Lovelace, PMP®"}, ("Ada Lovelace", "Ada", "Lovelace")),
        ({"full_name": "Ada Lovelace (she/her)"}, ("Ada Lovelace", "Ada", "Lovelace")),
    ],
)
def test_a_full_name_is_combined_but_no_part_is_invented(
    value: dict[str, str], names: tuple[str | None, ...]
) -> None:
    found = contact(**value)

    assert (found.full_name, found.first_name, found.last_name) == names


@pytest.mark.parametrize(
    "value",
    [
        {"full_name": "Ada L*******"},
        {"first_name": "Ada", "last_name": "L***"},
        {"full_name": "Ada L***", "first_name": "Ada"},
        {"full_name": "!!!"},
        {"full_name": "LinkedIn Member"},
        {"first_name": "null", "last_name": "null"},
        {"title": "CTO"},
        {"linkedin_url": "https://example.com/ada"},
        {},
    ],
)
def test_a_person_with_a_masked_or_missing_name_is_none(value: dict[str, str]) -> None:
    assert parsing.found_contact(SOURCE, **value) is None


def test_job_values_without_letters_are_none() -> None:
    found = contact(full_name="Ada Lovelace", level="###", area="--", country="Narnia")

    assert (found.seniority, found.department, found.country) == (None, None, None)


def test_emails_of_the_requested_types_are_kept_once_in_order() -> None:
    first, again = email("ada@acme.com"), email("ada@acme.com", EmailStatus.INVALID)
    home = email("ada@gmail.com")

    assert parsing.unique_emails([first, None, again, home], ("work",)) == (first,)
    assert parsing.unique_emails([first, None, again, home], ()) == (first, home)


def test_phones_are_kept_once_in_order() -> None:
    first, again = phone("+16502530000", kind="mobile"), phone("+1 650 253 0000", kind="work")

    assert parsing.unique_phones([None, first, again]) == (first,)
