"""The extension in the language of Chromium: German, French and Spanish, and one that has no texts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from chromium_support import EXTENSION, BrowserUser, launch_browser
from e2e_stack import Stack
from playwright.sync_api import Page, Playwright, expect
from proxy_support import RecordingProxy

pytestmark = pytest.mark.slow

CUT_OFF = """() => [...document.querySelectorAll("button, a, label, h1, h2, p, summary, dt, dd, .badge")]
  .filter((element) => element.offsetParent && element.scrollWidth > element.clientWidth + 1)
  .filter((element) => getComputedStyle(element).display !== "inline")
  .filter((element) => getComputedStyle(element).textOverflow !== "ellipsis")
  .map((element) => `${element.tagName}: ${element.textContent}`)"""
WIDER = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
TITLES = {"de": "Kontaktsuche", "fr": "Recherche de contacts", "es": "Búsqueda de contactos"}
CREDITS = {"de": "10.000 Credits", "fr": "10\u202f000 crédits", "es": "10.000 créditos"}
SAVED = {"de": "Gespeichert in Optik", "fr": "Enregistré dans Optik", "es": "Guardado en Optik"}


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_the_popup_is_in_the_language_of_chromium_and_nothing_is_cut_off(
    playwright: Playwright, proxy: RecordingProxy, stack: Stack, tmp_path: Path, language: str
) -> None:
    texts = _texts(language)
    workspace, token = stack.create_workspace(grant=10_000)

    with launch_browser(playwright, tmp_path, proxy, language=language) as started:
        user = BrowserUser(started, proxy, stack, workspace, token)
        url = user.serve_profile(f"lina-{language}", "Lina Okafor", "Head of Optical Design")
        popup = user.open_popup_on(url)
        expect(popup.get_by_role("button", name=texts["sign_in"])).to_be_visible()
        _look(popup, "sign-in", language)

        assert popup.title() == TITLES[language]
        assert popup.locator("html").get_attribute("lang") == language

        popup.close()
        user.sign_in()
        popup = user.open_popup_on(url)
        expect(popup.locator("#credits")).to_have_text(CREDITS[language])
        popup.get_by_text(texts["save_title"]).click()
        popup.get_by_label(texts["list"], exact=True).fill("Optik")
        _look(popup, "person", language)
        popup.get_by_role("button", name=texts["save"], exact=True).click()
        expect(popup.get_by_text(SAVED[language])).to_be_visible()
        _look(popup, "saved", language)
        popup.get_by_role("button", name=texts["history"]).click()
        expect(popup.get_by_text(texts["history_empty"])).to_be_visible()
        _look(popup, "history", language)
        popup.get_by_role("button", name=texts["settings"]).click()
        expect(popup.get_by_text(texts["sign_out_hint"])).to_be_visible()
        _look(popup, "settings", language)

    asked = {request.headers.get("Accept-Language") for request in proxy.api_requests()}
    assert asked == {language}


def test_a_language_without_texts_has_english_ones_with_english_numbers(
    playwright: Playwright, proxy: RecordingProxy, stack: Stack, tmp_path: Path
) -> None:
    workspace, token = stack.create_workspace(grant=10_000)

    with launch_browser(playwright, tmp_path, proxy, language="pl") as started:
        user = BrowserUser(started, proxy, stack, workspace, token)
        user.sign_in()
        popup = user.open_popup_on(user.serve_profile("lina-pl", "Lina Okafor"))

        expect(popup.locator("#credits")).to_have_text("10,000 credits")
        assert (popup.locator("html").get_attribute("lang") or "").startswith("en")


def _texts(language: str) -> dict[str, str]:
    """Return the messages of a language by key."""
    path = EXTENSION / "_locales" / language / "messages.json"
    return {key: text["message"] for key, text in json.loads(path.read_text(encoding="utf-8")).items()}


def _look(page: Page, view: str, language: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{view}-{language}.png", full_page=True)
    assert page.evaluate(CUT_OFF) == []
    assert not page.evaluate(WIDER)
