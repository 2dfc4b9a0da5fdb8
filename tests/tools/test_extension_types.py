from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools.check.extension_types import __main__ as extension_types
from tools.check.vulnerabilities import UNAVAILABLE

WRONG = "/** @param {number} count */\nconst twice = (count) => count * 2;\ntwice('two');\n"


def test_without_node_the_types_are_not_checked_and_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")

    assert extension_types.main() == UNAVAILABLE

    assert capsys.readouterr().out == "Not checked: Node and npm are not installed.\n"


@pytest.mark.slow
def test_a_type_error_is_found_but_not_in_the_files_of_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    extension = tmp_path / "extension"
    (extension / "vendor").mkdir(parents=True)
    (extension / "vendor" / "library.js").write_text(WRONG)
    (extension / "own.js").write_text(WRONG)

    code = extension_types.main(extension, tmp_path / "types")

    if code == UNAVAILABLE:
        pytest.skip("npm could not install the compiler")
    output = capsys.readouterr().out
    assert code == 1
    assert "extension/own.js(3,7): error TS2345" in output
    assert "vendor" not in output
