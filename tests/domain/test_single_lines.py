from __future__ import annotations

import pytest

from app.domain.errors import InvalidValue
from app.domain.single_lines import MAX_LENGTH, single_line


@pytest.mark.parametrize("text", ["Acme", "Łódź & Söhne", "محمد", "a\u200db", "x" * MAX_LENGTH])
def test_a_line_of_any_script_is_trimmed_and_kept(text: str) -> None:
    assert single_line(f" {text}\n") == text


@pytest.mark.parametrize(
    "text", ["", " \n", "x" * (MAX_LENGTH + 1), *(f"a{sign}b" for sign in "\n\r\t\0\x1b\x7f\x85\u2028\u202e")]
)
def test_what_is_blank_or_too_long_or_would_not_stay_in_its_line_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        single_line(text)
