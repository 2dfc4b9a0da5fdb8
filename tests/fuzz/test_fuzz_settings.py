from __future__ import annotations

import tomllib

from fuzz.__main__ import SETTINGS
from tools.clients import document

NOT_A_FILE = "application/json"


def test_every_operation_that_takes_a_file_may_accept_any_bytes() -> None:
    """A generated file that violates the schema of text, such as an array, is a file all the same."""
    paths = {
        path
        for path, operations in document.served()["paths"].items()
        for operation in operations.values()
        if any(kind != NOT_A_FILE for kind in operation.get("requestBody", {}).get("content", {}))
    }
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))

    lenient = [set(group["include-path"]) for group in settings["operations"]]

    assert paths in lenient
