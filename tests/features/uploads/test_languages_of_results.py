"""The notes of a result: in the reader's language on the page, in the account's in the file."""

from __future__ import annotations

import csv
import io

import pytest
from page_support import ACCEPT, Visitor
from upload_support import a_list, people
from users_support import SignedInUser

from app.engine.accounts.accounts import Account
from app.features.uploads import result_rows, uploads, work
from workers.execution.worker_services import WorkerServices

NOTES = {
    "de": "Die Zeile nennt keine eindeutige Person.",
    "fr": "La ligne n\u2019identifie personne.",
    "es": "La fila no identifica a una persona.",
    "en": "The row does not identify a person.",
}


def uploaded(
    browser: Visitor, services: WorkerServices, content: bytes = a_list(*people(1), ("", "", "nobody"))
) -> str:
    """Upload a list, and have it read and priced; return its id."""
    page = browser.send("/uploads", file=(io.BytesIO(content), "people.csv"))
    upload_id = page.request.path.rpartition("/")[2]
    work.advance_upload(upload_id, services)
    work.advance_upload(upload_id, services)
    return upload_id


def keep(user: SignedInUser, language: str) -> None:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).language = language


@pytest.mark.parametrize("language", NOTES)
def test_the_page_says_why_a_row_has_no_result_in_the_reader_s_language(
    browser: Visitor, services: WorkerServices, language: str
) -> None:
    path = f"/uploads/{uploaded(browser, services)}"

    page = browser.client.get(path, headers=ACCEPT | {"Accept-Language": language})

    assert NOTES[language] in page.text.replace("&#39;", "'")


@pytest.mark.parametrize("language", NOTES)
def test_the_file_has_the_notes_in_the_language_of_the_account_that_downloads_it(
    browser: Visitor, user: SignedInUser, services: WorkerServices, language: str
) -> None:
    upload_id = uploaded(browser, services)
    keep(user, language)

    page = browser.client.get(f"/uploads/{upload_id}/result", headers=ACCEPT | {"Accept-Language": "es"})
    api = user.client.get(
        f"/api/uploads/{upload_id}/result?format=csv", headers=user.headers | {"Accept-Language": "es"}
    )

    for response in (page, api):
        header, *rows = csv.reader(io.StringIO(response.data.decode("utf-8-sig")))
        assert header[-len(result_rows.COLUMNS) :] == list(result_rows.COLUMNS)
        assert rows[-1][-1].startswith(NOTES[language])
        assert response.headers["Content-Language"] == language


def test_rows_in_json_have_notes_in_the_language_that_the_program_accepts(
    browser: Visitor, user: SignedInUser, services: WorkerServices
) -> None:
    upload_id = uploaded(browser, services)
    keep(user, "de")

    response = user.client.get(
        f"/api/uploads/{upload_id}/result?format=json", headers=user.headers | {"Accept-Language": "fr"}
    )

    first, last = response.get_json()["rows"]
    assert first["note"] is None
    assert last["note"].startswith(NOTES["fr"])
    assert response.headers["Content-Language"] == "fr"


def test_the_reason_for_which_a_file_was_not_read_is_in_the_reader_s_language(
    browser: Visitor, services: WorkerServices
) -> None:
    upload_id = uploaded(browser, services, b"%PDF-1.7 no list")

    page = browser.client.get(f"/uploads/{upload_id}", headers=ACCEPT | {"Accept-Language": "de"})

    with services.database.reading() as session:
        detail = session.get_one(uploads.Upload, upload_id).detail
    assert detail == "This is a PDF, not CSV. Export the list as CSV from its source."
    assert "Das ist eine PDF-Datei, keine CSV-Datei. Exportieren Sie die Liste" in page.text
