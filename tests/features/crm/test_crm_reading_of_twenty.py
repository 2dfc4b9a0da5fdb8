"""Twenty's people are read by its GraphQL API: a page with its companies and owners is one request."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from crm_support import CrmHarness
from fake_crms import FakeTwenty
from jobs_support import NOW
from twenty_graphql import failure

from app.engine.work.items import WorkItem
from app.features.crm.connections import reading_id
from app.features.crm.vendors.twenty import reading as twenty

pytestmark = pytest.mark.any_database

COMPANY, OWNER = "00000000-0000-4000-8000-000000000009", "00000000-0000-4000-8000-000000000008"
PROFILE = "https://www.linkedin.com/in/ada-lovelace"
LIMIT = "Limit reached (100 tokens per 60000 ms)"
DENIED = "Entity performing the request does not have permission"


@pytest.fixture
def vendor() -> str:
    return "twenty"


@pytest.fixture
def crm(harness: CrmHarness) -> FakeTwenty:
    """Return the CRM after the credentials were accepted."""
    harness.turn()
    crm = harness.crm
    assert isinstance(crm, FakeTwenty)
    crm.requests.clear()
    return crm


@pytest.fixture
def pages_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twenty, "PAGE_SIZE", 2)


def has(crm: FakeTwenty, *numbers: int, **values: Any) -> None:
    """Store people, all of whom work at one company."""
    link = {"primaryLinkUrl": "https://acme.com"}
    crm.companies[COMPANY] = {"id": COMPANY, "name": "Acme GmbH", "domainName": link, "accountOwnerId": OWNER}
    crm.members[OWNER] = {"id": OWNER, "name": {"firstName": "Kim", "lastName": "Lee"}}
    for number in numbers:
        crm.people[f"00000000-0000-4000-8000-{number:012}"] = {
            "name": {"firstName": "Ada", "lastName": f"Person{number}"},
            "emails": {"primaryEmail": f"person{number}@acme.com"},
            "linkedinLink": {"primaryLinkUrl": PROFILE},
            "companyId": COMPANY,
            "updatedAt": NOW.isoformat(timespec="milliseconds"),
        } | values


def a_page(*nodes: Any, **info: Any) -> dict[str, Any]:
    """Return the answer to a query: the last page, unless `info` says something else."""
    edges = [{"node": node} for node in nodes]
    return {"data": {"people": {"edges": edges, "pageInfo": {"hasNextPage": False} | info}}}


def due_in(harness: CrmHarness) -> timedelta:
    with harness.database.reading() as session:
        due_at = session.get_one(WorkItem, reading_id(harness.connection_id)).due_at
    assert due_at is not None
    return due_at - harness.now


def test_two_hundred_people_with_companies_and_owners_are_one_request(
    harness: CrmHarness, crm: FakeTwenty
) -> None:
    has(crm, *range(1, 201))

    harness.read()

    assert crm.requests == [("POST", "/graphql")]
    assert len(harness.indexed()) == 200
    assert {(one.company, one.domain, one.owner) for one in harness.indexed()} == {
        ("Acme GmbH", "acme.com", "Kim Lee")
    }


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [("profile", "String", PROFILE), ("profile.primaryLinkUrl", "Links", {"primaryLinkUrl": PROFILE})],
)
def test_the_own_property_of_the_profile_is_read(
    harness: CrmHarness, crm: FakeTwenty, name: str, kind: str, value: object
) -> None:
    crm.fields["profile"] = kind
    has(crm, 1, linkedinLink=None, profile=value)
    harness.map(linkedin_url=name)

    harness.read()

    [ada] = harness.indexed()
    assert list(ada.profiles) == [PROFILE]


@pytest.mark.parametrize(
    "name", ["renamed", "renamed.primaryLinkUrl", "emails.primaryLinkUrl", "jobTitle.name", "homepage"]
)
@pytest.mark.usefixtures("pages_of_two")
def test_an_own_property_that_is_not_there_is_left_out_and_nothing_else(
    harness: CrmHarness, crm: FakeTwenty, name: str
) -> None:
    crm.fields["homepage"] = "Links"  # not without a part
    has(crm, 1, 2, 3, 4, 5)
    harness.map(linkedin_url=name)

    harness.read_to_the_end()

    assert len(crm.requests) == 1 + 3
    assert [(one.name, list(one.profiles), one.domain, one.owner) for one in harness.indexed()] == [
        (f"Ada Person{number}", [PROFILE], "acme.com", "Kim Lee") for number in range(1, 6)
    ]
    assert harness.reading().notes == []


def test_a_standard_field_that_the_workspace_removed_is_left_out(
    harness: CrmHarness, crm: FakeTwenty
) -> None:
    crm.fields.clear()
    has(crm, 1)

    harness.read()

    [ada] = harness.indexed()
    assert (ada.name, list(ada.profiles), ada.domain) == ("Ada Person1", [], "acme.com")


def test_a_field_that_may_not_be_read_is_left_out(harness: CrmHarness, crm: FakeTwenty) -> None:
    crm.unreadable = {"linkedinLink"}
    has(crm, 1)

    harness.read()

    [ada] = harness.indexed()
    assert (ada.name, list(ada.profiles), ada.company) == ("Ada Person1", [], "Acme GmbH")


def test_a_query_that_is_not_valid_with_status_400_is_asked_without_the_field(
    harness: CrmHarness, crm: FakeTwenty
) -> None:
    has(crm, 1)
    crm.fail(400, failure('Cannot query field "linkedinLink" on type "Person".', "GRAPHQL_VALIDATION_FAILED"))

    harness.read()

    [ada] = harness.indexed()
    assert (ada.name, list(ada.profiles), ada.company) == ("Ada Person1", [], "Acme GmbH")


@pytest.mark.parametrize(
    ("unreadable", "seen", "refusals"),
    [
        ("workspaceMembers", ("owners_unreadable", "Acme GmbH"), 1),
        ("companies", ("companies_unreadable", ""), 2),
    ],
)
@pytest.mark.usefixtures("pages_of_two")
def test_what_may_not_be_read_is_left_out_of_all_pages(
    harness: CrmHarness, crm: FakeTwenty, unreadable: str, seen: tuple[str, str], refusals: int
) -> None:
    crm.unreadable = {unreadable}
    has(crm, 1, 2, 3, 4, 5)

    harness.read_to_the_end()

    [note] = harness.reading().notes
    assert {(note, one.company, one.owner) for one in harness.indexed()} == {(*seen, "")}
    assert len(harness.indexed()) == 5
    assert len(crm.requests) == refusals + 3


def test_nothing_is_read_of_a_workspace_that_permits_no_people(harness: CrmHarness, crm: FakeTwenty) -> None:
    crm.unreadable = {"people"}
    has(crm, 1)

    harness.read()

    assert (harness.reading().error, due_in(harness)) == ("forbidden", timedelta(hours=1))
    assert harness.indexed() == []


def test_records_in_the_trash_are_left_out(harness: CrmHarness, crm: FakeTwenty) -> None:
    has(crm, 1)
    has(crm, 2, deletedAt=NOW.isoformat())
    crm.companies[COMPANY]["deletedAt"] = NOW.isoformat()

    harness.read()

    assert [(one.name, one.company) for one in harness.indexed()] == [("Ada Person1", "")]


@pytest.mark.parametrize(
    ("answer", "error", "pause"),
    [
        (failure(LIMIT, "BAD_USER_INPUT", data=None), "rate_limited", timedelta(minutes=1)),
        (failure("Too many requests", "TOO_MANY_REQUESTS"), "rate_limited", timedelta(minutes=1)),
        (failure("Internal Server Error", "INTERNAL_SERVER_ERROR"), "http_500", timedelta(minutes=5)),
        (failure("Query read timeout", "TIMEOUT", data=None), "http_408", timedelta(minutes=5)),
        (failure("Invalid cursor: x", "BAD_USER_INPUT", data=None), "invalid_query", timedelta(hours=1)),
        (failure('Unknown type "PersonFilterInput".', ""), "invalid_query", timedelta(hours=1)),
        (failure('Cannot query field "people" on type "Query".', ""), "invalid_query", timedelta(hours=1)),
        ({"errors": [{}]}, "invalid_query", timedelta(hours=1)),
        ({"errors": ["invalid"]}, "unexpected_response", timedelta(minutes=5)),
        ({"errors": "invalid"}, "unexpected_response", timedelta(minutes=5)),
        ({"errors": [], "data": None}, "unexpected_response", timedelta(minutes=5)),
        ({"data": {"people": None}}, "unexpected_response", timedelta(minutes=5)),
        ({"data": {"people": {"edges": [None]}}}, "unexpected_response", timedelta(minutes=5)),
    ],
)
def test_an_error_of_the_query_is_said_as_one_of_http(
    harness: CrmHarness, crm: FakeTwenty, answer: dict[str, Any], error: str, pause: timedelta
) -> None:
    has(crm, 1)
    crm.fail(200, answer)

    harness.read()

    assert (harness.reading().error, due_in(harness)) == (error, pause)
    assert harness.indexed() == []
    assert crm.requests == [("POST", "/graphql")]


@pytest.mark.parametrize(
    "answer", [failure("This API Key is revoked", "FORBIDDEN"), failure("Unauthenticated", "UNAUTHENTICATED")]
)
def test_a_key_that_is_refused_with_status_200_is_checked(
    harness: CrmHarness, crm: FakeTwenty, answer: dict[str, Any]
) -> None:
    has(crm, 1)
    crm.fail(200, answer)

    harness.read()

    assert (harness.reading().error, harness.connection().status) == ("unauthorized", "checking")
    assert crm.requests == [("POST", "/graphql")]


@pytest.mark.parametrize(
    ("headers", "pause"), [({}, timedelta(minutes=1)), ({"Retry-After": "7"}, timedelta(seconds=7))]
)
def test_a_rate_limit_pauses_the_reading_as_long_as_it_says(
    harness: CrmHarness, crm: FakeTwenty, headers: dict[str, str], pause: timedelta
) -> None:
    has(crm, 1)
    crm.fail(429, failure("Try again later", "FORBIDDEN"), headers=headers)

    harness.read()

    assert (harness.reading().error, due_in(harness)) == ("rate_limited", pause)


def test_an_error_beside_a_part_of_the_data_stores_nothing(harness: CrmHarness, crm: FakeTwenty) -> None:
    has(crm, 1, 2)
    part = a_page({"id": "1", "name": {"firstName": "Ada", "lastName": "Part"}})
    crm.fail(200, failure("Internal Server Error", "INTERNAL_SERVER_ERROR") | part)
    harness.read()
    stored = harness.indexed()
    harness.later(minutes=5)

    harness.read()

    assert stored == []
    assert [one.name for one in harness.indexed()] == ["Ada Person1", "Ada Person2"]


def test_a_permission_of_the_company_beside_a_part_of_the_data_is_a_note(
    harness: CrmHarness, crm: FakeTwenty
) -> None:
    has(crm, 1)
    crm.fail(200, failure(DENIED, "FORBIDDEN") | a_page({"id": "1", "company": None}))

    harness.read()

    assert [(one.name, one.company, one.owner) for one in harness.indexed()] == [
        ("Ada Person1", "Acme GmbH", "")
    ]
    assert harness.reading().notes == ["owners_unreadable"]


def test_a_cursor_that_repeats_ends_the_turn(harness: CrmHarness, crm: FakeTwenty) -> None:
    for _ in range(9):
        crm.fail(200, a_page({"id": "1"}, hasNextPage=True, endCursor="same"))
    harness.later(seconds=2)

    harness.read()

    assert len(crm.requests) == 2
    assert (harness.reading().error, due_in(harness)) == ("same_page", timedelta(hours=1))


@pytest.mark.parametrize("info", [{}, {"endCursor": None}, {"endCursor": ""}])
def test_a_page_that_does_not_say_where_the_next_one_begins_forgets_nobody(
    harness: CrmHarness, crm: FakeTwenty, info: dict[str, Any]
) -> None:
    has(crm, 1, 2)
    harness.read()
    harness.later(days=1)
    crm.fail(200, a_page({"id": "1"}, hasNextPage=True, **info))

    harness.read()

    assert harness.reading().error == "unexpected_response"
    assert [one.name for one in harness.indexed()] == ["Ada Person1", "Ada Person2"]


def test_nodes_without_a_person_are_passed_over(harness: CrmHarness, crm: FakeTwenty) -> None:
    person = {"id": "1", "name": {"firstName": "Ada", "lastName": None}, "emails": None, "company": None}
    crm.fail(200, a_page(None, person, None))

    harness.read()

    assert [(one.crm_id, one.name, list(one.emails)) for one in harness.indexed()] == [("1", "Ada", [])]


def test_a_company_without_a_name_is_none(harness: CrmHarness, crm: FakeTwenty) -> None:
    has(crm, 1)
    crm.companies[COMPANY] = {"id": COMPANY, "name": None, "domainName": None, "accountOwnerId": None}

    harness.read()

    [ada] = harness.indexed()
    assert (ada.name, ada.company, ada.domain, ada.owner) == ("Ada Person1", "", "", "")


@pytest.mark.parametrize("status", [200, 400])
def test_a_page_of_html_stores_nothing(harness: CrmHarness, crm: FakeTwenty, status: int) -> None:
    has(crm, 1)
    crm.fail(status, "<html>Sign in</html>")

    harness.read()

    assert harness.reading().error == {200: "unexpected_response", 400: "invalid_values"}[status]
    assert harness.indexed() == []
