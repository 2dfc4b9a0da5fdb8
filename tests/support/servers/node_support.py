"""Runs a module of a client in Node.js."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest


def run_in_node(module: Path, vectors: Path) -> Any:
    """Return what the module prints as JSON about the file of vectors.

    Without Node.js the test is skipped; with NODE=required it fails.
    """
    node = shutil.which("node")
    if node is None and os.environ.get("NODE") == "required":
        pytest.fail("NODE=required, and there is no node on the PATH")
    if node is None:
        pytest.skip("there is no node on the PATH to run the client's side of the vectors")
    done = subprocess.run([node, module, vectors], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)
