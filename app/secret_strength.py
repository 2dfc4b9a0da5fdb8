"""The strength of the secrets in the settings."""

from __future__ import annotations

from itertools import pairwise

MIN_SECRET_LENGTH = 32
MIN_PASSWORD_LENGTH = 12
PLACEHOLDERS = ("change-me", "changeme", "token_urlsafe")
"""Texts of the example file that stand for a secret."""
MIN_DISTINCT_PAIRS = 20
"""Distinct pairs of adjacent characters in a secret; 32 random hexadecimal digits have 27 or more."""
MIN_DISTINCT_STEPS = 8
"""Distinct differences of adjacent characters in a secret; an alphabet has one or two."""
GENERATE = "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
"""The command that generates a secret."""


def flower_login_fault(login: str) -> str | None:
    """Return an error for an invalid login for Flower, which is `name:password`; else None."""
    name, _, password = login.partition(":")
    if not (name and password):
        state = "has not the form name:password" if login else "is not set"
        return f"FLOWER_BASIC_AUTH {state}. Set it to name:password, with a password from: {GENERATE}"
    if len(password) < MIN_PASSWORD_LENGTH or len(set(password)) < MIN_DISTINCT_STEPS:
        return (
            "FLOWER_BASIC_AUTH has a weak password. "
            f"Set it to name:password, with a password from: {GENERATE}"
        )
    return None


def suppression_key_fault(key: str) -> str | None:
    """Return a warning for a guessable suppression key; else None.

    A guessable key is accepted, because entries of the suppression list do not match under another key.
    """
    if len(key) < MIN_SECRET_LENGTH or not is_guessable(key):
        return None
    return (
        "SUPPRESSION_KEY can be guessed: it repeats itself or is the text of the example. While the "
        f"suppression list is empty, set it to a random value: {GENERATE}; later, all entries must be added "
        "again."
    )


def is_guessable(secret: str) -> bool:
    """Return whether the secret repeats itself, counts up or contains a placeholder."""
    pairs = list(pairwise(secret))
    steps = {ord(after) - ord(before) for before, after in pairs}
    is_placeholder = any(text in secret.lower() for text in PLACEHOLDERS)
    return is_placeholder or len(set(pairs)) < MIN_DISTINCT_PAIRS or len(steps) < MIN_DISTINCT_STEPS
