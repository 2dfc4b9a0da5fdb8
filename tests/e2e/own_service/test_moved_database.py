"""From SQLite to PostgreSQL: who signed up before the move signs in after it, and owns what they bought."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e_stack import PASSWORD, Stack, run_flask, running
from local_servers import POSTGRES, empty_database

SUBJECT = {"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}


def reveal(stack: Stack, token: str) -> tuple[list[str], dict[str, object]]:
    response = stack.call("POST", "/api/ext/reveal/email", SUBJECT, Authorization=token)
    assert response.status == 200
    return [email["email"] for email in response.body["result"]["emails"]], response.body["credits"]


@pytest.mark.skipif(not POSTGRES, reason="the target is PostgreSQL")
def test_after_a_move_people_sign_in_and_what_they_own_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path, f"sqlite:///{tmp_path}/small.sqlite3", WEB_CONCURRENCY="1") as old:
        workspace, token = old.create_workspace(grant=7)
        bought, before = reveal(old, token)
    (folder := tmp_path / "moved").mkdir()

    with empty_database(tmp_path, "moved_stack") as url:
        monkeypatch.setenv("TARGET_DATABASE_URL", url)
        run_flask(old.environment, "database", "move")
        with running(folder, url, WEB_CONCURRENCY="1") as new:
            email = f"{workspace.replace('_', '-')}@customer.example"
            login = new.call("POST", "/api/ext/login", {"email": email, "password": PASSWORD})
            owned, after = reveal(new, f"Bearer {login.body['access_token']}")

    assert (before["charged"], before["balance"]) == (1, 6)
    assert login.body["credits"] == {"balance": 6, "reserved": 0, "next_grant": None}
    assert owned == bought == ["found@sandbox.example"]
    assert after == {"charged": 0, "reserved": 0, "balance": 6, "already_owned": True}
