"""The documents of an OpenID provider that does not answer."""

from __future__ import annotations

import pytest

from app.features.company_sign_in.openid import documents
from app.features.company_sign_in.openid.documents import ProviderDocuments
from app.features.company_sign_in.openid.json_client import JsonClient, JsonResponse, ProviderUnreachable


class SilentClient(JsonClient):
    """Counts the requests, none of which is answered."""

    requests = 0

    def get(self, url: str, *, token: str | None = None) -> JsonResponse:  # noqa: ARG002 -- the parent's
        self.requests += 1
        raise ProviderUnreachable("ConnectTimeout")


def requests_of_two_sign_ins() -> int:
    client = SilentClient()
    provider = ProviderDocuments("https://login.acme.example", client)
    for _ in range(2):
        with pytest.raises(ProviderUnreachable):
            provider.metadata()
    return client.requests


def test_sign_ins_do_not_queue_for_a_provider_that_does_not_answer() -> None:
    assert requests_of_two_sign_ins() == 1


def test_a_provider_that_did_not_answer_is_asked_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "RETRY_SECONDS", 0.0)

    assert requests_of_two_sign_ins() == 2
