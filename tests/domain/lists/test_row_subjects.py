from __future__ import annotations

import pytest

from app.domain.lists.row_subjects import subject_positions


@pytest.mark.parametrize(
    ("columns", "cells", "positions"),
    [
        (["full_name", "work_email", None, "phone"], ["Ada", "ada@acme.com", "x@y.com", "1"], [1]),
        (["work_email", "personal_email", "linkedin_url"], ["", "ada@acme.com", "u"], [1, 2]),
        (["full_name", "phone"], ["Ada", "+16175550155"], [1]),
        (["full_name", "company_name"], ["Ada", "Acme"], []),
        ([], ["ada@acme.com"], []),
        (["email", "email"], [" "], []),
    ],
)
def test_a_shared_phone_identifies_the_subject_only_without_anything_else(
    columns: list[str | None], cells: list[str], positions: list[int]
) -> None:
    assert subject_positions(cells, columns) == positions
