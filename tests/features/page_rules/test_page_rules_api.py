from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from apiflask import APIFlask
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from settings_support import change_settings
from users_support import SignedInUser
from werkzeug.test import TestResponse

from app.factory import create_app
from app.features.page_rules import rules_file
from app.provider_settings import SettingsError

pytestmark = pytest.mark.any_database

PATH = "/api/ext/page-rules"


def get(user: SignedInUser, etag: str = "") -> TestResponse:
    return user.client.get(PATH, headers=user.headers | ({"If-None-Match": etag} if etag else {}))


def test_the_rules_are_signed_with_the_key_of_the_session(user: SignedInUser) -> None:
    session = user.client.get("/api/ext/session", headers=user.headers).get_json()
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(session["page_rules_key"]))

    body = get(user).get_json()

    key.verify(base64.b64decode(body["signature"]), body["rules"].encode())
    with pytest.raises(InvalidSignature):
        key.verify(base64.b64decode(body["signature"]), body["rules"].replace("gmail", "mail").encode())
    assert json.loads(body["rules"]) == json.loads(rules_file.SHIPPED.read_text())


def test_a_caller_who_has_the_rules_gets_304_until_they_change(app: APIFlask, user: SignedInUser) -> None:
    etag = get(user).headers["ETag"]

    same = get(user, etag)
    change_settings(app, page_rules_off=("gmail",))
    changed = get(user, etag)

    assert (same.status_code, same.get_data(), same.headers["ETag"]) == (304, b"", etag)
    assert same.headers["Cache-Control"] == "private, max-age=600"
    assert "Authorization" in same.headers["Vary"]
    assert changed.status_code == 200
    assert json.loads(changed.get_json()["rules"])["off"][-1] == "gmail"


def test_the_file_of_the_operator_replaces_the_shipped_one(
    app: APIFlask, user: SignedInUser, tmp_path: Path
) -> None:
    file = tmp_path / "rules.json"
    own = json.loads(rules_file.SHIPPED.read_text()) | {"version": 2**53 - 1, "sites": []}
    file.write_text(json.dumps(own))
    change_settings(app, page_rules_file=str(file))

    assert json.loads(get(user).get_json()["rules"]) == own


def test_the_service_does_not_start_with_a_file_that_cannot_be_used(app: APIFlask, tmp_path: Path) -> None:
    change_settings(app, page_rules_file=str(tmp_path / "missing.json"))

    with pytest.raises(SettingsError, match=r"missing\.json cannot be read"):
        create_app(app.extensions["services"].settings)
