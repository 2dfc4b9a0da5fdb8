from __future__ import annotations

import pytest

from app.infra.crypto.digest_keys import DigestKeys
from app.infra.crypto.encryption import NONCE_BYTES, Undecryptable, decrypt, encrypt, open_sealed, seal_all

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

    with pytest.raises(Undecryptable, match="A stored value cannot be decrypted: its key is not in"):
        decrypt(keys, purpose, context, stored)


@pytest.mark.parametrize("kept", [0, 4, -1])
def test_a_damaged_value_cannot_be_read(kept: int) -> None:
    stored = encrypt(KEYS, "tokens", "row-1", b"open sesame")

    with pytest.raises(Undecryptable):
        decrypt(KEYS, "tokens", "row-1", stored[:kept])


def test_values_encrypted_together_have_nonces_of_their_own_and_stay_bound_to_their_contexts() -> None:
    values = [(f"row-{number}", b"open sesame") for number in range(100)]

    sealed = seal_all(KEYS.ring, values)

    assert len({value[1 : 1 + NONCE_BYTES] for value in sealed}) == len(values)
    assert [open_sealed(KEYS.ring, f"row-{number}", value) for number, value in enumerate(sealed)] == [
        b"open sesame"
    ] * len(values)
    with pytest.raises(Undecryptable):
        open_sealed(KEYS.ring, "row-1", sealed[0])
    assert seal_all(KEYS.ring, []) == []
