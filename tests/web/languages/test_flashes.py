"""A message after a redirect is in the reader's language: a literal, or translated before it is kept."""

from __future__ import annotations

import ast

from tools.languages import SOURCE

TRANSLATED = {"gettext", "ngettext", "translate", "not_accepted", "added", "removed", "changed"}
"""What returns a sentence in the reader's language; the last four are of `features/lists/sentences.py`."""


def test_no_flash_is_put_together_in_english() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "flash"
        if not is_translatable(call.args[0])
    ]

    assert found == []


def is_translatable(text: ast.expr) -> bool:
    """Return whether the page can show the text in any language: it finds literals in the catalogues."""
    if isinstance(text, ast.IfExp):
        return is_translatable(text.body) and is_translatable(text.orelse)
    if isinstance(text, ast.Call):
        name = getattr(text.func, "id", getattr(text.func, "attr", ""))
        return name in TRANSLATED or name == "join"
    is_constant = isinstance(text, ast.Subscript) or (isinstance(text, ast.Attribute) and text.attr.isupper())
    return isinstance(text, ast.Constant) or is_constant
