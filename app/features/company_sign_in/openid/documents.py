"""What an OpenID provider publishes: its metadata (OpenID Connect Discovery 1.0) and its keys, cached."""

from __future__ import annotations

import re
import threading
import time
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from app.features.company_sign_in.openid.json_client import OK, JsonClient, JsonResponse, ProviderUnreachable

CACHE_SECONDS = 3600.0
MIN_REFRESH_SECONDS = 60.0
"""The least time between two reads of the documents, whatever keys the tokens are signed with."""
RETRY_SECONDS = 5.0
"""How long a provider that did not answer is not asked again: requests would wait for each other."""
_METADATA = "/.well-known/openid-configuration"
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_URL = re.compile(r"https?://[!-~]{1,2000}", re.ASCII)


class ProviderDocuments:
    """The documents of one issuer; one object serves all threads of a process."""

    def __init__(self, issuer: str, http: JsonClient) -> None:
        self._issuer = issuer
        self._http = http
        self._lock = threading.Lock()
        self._metadata: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None
        self._failed_at: float | None = None

    def metadata(self, *, max_age: float = CACHE_SECONDS) -> dict[str, Any]:
        """Return the metadata, read at most `max_age` seconds ago."""
        with self._lock:
            if self._metadata is None or _age(self._metadata) > max_age:
                self._metadata = (time.monotonic(), self._read_metadata())
            return self._metadata[1]

    def keys(self, *, max_age: float = CACHE_SECONDS) -> KeySet:
        """Return the keys of its signatures, read, as their address, at most `max_age` seconds ago."""
        url: str = self.metadata(max_age=max_age)["jwks_uri"]
        with self._lock:
            if self._keys is None or _age(self._keys) > max_age:
                self._keys = (time.monotonic(), self._read_keys(url))
            return self._keys[1]

    def _read_metadata(self) -> dict[str, Any]:
        response = self._get(self._issuer.rstrip("/") + _METADATA)
        if response.status != OK or not all(_is_url(response.body.get(name)) for name in _ENDPOINTS):
            raise ProviderUnreachable("no metadata")
        if response.body.get("issuer") != self._issuer:
            raise ProviderUnreachable("metadata of another issuer than OIDC_ISSUER")
        return response.body

    def _read_keys(self, url: str) -> KeySet:
        response = self._get(url)
        keys = response.body.get("keys")
        if response.status != OK or not isinstance(keys, list):
            raise ProviderUnreachable("no keys")
        signing = [key for key in keys if isinstance(key, dict) and key.get("use", "sig") == "sig"]
        try:
            return KeySet.import_key_set({"keys": signing})
        except (JoseError, ValueError, KeyError, TypeError):
            raise ProviderUnreachable("no usable keys") from None

    def _get(self, url: str) -> JsonResponse:
        if self._failed_at is not None and time.monotonic() - self._failed_at < RETRY_SECONDS:
            raise ProviderUnreachable("it did not answer a moment ago")
        try:
            return self._http.get(url)
        except ProviderUnreachable:
            self._failed_at = time.monotonic()
            raise


def _is_url(value: object) -> bool:
    return isinstance(value, str) and _URL.fullmatch(value) is not None


def _age(cached: tuple[float, object]) -> float:
    return time.monotonic() - cached[0]
