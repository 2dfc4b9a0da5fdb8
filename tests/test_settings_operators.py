from __future__ import annotations

import pytest

from app import settings as app_settings


def test_operators_are_recognized_by_their_normalised_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERATORS", " Olive@Acme.example, grace@acme.example ,")

    settings, faults = app_settings.read()

    assert faults == {}
    assert settings.operators == ("olive@acme.example", "grace@acme.example")
    assert settings.is_operator("olive@acme.example")
    assert not settings.is_operator("ada@acme.example")


def test_by_default_there_are_no_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPERATORS", raising=False)

    assert app_settings.read()[0].operators == ()


def test_an_invalid_address_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERATORS", "olive")

    _settings, faults = app_settings.read()

    assert faults["OPERATORS"].startswith("OPERATORS has an invalid e-mail address")
