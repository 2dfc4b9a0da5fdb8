from __future__ import annotations

import base64
from pathlib import Path

import pytest

from app import settings as app_settings
from app.encryption_settings import parse
from app.provider_settings import SettingsError

ONE, TWO = (base64.b64encode(bytes([number]) * 32).decode() for number in (1, 2))


@pytest.fixture(autouse=True)
def _empty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENCRYPTION_KEYS", "ENCRYPTION_KEYS_FILE"):
        monkeypatch.delenv(name, raising=False)


def test_keys_are_read_in_their_order_from_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENCRYPTION_KEYS", f"2:{TWO}, 1:{ONE}")

    settings, faults = app_settings.read()

    assert settings.encryption_keys == ((2, b"\x02" * 32), (1, b"\x01" * 32))
    assert "ENCRYPTION_KEYS" not in faults


def test_keys_are_read_from_the_lines_of_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# since 2026\n2:{TWO}\n1:{ONE}  # until 2026\n")
    monkeypatch.setenv("ENCRYPTION_KEYS_FILE", str(file))

    assert app_settings.read()[0].encryption_keys == ((2, b"\x02" * 32), (1, b"\x01" * 32))


def test_by_default_there_are_none() -> None:
    assert app_settings.read()[0].encryption_keys == ()


@pytest.mark.parametrize(
    "text",
    ["secret", f"0:{ONE}", f"256:{ONE}", f"x:{ONE}", "1:", "1:c2hvcnQ=", "1:not base64", f"1:{ONE},1:{TWO}"],
)
def test_an_invalid_key_is_named_and_not_quoted(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^KEYS has") as error:
        parse(text, "KEYS")

    assert ONE not in str(error.value)
    assert "secret" not in str(error.value)


def test_a_file_that_cannot_be_read_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENCRYPTION_KEYS_FILE", str(tmp_path / "missing"))

    fault = app_settings.read()[1]["ENCRYPTION_KEYS"]
    assert f"'{tmp_path / 'missing'}', which cannot be read: No such file or directory." in fault
    assert "unset it and run: flask keys create" in fault


@pytest.mark.parametrize("content", ["", "# the keys were here\n"])
def test_a_file_without_a_key_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str
) -> None:
    file = tmp_path / "keys"
    file.write_text(content)
    monkeypatch.setenv("ENCRYPTION_KEYS_FILE", str(file))

    assert "which has no key." in app_settings.read()[1]["ENCRYPTION_KEYS"]


def test_a_setting_and_a_file_together_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENCRYPTION_KEYS", f"1:{ONE}")
    monkeypatch.setenv("ENCRYPTION_KEYS_FILE", "keys")

    assert "both set" in app_settings.read()[1]["ENCRYPTION_KEYS"]
