from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.domain import tokens
from app.domain.errors import InvalidToken
from app.domain.tokens import TokenKind


@pytest.mark.parametrize("kind", list(TokenKind))
def test_a_token_has_its_kind_and_a_valid_checksum(kind: TokenKind) -> None:
    token = tokens.new_token(kind)

    assert tokens.kind_of(token) is kind
    assert re.fullmatch(rf"{kind}_[0-9A-Za-z]{{49}}", token)


def test_no_two_tokens_are_the_same() -> None:
    made = {tokens.new_token(TokenKind.SESSION) for _ in range(1000)}

    assert len(made) == 1000


def test_the_checksum_of_a_published_token_does_not_change() -> None:
    token = "ses_" + "0" * 42 + "1" + "1RsT68"

    checked = tokens.kind_of(token)

    assert checked is TokenKind.SESSION


@given(place=st.integers(4, 52), digit=st.sampled_from("0123456789ABCXYZabcxyz"))
def test_every_mistyped_digit_is_detected(place: int, digit: str) -> None:
    token = tokens.new_token(TokenKind.API_KEY)
    mistyped = token[:place] + digit + token[place + 1 :]
    assume(mistyped != token)

    with pytest.raises(InvalidToken):
        tokens.kind_of(mistyped)


@pytest.mark.parametrize("change", ["", "ses_", "abc_" + "0" * 49, "ses_" + "0" * 49, "ses_" + "é" * 49])
def test_malformed_tokens_are_invalid(change: str) -> None:
    with pytest.raises(InvalidToken):
        tokens.kind_of(change)


def test_a_session_token_with_the_prefix_of_an_api_key_is_invalid() -> None:
    token = tokens.new_token(TokenKind.SESSION)

    with pytest.raises(InvalidToken):
        tokens.kind_of("key_" + token.removeprefix("ses_"))


def test_the_stored_digest_is_a_sha256_and_the_shown_prefix_is_the_beginning() -> None:
    token = tokens.new_token(TokenKind.API_KEY)

    assert tokens.digest(token) == hashlib.sha256(token.encode()).digest()
    assert tokens.shown_prefix(token) == token[:12]
