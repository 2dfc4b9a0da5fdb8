from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.settings import SettingsError
from workers.mail import settings
from workers.mail.settings import MailSettings

Environment = dict[str, str]


@pytest.fixture(autouse=True)
def _read_anew() -> Iterator[None]:
    settings.load.cache_clear()
    yield
    settings.load.cache_clear()


def load(monkeypatch: pytest.MonkeyPatch, environment: Environment) -> MailSettings:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return settings.load()


def test_by_default_no_mail_server_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(monkeypatch, {}) == MailSettings()


def test_every_setting_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {
        "VERIFY_SMTP": "true",
        "VERIFY_SMTP_FROM": "Probe@Verifier.com",
        "VERIFY_SMTP_HELO": "mx.verifier.com",
        "VERIFY_SMTP_SOURCE": "192.0.2.7",
        "VERIFY_SMTP_PORT": "2525",
        "VERIFY_SMTP_STARTTLS": "false",
        "VERIFY_SMTP_PAUSE_SECONDS": "2.5",
        "VERIFY_DNS_SERVERS": "192.0.2.53, 192.0.2.54:5353, 2001:db8::53, [2001:db8::54]:5353",
        "VERIFY_DNS_SECONDS": "1.5",
    }

    assert load(monkeypatch, variables) == MailSettings(
        smtp=True,
        sender="probe@verifier.com",
        helo="mx.verifier.com",
        source="192.0.2.7",
        port=2525,
        starttls=False,
        pause_seconds=2.5,
        dns_servers=(("192.0.2.53", 53), ("192.0.2.54", 5353), ("2001:db8::53", 53), ("2001:db8::54", 5353)),
        dns_seconds=1.5,
    )


def test_the_domain_of_the_sender_is_the_default_ehlo_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(monkeypatch, {"VERIFY_SMTP_FROM": "probe@verifier.com"}).helo == "verifier.com"


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"VERIFY_SMTP": "true"}, "VERIFY_SMTP_FROM is not set"),
        ({"VERIFY_SMTP": "perhaps"}, '"VERIFY_SMTP" invalid: Not a valid boolean'),
        ({"VERIFY_SMTP_PORT": "smtp"}, '"VERIFY_SMTP_PORT" invalid: Not a valid integer'),
        ({"VERIFY_SMTP_FROM": "nobody"}, "VERIFY_SMTP_FROM is 'nobody'"),
        ({"VERIFY_SMTP_SOURCE": "here"}, "VERIFY_SMTP_SOURCE is 'here'"),
        ({"VERIFY_SMTP_HELO": "a\r\nMAIL"}, "VERIFY_SMTP_HELO is"),
        ({"VERIFY_SMTP_PORT": "99999"}, "VERIFY_SMTP_PORT is 99999"),
        ({"VERIFY_SMTP_PAUSE_SECONDS": "-1"}, "VERIFY_SMTP_PAUSE_SECONDS is -1"),
        ({"VERIFY_DNS_SECONDS": "0"}, "VERIFY_DNS_SECONDS is 0"),
        ({"VERIFY_DNS_SERVERS": "dns.acme.com"}, "VERIFY_DNS_SERVERS is 'dns.acme.com'"),
        ({"VERIFY_DNS_SERVERS": "192.0.2.53:dns"}, "VERIFY_DNS_SERVERS has '192.0.2.53:dns'"),
    ],
)
def test_an_invalid_setting_is_named(
    monkeypatch: pytest.MonkeyPatch, environment: Environment, named: str
) -> None:
    with pytest.raises(SettingsError, match=named):
        load(monkeypatch, environment)
