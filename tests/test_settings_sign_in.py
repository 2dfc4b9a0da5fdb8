from __future__ import annotations

from collections.abc import Iterator

import pytest

from app import settings
from app.settings import SettingsError

WORKSPACE = f"wks_{'0' * 24}"


@pytest.fixture(autouse=True)
def _read_anew() -> Iterator[None]:
    settings.load.cache_clear()
    yield
    settings.load.cache_clear()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("OIDC_ISSUER", "http://login.acme.example", "must be a URL such as https://accounts.google.com"),
        ("OIDC_ISSUER", "https://[login", "must be a URL such as https://accounts.google.com"),
        ("OIDC_ISSUER", "https://login.acme.example", "OIDC_CLIENT_ID is not set"),
        ("PASSWORD_SIGN_IN", "no", "it must be on or off"),
        ("PASSWORD_SIGN_IN", "off", "no one could sign in"),
        ("OIDC_CREATE_ACCOUNTS", "acme.com=Acme", "must be a list such as acme.com=wks_"),
        ("OIDC_EXTENSION_IDS", "the extension", "copy the 32 letters from chrome://extensions"),
        ("TOTP_REQUIRED_FOR", "everyone", "it must be nobody or admins"),
    ],
)
def test_a_wrong_setting_of_the_sign_in_is_an_error(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError, match=message):
        settings.load()


def test_the_settings_of_company_accounts_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OIDC_ISSUER", "https://login.acme.example")
    monkeypatch.setenv("OIDC_CLIENT_ID", "contact-lookup")
    monkeypatch.setenv("OIDC_CREATE_ACCOUNTS", f"Acme.com={WORKSPACE}, acme.org={WORKSPACE}")
    monkeypatch.setenv("PASSWORD_SIGN_IN", "off")

    loaded = settings.load()

    assert loaded.oidc_create_accounts == (("acme.com", WORKSPACE), ("acme.org", WORKSPACE))
    assert not loaded.password_sign_in
    assert loaded.oidc_name == "your company account"
