from __future__ import annotations

import pytest

from app.infra.digest_keys import DigestKeys
from app.infra.encryption import Undecryptable, decrypt, encrypt

KEYS = DigestKeys(b"a secret key", b"a suppression key")


def test_an_encrypted_secret_can_be_read_again_and_is_not_in_the_stored_value() -> None:
    stored = encrypt(KEYS, "tokens", "row-1", b"open sesame")

    assert decrypt(KEYS, "tokens", "row-1", stored) == b"open sesame"
    assert b"sesame" not in stored


def test_equal_secrets_are_stored_differently() -> None:
    assert encrypt(KEYS, "tokens", "row-1", b"a") != encrypt(KEYS, "tokens", "row-1", b"a")


@pytest.mark.parametrize(
    ("keys", "purpose", "context"),
    [
        (DigestKeys(b"another secret key", b"a suppression key"), "tokens", "row-1"),
        (KEYS, "other tokens", "row-1"),
        (KEYS, "tokens", "row-2"),
    ],
)
def test_another_key_purpose_or_row_cannot_read_it(keys: DigestKeys, purpose: str, context: str) -> None:
    stored = encrypt(KEYS, "tokens", "row-1", b"open sesame")

    with pytest.raises(Undecryptable):
        decrypt(keys, purpose, context, stored)


@pytest.mark.parametrize("kept", [0, 4, -1])
def test_a_damaged_value_cannot_be_read(kept: int) -> None:
    stored = encrypt(KEYS, "tokens", "row-1", b"open sesame")

    with pytest.raises(Undecryptable):
        decrypt(KEYS, "tokens", "row-1", stored[:kept])
