"""The manual as the app serves it: headers, missing pages, and the search in a browser."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from page_browser_support import launch
from playwright.sync_api import Playwright, expect
from werkzeug.serving import make_server

from app.pages import manual
from tools.manual import site


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built manual."""
    folder = tmp_path_factory.mktemp("manual") / "site"
    assert site.build(folder) > 30
    return folder


@pytest.fixture
def served(app: APIFlask, built: Path, monkeypatch: pytest.MonkeyPatch) -> APIFlask:
    """An app that has the manual."""
    monkeypatch.setattr(manual, "FOLDER", built)
    return app


@pytest.fixture
def address(served: APIFlask) -> Iterator[str]:
    """The address of a server with the manual."""
    server = make_server("127.0.0.1", 0, served, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def test_the_manual_is_served_with_a_policy_and_a_cache(served: APIFlask) -> None:
    client = served.test_client()

    page = client.get("/manual/operating.html", buffered=True)

    assert (page.status_code, page.mimetype) == (200, "text/html")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "script-src 'self' 'sha256-" in page.headers["Content-Security-Policy"]
    assert page.headers["Cache-Control"] == "no-cache"
    again = client.get(
        "/manual/operating.html", headers={"If-None-Match": page.headers["ETag"]}, buffered=True
    )
    assert again.status_code == 304


def test_the_address_without_a_slash_leads_to_the_start_page(served: APIFlask) -> None:
    response = served.test_client().get("/manual")

    assert (response.status_code, response.headers["Location"]) == (308, "/manual/")
    assert "Two commands" in served.test_client().get("/manual/", buffered=True).text


@pytest.mark.parametrize("name", ["nothing.html", "../factory.py", "%2e%2e/factory.py", "decisions"])
def test_other_paths_are_not_found(served: APIFlask, name: str) -> None:
    response = served.test_client().get(f"/manual/{name}")

    assert response.status_code == 404
    assert response.mimetype == "application/problem+json"


def test_an_installation_without_manual_tells_how_to_build_it(
    app: APIFlask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manual, "FOLDER", tmp_path)

    response = app.test_client().get("/manual/")

    assert response.status_code == 404
    assert "python3 dev.py manual" in response.get_json()["detail"]


@pytest.mark.release
def test_the_search_works_without_any_other_server(playwright: Playwright, address: str) -> None:
    browser = launch(playwright)
    page = browser.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: _note_foreign(request, address, faults))

    page.goto(f"{address}/manual/")
    page.keyboard.press("/")
    page.keyboard.type("suppression", delay=30)
    expect(page.get_by_text(re.compile(r"^\d+ results?$"))).to_be_visible()
    page.goto(f"{address}/manual/architecture.html")
    expect(page.locator("img[src*='pictures/diagrams/']").first).to_be_visible()
    widths = page.locator("img[src*='pictures/diagrams/']").evaluate_all(
        "nodes => nodes.map(node => node.naturalWidth)"
    )

    assert len(widths) >= 2
    assert min(widths) > 0
    assert faults == []
    browser.close()


def _note_foreign(request: Any, address: str, faults: list[str]) -> None:
    if not request.url.startswith((address, "data:", "blob:")):
        faults.append(request.url)
