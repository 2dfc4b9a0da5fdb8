from __future__ import annotations

import pytest
from apiflask import APIFlask
from settings_support import change_settings
from users_support import SignedInUser

pytestmark = pytest.mark.any_database


@pytest.mark.parametrize("names", [("hunter", "pdl"), ()])
def test_the_session_says_whether_a_provider_can_search_for_people(
    app: APIFlask, user: SignedInUser, names: tuple[str, ...]
) -> None:
    change_settings(app, providers_people=names)

    session = user.client.get("/api/ext/session", headers=user.headers).get_json()

    assert session["people_search"] is bool(names)
