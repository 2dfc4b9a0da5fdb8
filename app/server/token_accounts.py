"""The accounts of the tokens that a process has authenticated, which take turns with their next requests.

Anyone can send a text in the form of a token, so the text alone gives no turn of its own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

from app.domain import tokens

MAX_TOKENS = 10_000
"""About 4 MB per process; the tokens that were not used for the longest time are forgotten first."""


class TokenOwner(NamedTuple):
    """The account of a token, and its workspace."""

    account_id: str
    workspace_id: str


class TokenAccounts:
    """The accounts of the most recently used tokens, of which only hashes are kept."""

    def __init__(self, max_tokens: int = MAX_TOKENS) -> None:
        self._max_tokens = max_tokens
        self._accounts: OrderedDict[bytes, TokenOwner] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, token: str, account_id: str, workspace_id: str) -> None:
        """Note that the token was authenticated as one of this account."""
        with self._lock:
            digest = tokens.digest(token)
            self._accounts[digest] = TokenOwner(account_id, workspace_id)
            self._accounts.move_to_end(digest)
            if len(self._accounts) > self._max_tokens:
                self._accounts.popitem(last=False)

    def get(self, token: str) -> TokenOwner | None:
        """Return the account of the token, or None if it was not authenticated here, or long ago."""
        return self._accounts.get(tokens.digest(token))
