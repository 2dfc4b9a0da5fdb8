from __future__ import annotations

from typing import Any

import pytest
from stored_support import ADA_URL, a_contact, suppress
from users_support import SignedInUser
from werkzeug.test import TestResponse

from app.domain.ids import EXAMPLES


def post(user: SignedInUser, path: str, body: dict[str, Any], **headers: str) -> TestResponse:
    return user.client.post(path, json=body, headers=user.headers | headers)


def create(user: SignedInUser, name: str = "Hot") -> str:
    return str(post(user, "/api/lists", {"name": name}).get_json()["id"])


def lists(user: SignedInUser) -> list[tuple[str, int]]:
    page = user.client.get("/api/lists", headers=user.headers).get_json()
    return [(row["name"], row["count"]) for row in page["lists"]]


def save(user: SignedInUser, **body: Any) -> Any:
    profile = {"linkedin_url": ADA_URL, "full_name": "Ada Lovelace"}
    return post(user, "/api/ext/linkedin-save", {"profile": profile} | body).get_json()


def a_stored_contact(user: SignedInUser, **changes: Any) -> str:
    with user.database.transaction() as session:
        return a_contact(session, **changes).id


def on_list(user: SignedInUser, name: str) -> list[str]:
    found = user.client.get(f"/api/contacts?list={name}", headers=user.headers).get_json()
    return [row["id"] for row in found["contacts"]]


def test_a_list_is_created_once(user: SignedInUser) -> None:
    first = post(user, "/api/lists", {"name": " Hot "})

    second = post(user, "/api/lists", {"name": "Hot"})

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.get_json() == second.get_json()
    assert lists(user) == [("Hot", 0)]


def test_a_replay_returns_the_list(user: SignedInUser) -> None:
    first = post(user, "/api/lists", {"name": "Hot"}, **{"Idempotency-Key": "k"})
    post(user, f"/api/lists/{first.get_json()['id']}", {"name": "Cold"})

    replay = post(user, "/api/lists", {"name": "Hot"}, **{"Idempotency-Key": "k"})

    assert (replay.status_code, replay.headers["Idempotent-Replay"]) == (200, "true")
    assert replay.get_json()["name"] == "Cold"
    assert lists(user) == [("Cold", 0)]


def test_a_replayed_change_changes_nothing(user: SignedInUser) -> None:
    list_id, contact_id = create(user), a_stored_contact(user)
    name, members = {"name": "Cold"}, {"add": [contact_id]}
    post(user, f"/api/lists/{list_id}", name, **{"Idempotency-Key": "name"})
    post(user, f"/api/lists/{list_id}/contacts", members, **{"Idempotency-Key": "members"})
    post(user, f"/api/lists/{list_id}", {"name": "Warm"})
    post(user, f"/api/lists/{list_id}/contacts", {"remove": [contact_id]})

    renamed = post(user, f"/api/lists/{list_id}", name, **{"Idempotency-Key": "name"})
    added = post(user, f"/api/lists/{list_id}/contacts", members, **{"Idempotency-Key": "members"})

    assert {response.headers["Idempotent-Replay"] for response in (renamed, added)} == {"true"}
    assert renamed.get_json()["name"] == "Warm"
    assert added.get_json() == {"added": 0, "removed": 0, "suppressed": 0}
    assert lists(user) == [("Warm", 0)]


def test_lists_are_paged_by_name(user: SignedInUser) -> None:
    for name in ("b", "c", "a"):
        create(user, name)

    first = user.client.get("/api/lists?limit=2", headers=user.headers).get_json()
    second = user.client.get(
        f"/api/lists?limit=2&cursor={first['next_cursor']}", headers=user.headers
    ).get_json()

    assert [row["name"] for row in first["lists"] + second["lists"]] == ["a", "b", "c"]
    assert second["next_cursor"] is None


@pytest.mark.parametrize("linkedin_url", [ADA_URL, None])
def test_a_stored_contact_is_saved_by_adding_it_to_a_list(
    user: SignedInUser, linkedin_url: str | None
) -> None:
    contact_id, list_id = a_stored_contact(user, linkedin_url=linkedin_url), create(user)

    change = post(user, f"/api/lists/{list_id}/contacts", {"add": [contact_id, contact_id]})
    again = post(user, f"/api/lists/{list_id}/contacts", {"add": [contact_id]})

    assert (change.get_json(), again.get_json()) == (
        {"added": 1, "removed": 0, "suppressed": 0},
        {"added": 0, "removed": 0, "suppressed": 0},
    )
    assert on_list(user, "Hot") == on_list(user, list_id) == [contact_id]


def test_a_contact_may_be_on_several_lists_and_leaves_one(user: SignedInUser) -> None:
    contact_id = a_stored_contact(user)
    for name in ("Hot", "Cold"):
        post(user, f"/api/lists/{create(user, name)}/contacts", {"add": [contact_id]})

    change = post(user, f"/api/lists/{create(user, 'Hot')}/contacts", {"remove": [contact_id]})

    assert change.get_json() == {"added": 0, "removed": 1, "suppressed": 0}
    assert lists(user) == [("Cold", 1), ("Hot", 0)]
    assert on_list(user, "Cold") == [contact_id]


def test_the_list_of_a_saved_profile_is_one_of_the_lists(user: SignedInUser) -> None:
    saved = save(user, list="Hot")["saved_profile"]

    assert lists(user) == [("Hot", 1)]
    assert on_list(user, "Hot") == [saved["id"]]


def test_a_save_moves_the_profile_from_the_list_of_the_last_save_only(user: SignedInUser) -> None:
    saved = save(user, list="Hot")["saved_profile"]
    post(user, f"/api/lists/{create(user, 'Fair')}/contacts", {"add": [saved["id"]]})

    save(user, list="Cold")

    assert lists(user) == [("Cold", 1), ("Fair", 1), ("Hot", 0)]


def test_the_extension_shows_the_list_that_a_contact_was_added_to(user: SignedInUser) -> None:
    contact_id = a_stored_contact(user, linkedin_url=ADA_URL)
    list_id = create(user)
    subject = {"subject": {"linkedin_url": ADA_URL}}

    post(user, f"/api/lists/{list_id}/contacts", {"add": [contact_id]})
    added = post(user, "/api/ext/lookup", subject).get_json()["saved"]
    post(user, f"/api/lists/{list_id}", {"name": "Warm"})
    renamed = post(user, "/api/ext/lookup", subject).get_json()["saved"]
    user.client.delete(f"/api/lists/{list_id}", headers=user.headers)
    deleted = post(user, "/api/ext/lookup", subject).get_json()["saved"]

    assert [each["list"] for each in (added, renamed, deleted)] == ["Hot", "Warm", None]


def test_people_stay_saved_when_their_list_is_deleted(user: SignedInUser) -> None:
    save(user, list="Hot")

    user.client.delete(f"/api/lists/{create(user, 'Hot')}", headers=user.headers)

    (row,) = user.client.get("/api/contacts", headers=user.headers).get_json()["contacts"]
    assert (row["full_name"], row["saved"]["lists"]) == ("Ada Lovelace", [])
    assert lists(user) == []


def test_two_lists_cannot_have_one_name(user: SignedInUser) -> None:
    create(user, "Hot")

    response = post(user, f"/api/lists/{create(user, 'Cold')}", {"name": "Hot"})

    assert response.status_code == 422
    assert response.get_json()["errors"][0]["pointer"] == "/name"


@pytest.mark.parametrize("person_id", [EXAMPLES["con"], EXAMPLES["prf"], "x", ""])
def test_an_unknown_person_is_not_added(user: SignedInUser, person_id: str) -> None:
    known = a_stored_contact(user)

    response = post(user, f"/api/lists/{create(user)}/contacts", {"add": [known, person_id]})

    assert (response.status_code, response.get_json()["code"]) == (404, "contact_not_found")
    assert lists(user) == [("Hot", 0)]


def test_a_suppressed_person_is_as_unknown(user: SignedInUser) -> None:
    contact_id = a_stored_contact(user, linkedin_url=ADA_URL)
    with user.database.transaction() as session:
        suppress(session, "linkedin_url", ADA_URL)

    response = post(user, f"/api/lists/{create(user)}/contacts", {"add": [contact_id]})

    assert response.get_json()["code"] == "contact_not_found"


BOB_URL = "https://www.linkedin.com/in/bob-babbage"
LEAD_URL = "https://www.linkedin.com/sales/lead/ACwAAAbcdEFGhijk,NAME_SEARCH,x1"


def test_profiles_are_saved_and_added_in_one_request(user: SignedInUser) -> None:
    list_id, contact_id = create(user), a_stored_contact(user, linkedin_url=ADA_URL)
    save(user, list="Cold", note="Met in May.")
    bob = {"linkedin_url": BOB_URL, "full_name": "Bob Babbage", "company": {"name": "Acme Engines"}}
    body = {"profiles": [{"linkedin_url": ADA_URL}, bob, {"linkedin_url": LEAD_URL}], "add": [contact_id]}

    change = post(user, f"/api/lists/{list_id}/contacts", body)
    again = post(user, f"/api/lists/{list_id}/contacts", body)

    assert change.get_json() == {"added": 3, "removed": 0, "suppressed": 0}
    assert again.get_json() == {"added": 0, "removed": 0, "suppressed": 0}
    found = user.client.get("/api/contacts?list=Hot", headers=user.headers).get_json()["contacts"]
    assert {row["full_name"] for row in found} == {"Ada Lovelace", "Bob Babbage", None}
    assert lists(user) == [("Cold", 1), ("Hot", 3)]


def test_a_suppressed_person_of_several_is_left_out(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        suppress(session, "linkedin_url", ADA_URL)
    body = {"profiles": [{"linkedin_url": ADA_URL}, {"linkedin_url": BOB_URL}]}

    change = post(user, f"/api/lists/{create(user)}/contacts", body)

    assert change.get_json() == {"added": 1, "removed": 0, "suppressed": 1}
    assert lists(user) == [("Hot", 1)]


def test_a_profile_that_is_none_is_refused_with_its_place(user: SignedInUser) -> None:
    body = {"profiles": [{"linkedin_url": BOB_URL}, {"linkedin_url": "https://acme.example/"}]}

    refused = post(user, f"/api/lists/{create(user)}/contacts", body)

    assert (refused.status_code, refused.get_json()["code"]) == (422, "not_a_profile_url")
    assert lists(user) == [("Hot", 0)]


def test_profiles_are_not_saved_for_a_list_of_another_workspace(user: SignedInUser) -> None:
    refused = post(user, f"/api/lists/{EXAMPLES['lst']}/contacts", {"profiles": [{"linkedin_url": BOB_URL}]})

    assert refused.status_code == 404
    assert user.client.get("/api/contacts", headers=user.headers).get_json()["contacts"] == []
