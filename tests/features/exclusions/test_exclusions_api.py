from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from users_support import SignedInUser, create_user
from werkzeug.test import TestResponse

from app.domain.exclusions import SHARED_DOMAIN
from app.engine.accounts.accounts import Account, Role
from app.engine.audit import rule_checks
from app.features.exclusions import changes
from app.infra import clock

ACME = {"domain": "https://www.acme.com/about", "reason": "customer", "note": "Leeds"}
ADA = {"email": "Ada@Globex.com", "reason": "partner"}
PAGE = {"linkedin_url": "linkedin.com/company/initech", "reason": "competitor"}


def promote(user: SignedInUser) -> SignedInUser:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
    return user


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    return promote(user)


def add(user: SignedInUser, *entries: Any) -> TestResponse:
    return user.client.post("/api/exclusions", json={"entries": list(entries)}, headers=user.headers)


def listed(user: SignedInUser, query: str = "") -> Any:
    return user.client.get(f"/api/exclusions{query}", headers=user.headers).get_json()


def values(user: SignedInUser) -> set[tuple[str, str, str, str | None]]:
    rows = listed(user, "?limit=100")["exclusions"]
    return {(row["kind"], row["value"], row["reason"], row["note"]) for row in rows}


def send_list(user: SignedInUser, content: bytes, query: str = "") -> TestResponse:
    headers = user.headers | {"Content-Type": "text/csv"}
    return user.client.post(f"/api/exclusions/import{query}", data=content, headers=headers)


def test_entries_are_added_once_in_their_normal_form(admin: SignedInUser) -> None:
    first = add(admin, ACME, ADA, PAGE).get_json()
    again = add(admin, ACME, ADA | {"reason": "other"}).get_json()

    assert (first, again) == ({"added": 3, "known": 0}, {"added": 0, "known": 2})
    assert values(admin) == {
        ("domain", "acme.com", "customer", "Leeds"),
        ("email", "ada@globex.com", "partner", None),
        ("linkedin_url", "https://www.linkedin.com/company/initech", "competitor", None),
    }


@pytest.mark.parametrize("sends", ["entries", "a list"])
def test_what_exceeds_the_most_of_a_workspace_is_refused_as_a_whole(
    app: APIFlask, admin: SignedInUser, monkeypatch: pytest.MonkeyPatch, sends: str
) -> None:
    monkeypatch.setattr(changes, "MAX_EXCLUSIONS", 2)
    add(promote(create_user(app, email="eve@other.example")), ACME, ADA)
    add(admin, ACME)

    if sends == "entries":
        refused = add(admin, ADA, PAGE)
    else:
        refused = send_list(admin, b"email,linkedin_url\nada@globex.com,linkedin.com/company/initech\n")
    before = len(values(admin))
    accepted = add(admin, ACME, ADA)
    again = add(admin, ACME, ADA)

    [error] = refused.get_json()["errors"]
    assert (refused.status_code, before) == (422, 1)
    assert error["pointer"] == ("/entries" if sends == "entries" else "/file")
    assert error["detail"].startswith(
        "The workspace would have 3 exclusions, and may have 2, so none was added."
    )
    assert "Remove some" in error["detail"]
    assert accepted.get_json() == {"added": 1, "known": 1}
    assert again.get_json() == {"added": 0, "known": 2}


def test_members_read_the_exclusions_page_by_page(admin: SignedInUser) -> None:
    add(admin, *({"domain": f"acme{number}.com", "reason": "other"} for number in range(3)))
    member = admin.colleague()

    first = listed(member, "?limit=2")
    second = listed(member, f"?limit=2&cursor={first['next_cursor']}")

    assert [len(page["exclusions"]) for page in (first, second)] == [2, 1]
    assert (second["next_cursor"], first["exclusions"][0]["created_by"]) == (None, admin.account_id)


def test_another_workspace_sees_and_removes_none(app: APIFlask, admin: SignedInUser) -> None:
    add(admin, ACME)
    [row] = listed(admin)["exclusions"]
    other = promote(create_user(app, email="eve@globex.example"))

    refused = other.client.delete(f"/api/exclusions/{row['id']}", headers=other.headers)

    assert (listed(other)["exclusions"], refused.status_code) == ([], 404)
    assert len(listed(admin)["exclusions"]) == 1


@pytest.mark.parametrize("exclusion_id", ["exc_0crnqk4e1k9jv0d2m4f6h8bb", "con_x", "x"])
def test_an_unknown_exclusion_is_not_found(admin: SignedInUser, exclusion_id: str) -> None:
    refused = admin.client.delete(f"/api/exclusions/{exclusion_id}", headers=admin.headers)

    assert (refused.status_code, refused.get_json()["code"]) == (404, "not_found")


def test_a_removed_exclusion_can_be_added_again(admin: SignedInUser) -> None:
    add(admin, ACME)
    [row] = listed(admin)["exclusions"]

    removed = admin.client.delete(f"/api/exclusions/{row['id']}", headers=admin.headers)

    assert (removed.status_code, values(admin)) == (204, set())
    assert add(admin, ACME).get_json() == {"added": 1, "known": 0}


@pytest.mark.parametrize(
    ("entry", "pointer"),
    [
        ({"domain": "gmail.com", "reason": "other"}, "/entries/1/domain"),
        ({"domain": "acme", "reason": "other"}, "/entries/1/domain"),
        ({"domain": 3, "reason": "other"}, "/entries/1/domain"),
        ({"domain": "a" * 2049, "reason": "other"}, "/entries/1/domain"),
        ({"email": "ada", "reason": "other"}, "/entries/1/email"),
        ({"linkedin_url": "https://acme.com", "reason": "other"}, "/entries/1/linkedin_url"),
        ({"domain": "acme.com", "reason": "enemy"}, "/entries/1/reason"),
        ({"domain": "acme.com"}, "/entries/1/reason"),
        ({"domain": "acme.com", "reason": "other", "note": "a" * 201}, "/entries/1/note"),
        ({"domain": "acme.com", "reason": "other", "note": "a\nb"}, "/entries/1/note"),
        ({"domain": "acme.com", "email": "a@b.com", "reason": "other"}, "/entries/1"),
        ({"reason": "other"}, "/entries/1"),
        ({"phone": "+12025550143", "reason": "other"}, "/entries/1/phone"),
        ("acme.com", "/entries/1"),
    ],
)
def test_an_invalid_entry_is_named_and_nothing_is_added(
    admin: SignedInUser, entry: Any, pointer: str
) -> None:
    refused = add(admin, ACME, entry)

    assert (refused.status_code, refused.get_json()["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in refused.get_json()["errors"]] == [pointer]
    assert values(admin) == set()


def test_a_free_mail_domain_is_refused_with_what_to_do(admin: SignedInUser) -> None:
    refused = add(admin, {"domain": "gmail.com", "reason": "other"})

    assert refused.get_json()["errors"][0]["detail"] == SHARED_DOMAIN


@pytest.mark.parametrize("count", [0, 1001])
def test_a_request_has_one_to_a_thousand_entries(admin: SignedInUser, count: int) -> None:
    refused = add(admin, *({"domain": f"a{number}.com", "reason": "other"} for number in range(count)))

    assert refused.status_code == 422
    assert refused.get_json()["errors"][0]["pointer"] == "/entries"


def test_a_thousand_entries_are_added_at_once(admin: SignedInUser) -> None:
    added = add(admin, *({"domain": f"a{number}.com", "reason": "other"} for number in range(1000)))

    assert added.get_json() == {"added": 1000, "known": 0}


def test_a_list_in_latin_1_with_semicolons_is_imported(admin: SignedInUser) -> None:
    content = (
        "Website;E-Mail;LinkedIn URL;Reason;Note\r\n"
        "www.acme.com;;;Customer;Müller betreut sie\r\n"
        ";ada@globex.com;;own company;\r\n"
        ";;https://linkedin.com/in/bob;;\r\n"
    ).encode("latin-1")

    imported = send_list(admin, content, "?reason=partner").get_json()

    assert imported == {"added": 3, "known": 0, "rejected": [], "rejected_count": 0}
    assert values(admin) == {
        ("domain", "acme.com", "customer", "Müller betreut sie"),
        ("email", "ada@globex.com", "own_company", None),
        ("linkedin_url", "https://www.linkedin.com/in/bob", "partner", None),
    }


def test_what_a_list_has_that_cannot_be_excluded_is_reported(admin: SignedInUser) -> None:
    content = (
        "domain,linkedin_url,reason,note\n"
        "gmail.com,,,\n"
        "acme.com,,enemy,\n"
        f"acme.com,,,{'a' * 201}\n"
        "globex.com,https://example.org/x,customer,\n"
        "initech.com,,customer,,too many\n"
    ).encode()

    imported = send_list(admin, content).get_json()

    assert (imported["added"], imported["rejected_count"]) == (1, 5)
    assert [(each["line"], each["column"]) for each in imported["rejected"]] == [
        (2, "domain"),
        (3, None),
        (4, None),
        (5, "linkedin_url"),
        (6, None),
    ]
    assert values(admin) == {("domain", "globex.com", "customer", None)}


HOSTILE = [
    b"\x00\x01\x02\xff\xfe",
    b"PK\x03\x04 a workbook, or not",
    b"domain\n",
    b"name,phone\nAda,1\n",
    b"acme.com\nglobex.com\n",
    b'domain\n"' + b"a" * 100_000,
    b"domain\n" + b"\n".join(b"a%d.com" % number for number in range(10_001)),
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_a_file_that_is_no_list_is_refused_with_a_sentence(admin: SignedInUser, content: bytes) -> None:
    answer = send_list(admin, content)

    assert (answer.status_code, values(admin)) in [(422, set()), (200, set())]
    assert answer.get_json().get("detail") or answer.get_json()["rejected_count"]


def test_formulas_in_a_list_are_no_values(admin: SignedInUser) -> None:
    imported = send_list(admin, b"domain,note\n\"=cmd|' /C calc'!A0\",\n").get_json()

    assert (imported["added"], imported["rejected_count"]) == (0, 1)


@pytest.mark.parametrize("path", ["/api/exclusions", "/api/exclusions/import"])
def test_a_replay_adds_nothing_even_if_the_exclusion_was_removed(admin: SignedInUser, path: str) -> None:
    bodies = {"json": {"entries": [ACME]}} if path == "/api/exclusions" else {"data": b"domain\nacme.com\n"}
    headers = admin.headers | {"Idempotency-Key": "k"}
    kind = {} if "json" in bodies else {"content_type": "text/csv"}
    admin.client.post(path, headers=headers, **bodies, **kind)
    [row] = listed(admin)["exclusions"]
    admin.client.delete(f"/api/exclusions/{row['id']}", headers=admin.headers)

    replay = admin.client.post(path, headers=headers, **bodies, **kind)

    assert (replay.headers["Idempotent-Replay"], replay.get_json()["added"]) == ("true", 0)
    assert values(admin) == set()
    with admin.database.reading() as session:
        checked = list(rule_checks.check(session, stuck_after=timedelta(days=1), now=clock.now()))
    assert [entry for entry in checked if entry.faults] == []


def test_the_key_of_a_list_is_refused_for_another_list(admin: SignedInUser) -> None:
    headers = admin.headers | {"Idempotency-Key": "k"}

    answers = [
        admin.client.post(
            "/api/exclusions/import", data=f"domain\n{name}.com\n", headers=headers, content_type="text/csv"
        )
        for name in ("acme", "globex")
    ]

    assert [answer.status_code for answer in answers] == [200, 422]
