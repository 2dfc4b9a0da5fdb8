"""Makes the functions of deprecated operations in the generated Python client issue a warning."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.state import ROOT

MODULE = ROOT / "clients" / "python" / "deprecation.py"
IMPORT = "from ...deprecation import warn_deprecated\n"
FIRST_CALLED = "_get_kwargs"
"""The function that each of the four functions of an operation calls, and calls first."""


class UnexpectedCodeError(RuntimeError):
    """The generator writes another code than this module changes."""


def add(document: dict[str, Any], package: Path) -> None:
    """Add the warnings of the document's deprecated operations to the package.

    Raises:
        UnexpectedCodeError: an operation has no module, or one without the function that is changed.

    """
    shutil.copy(MODULE, package)
    for operation, sentence in deprecated(document):
        files = list((package / "api").glob(f"*/{operation}.py"))
        if not files:
            raise UnexpectedCodeError(f"There is no module of {operation}.")
        for file in files:
            file.write_text(_warning(file.read_text(), f"{operation}: {sentence}"))


def deprecated(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the id of each deprecated operation, and the sentence that its description begins with."""
    for item in document["paths"].values():
        for operation in item.values():
            if operation.get("deprecated"):
                yield operation["operationId"], operation["description"].partition("\n")[0]


def _warning(code: str, message: str) -> str:
    """Return the code of a module whose function warns first."""
    tree = ast.parse(code)
    functions = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == FIRST_CALLED
    ]
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    if len(functions) != 1 or not imports:
        raise UnexpectedCodeError(f"There is no function {FIRST_CALLED}.")
    lines = code.splitlines(keepends=True)
    lines.insert(functions[0].body[0].lineno - 1, f"    warn_deprecated({message!r})\n")
    lines.insert(imports[-1].end_lineno or 0, IMPORT)
    return "".join(lines)
