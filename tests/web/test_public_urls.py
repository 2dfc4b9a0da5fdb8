"""The addresses of the service that leave it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from apiflask import APIFlask

from app import factory, settings
from app.settings import SettingsError

ROOT = Path(__file__).parents[2]
PUBLIC = "https://contacts.acme.example"
FORGED = {"Host": "evil.example"}


def test_the_api_document_names_it(app: APIFlask) -> None:
    known = app.extensions["services"].settings
    other = factory.create_app(dataclasses.replace(known, public_url=PUBLIC))

    servers = other.test_client().get("/openapi.json", headers=FORGED).get_json()["servers"]

    assert servers == [{"url": PUBLIC}, {"url": "/"}]


@pytest.mark.parametrize(
    "url",
    [
        "http://contacts.acme.example",
        "https://a.example/path",
        "https://u@a.example",
        "https://a b",
        "a.example",
    ],
)
def test_an_address_that_is_no_origin_is_an_error(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("PUBLIC_URL", url)
    settings.load.cache_clear()

    with pytest.raises(SettingsError, match="it must be an address such as"):
        settings.load()
    settings.load.cache_clear()


def test_nothing_else_makes_an_address_of_the_host_of_a_request() -> None:
    pattern = re.compile(r"request\.(host_url|url_root|root_url|base_url|url)\b|_external=True")

    using = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "app").rglob("*.py")
        if pattern.search(file.read_text())
    }

    assert using == {"app/web/public_urls.py"}
