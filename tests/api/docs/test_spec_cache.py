from __future__ import annotations

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient


def test_the_document_is_generated_once_and_cached(
    app: APIFlask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = client.get("/openapi.json")
    monkeypatch.setattr(app, "_get_spec", lambda *_arguments: pytest.fail("it was written again"))

    second = client.get("/openapi.json")

    assert second.get_json()["openapi"] == "3.1.0"
    assert second.data == first.data
    assert second.mimetype == "application/json"


def test_every_response_with_the_document_has_its_own_headers(client: FlaskClient) -> None:
    ids = {client.get("/openapi.json").headers["X-Request-Id"] for _ in range(3)}

    assert len(ids) == 3
