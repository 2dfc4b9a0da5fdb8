from __future__ import annotations

import secrets
from collections import Counter
from pathlib import Path

import pytest

from tools.check import secret_scan

AWS_KEY = "AKIA" + "IOSFODNN7EXAMPL2"  # in two parts, so that the scan does not report this file


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "app").mkdir()
    (tmp_path / "tests").mkdir()
    monkeypatch.setattr(secret_scan, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", ["app/settings.py", "tests/test_settings.py"])
def test_a_key_of_a_known_format_is_found_everywhere(root: Path, path: str) -> None:
    (root / path).write_text(f'\nKEY = "{AWS_KEY}"\n')

    assert secret_scan.scan([path]) == [(path, "AWS Access Key", 2)]


def test_a_password_in_the_code_is_found(root: Path) -> None:
    (root / "app/settings.py").write_text(f'password = "{secrets.token_hex(8)}x"\n')

    assert secret_scan.scan(["app/settings.py"]) == [("app/settings.py", "Secret Keyword", 1)]


def test_a_password_that_is_annotated_or_in_a_test_is_not_reported(root: Path) -> None:
    line = f'password = "{secrets.token_hex(8)}x"'
    (root / "app/settings.py").write_text(f"{line}  # noqa: S105 - of the demo\n")
    (root / "tests/test_settings.py").write_text(f"{line}\n")

    assert secret_scan.scan(["app/settings.py", "tests/test_settings.py"]) == []


def test_the_allowed_findings_are_exactly_those_in_the_files() -> None:
    paths = sorted({path for path, _kind in secret_scan.ALLOWED})

    found = Counter((path, kind) for path, kind, _line in secret_scan.scan(paths))

    assert found == {key: count for key, (count, _reason) in secret_scan.ALLOWED.items()}
