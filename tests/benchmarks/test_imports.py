"""The benchmarks: no other test runs them, but they use the same support code."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from unittest import mock

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = ("[!_]*.py", "bad_clients/[!_]*.py", "website_privacy/[!_]*.py")
BENCHMARKS = sorted(path for pattern in SCRIPTS for path in FOLDER.glob(pattern))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_can_be_imported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(path.parent), *sys.path])

    with mock.patch.dict(os.environ):
        module = runpy.run_path(str(path), run_name="benchmark")

    assert callable(module["main"])
