"""The webhook URLs that an enrichment may use, and the operator's settings for them."""

from __future__ import annotations

import pytest
from apiflask import APIFlask
from hostile_support import SPELLINGS
from settings_support import change_settings
from users_support import SignedInUser, create_user

from app import settings as app_settings
from app.settings import SettingsError


@pytest.fixture
def opened(app: APIFlask) -> SignedInUser:
    """An account where the operator permits webhooks to an internal network."""
    change_settings(app, webhook_networks=("10.20.0.0/16",))
    return create_user(app)


def status(user: SignedInUser, url: str | None) -> int:
    """Return the status of an enrichment estimate with this webhook URL."""
    body = {
        "entity": "person",
        "items": [{"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}}],
        "dry_run": True,
        "webhook_url": url,
    }
    return user.client.post("/api/ext/enrichment-request", json=body, headers=user.headers).status_code


@pytest.mark.parametrize("url", [None, "https://hooks.acme.example/done?x=1", "https://93.184.215.14:8443/"])
def test_https_urls_are_accepted(user: SignedInUser, url: str | None) -> None:
    assert status(user, url) == 200


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.acme.example/done",
        "http://10.20.0.7/done",
        "https://receiver/done",
        "ftp://hooks.acme.example/",
        "hooks.acme.example",
        f"https://hooks.acme.example/{'x' * 2048}",
    ],
)
def test_other_urls_are_rejected(user: SignedInUser, url: str) -> None:
    assert status(user, url) == 422


def test_deceptive_urls_are_rejected(user: SignedInUser) -> None:
    statuses = {name: status(user, url) for name, url in SPELLINGS.items()}

    assert statuses == dict.fromkeys(SPELLINGS, 422)


@pytest.mark.parametrize(
    "url", ["https://hooks.acme.example/done", "http://10.20.0.7:8080/done", "http://receiver:8080/done"]
)
def test_http_and_short_host_names_are_accepted_with_webhook_networks(opened: SignedInUser, url: str) -> None:
    assert status(opened, url) == 200


@pytest.mark.parametrize(
    "url",
    ["ftp://10.20.0.7/", "10.20.0.7", "http://10.21.0.7/", "https://[::ffff:10.20.0.7]/", "http://10.5127/"],
)
def test_other_schemes_and_addresses_are_rejected_even_with_webhook_networks(
    opened: SignedInUser, url: str
) -> None:
    assert status(opened, url) == 422


@pytest.mark.parametrize(
    ("statuses", "networks"),
    [
        ("", ()),
        (" , ", ()),
        ("10.20.0.0/16, fd12::/48,192.0.2.7", ("10.20.0.0/16", "fd12::/48", "192.0.2.7")),
    ],
)
def test_webhook_networks_are_read_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, statuses: str, networks: tuple[str, ...]
) -> None:
    monkeypatch.setenv("WEBHOOK_NETWORKS", statuses)

    assert app_settings.load.__wrapped__().webhook_networks == networks


def test_no_private_network_is_allowed_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBHOOK_NETWORKS", raising=False)

    assert app_settings.load.__wrapped__().webhook_networks == ()


@pytest.mark.parametrize(
    "statuses", ["10.20.0.1/16", "receiver", "10.20.0.0/33", "10.20.0.0/16;fd12::/48", "*"]
)
def test_an_invalid_webhook_network_is_explained(monkeypatch: pytest.MonkeyPatch, statuses: str) -> None:
    monkeypatch.setenv("WEBHOOK_NETWORKS", statuses)

    with pytest.raises(SettingsError, match="WEBHOOK_NETWORKS contains"):
        app_settings.load.__wrapped__()
