from __future__ import annotations

from typing import Any

import pytest

from app.features.uploads import result_rows

LISTED = {"name": "TPS", "date": "2026-11-25T00:00:00.000Z", "listed": True}


@pytest.mark.parametrize(
    ("phone", "cell"),
    [
        ({"do_not_call": None}, None),
        ({"do_not_call": True, "call_registers": [LISTED, LISTED | {"listed": False}]}, "TPS of 2026-11-25"),
        ({"do_not_call": True, "call_registers": []}, "yes"),
    ],
)
def test_a_number_names_the_registers_that_have_it(phone: dict[str, Any], cell: str | None) -> None:
    assert result_rows.do_not_call(phone) == cell
