"""Texts in the code of another format are read, and those with a wrong code are left as they are."""

from __future__ import annotations

import pytest

from app.domain.normal.texts.converted_twice import converted_once
from app.domain.normal.texts.encoded_texts import decoded


@pytest.mark.parametrize(
    "text",
    [
        "=?utf-8?Q?J=C3=BCrgen?=",
        "J=C3=BCrgen",
        "J%C3%BCrgen",
        "J\\u00fcrgen",
        "J&amp;uuml;rgen",
        "J\u00c3\u00bcrgen",
        "J\u00c3\u0192\u00c2\u00bcrgen",
    ],
)
def test_a_text_is_read_out_of_its_code(text: str) -> None:
    assert decoded(text) == "J\u00fcrgen"


@pytest.mark.parametrize(
    "text",
    ["=?utf-8?B?x?=", "=?nope?Q?Ada?=", "Ada =E2=82 Low", "\\ud800 Ada", "Ada %C3 Low", "100 % = & Co"],
)
def test_a_text_whose_code_is_wrong_stays_as_it_is(text: str) -> None:
    assert decoded(text) == text


@pytest.mark.parametrize("text", ["Ada", "J\u00fcrgen", "\u00c3\u00bc"])
def test_a_text_that_was_converted_once_is_not_converted_back(text: str) -> None:
    assert converted_once(text) is None
