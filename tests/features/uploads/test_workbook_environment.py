from __future__ import annotations

import subprocess

import pytest

from app.features.uploads.turn import workbook_reader


def test_the_parser_of_workbooks_gets_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET_KEY", "DATABASE_URL", "HUNTER_API_KEY", "SALESFORCE_CLIENT_SECRET", "SMTP_PASSWORD"):
        monkeypatch.setenv(name, "concealed")
    given = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *args: object, **options: object) -> None:
            given.append(options.get("env"))
            super().__init__(*args, **options)  # type: ignore[call-overload]  # as it was called

    monkeypatch.setattr(workbook_reader.subprocess, "Popen", Recorded)
    with pytest.raises(workbook_reader.InvalidValue):
        workbook_reader.read_workbook(b"PK", max_unpacked=1, max_text=1, max_rows=1, is_wanted=lambda: True)

    (environment,) = given
    assert environment is not None
    assert "concealed" not in environment.values()
