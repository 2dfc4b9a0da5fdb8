"""A text that means different things has a context, so that each meaning has its translation."""

from __future__ import annotations

from pathlib import Path

import pytest
from apiflask import APIFlask
from page_support import ACCEPT, visitor
from users_support import SignedInUser

from app.infra.languages import catalogues
from tools import languages
from tools.languages import InContext

TITLES = {"de": ("Titel", "Position"), "fr": ("Titre", "Fonction"), "es": ("Título", "Cargo")}


@pytest.mark.parametrize("language", TITLES)
def test_the_title_of_a_book_is_not_that_of_a_person(
    app: APIFlask, user: SignedInUser, language: str
) -> None:
    page = visitor(app, user).client.get("/address-books", headers=ACCEPT | {"Accept-Language": language})

    of_book, of_person = TITLES[language]
    assert f'<label for="title">{of_book}</label>' in page.text
    assert catalogues.catalogue(language).pgettext("person", "Title") == of_person


def test_a_text_with_a_context_is_extracted_and_not_marked_again() -> None:
    found = list(languages.of_template('{{ ui.field("title", pgettext("person", "Title"), "Name") }}'))

    assert found == [InContext("person", "Title"), "Name"]


def test_translations_of_a_context_are_filled_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogues, "path", lambda _language: tmp_path / "messages.po")
    texts: set[languages.Text] = {"Title", InContext("person", "Title"), ("{n} row", "{n} rows")}
    languages.write("de", languages.updated("de", texts))
    missing = languages.missing(languages.read("de"))

    languages.fill("de", ["person|Title", "Position", "Title", "Titel", "{n} row", "{n} Zeile || {n} Zeilen"])
    kept = languages.updated("de", texts)

    assert sorted(missing) == ["Title", "person|Title", "{n} row || {n} rows"]
    assert [kept.get("Title").string, kept.get("Title", "person").string] == ["Titel", "Position"]  # type: ignore[union-attr]
    assert languages.missing(kept) == []
