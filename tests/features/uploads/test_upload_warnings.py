"""What was not understood in an uploaded list is said before its price is accepted."""

from __future__ import annotations

import pytest
from upload_support import Uploader, a_list, uploader
from worker_harness import worker_harness

from app.features.uploads import representations, uploads
from app.infra.database.db import Database
from app.settings import Settings

HEADER = ("Full name", "Company", "LinkedIn", "Phone")
PROFILE = "https://www.linkedin.com/in/template"


@pytest.fixture
def ada(settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch) -> Uploader:
    return uploader(worker_harness(settings, database, monkeypatch))


@pytest.fixture
def upload_id(ada: Uploader) -> str:
    return ada.ready(
        a_list(
            ("Ada Lovelace", "Acme", PROFILE, "(202) 224-3121"),
            ("Bob Byron", "Beta", PROFILE, "12"),
            ("Cy Dee", "", PROFILE, ""),
            header=HEADER,
        )
    )


def test_an_upload_says_what_was_left_out_by_column_with_lines(ada: Uploader, upload_id: str) -> None:
    upload = ada.get(upload_id)
    with ada.harness.database.reading() as session:
        warnings = representations.describe(session, upload)["warnings"]

    assert {(found["column"], found["code"], tuple(found["lines"])) for found in warnings} == {
        ("LinkedIn", "shared_in_list", (2, 3, 4)),
        ("Phone", "no_country", (2,)),
        ("Phone", "invalid", (3,)),
    }
    assert all(found["detail"] and found["effect"] == "left_out" for found in warnings)


def test_rows_with_one_profile_are_not_one_person(ada: Uploader, upload_id: str) -> None:
    estimate = ada.get(upload_id).estimate

    assert estimate is not None
    assert (estimate["people"], estimate["duplicates"], estimate["invalid"]) == (2, 0, 1)


def test_another_mapping_counts_the_warnings_anew(ada: Uploader, upload_id: str) -> None:
    before = ada.get(upload_id).warnings

    with ada.harness.database.transaction() as session:
        upload = uploads.locked(session, ada.harness.workspace_id, upload_id)
        columns = ["full_name", "company_name", "linkedin_url", None]
        uploads.map_columns(session, upload, columns, ["email"], now=upload.touched_at)
        between = upload.warnings
    ada.turn(upload_id)

    assert between == []
    assert len(before) == 3
    assert [found["code"] for found in ada.get(upload_id).warnings] == ["shared_in_list"]
