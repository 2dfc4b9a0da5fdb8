"""A text with values is a `Message`: an f-string in a problem would be English in every language."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tools import languages
from tools.languages import SOURCE

ENGLISH = {
    "domain/purposes.py": "a setting",
    "domain/regional_rules.py": "a setting",
    "domain/suppression_lists/drop_files.py": "a command",
    "engine/audit_log/heads.py": "a command",
    "features/call_registers/loading.py": "a command",
    "features/call_registers/number_forms.py": "a command",
    "features/call_registers/register_files.py": "a command",
}
"""Modules whose f-strings only operators read, on the command line."""
ENGLISH_CONSTANTS = {
    "domain/suppression_lists/plain_files.py": "a command",
    "engine/audit/rule.py": "a command",
    "features/backup/commands.py": "a command",
    "features/backup/copies/creating.py": "a command",
    "features/permissions/schemas.py": "the documents of the API",
    "features/scim/schemas.py": "the documents of the API",
    "features/scim/users.py": "an identity provider's log",
    "features/suppressions/import_commands.py": "a command",
    "features/verifications/schemas.py": "the documents of the API",
    "web/schemas/limit_schemas.py": "the documents of the API",
}
"""Modules with a sentence as a constant that is in English in every language, by where it is shown."""


def test_a_text_with_values_is_no_f_string() -> None:
    problems = {kind.__name__ for kind in languages.problem_classes()}

    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if any(f_strings(path.read_text("utf-8"), problems))
    }

    assert found == {name for name in ENGLISH if (SOURCE / name).exists()}


def test_a_sentence_that_is_a_constant_is_a_message() -> None:
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if any(sentences(path.read_text("utf-8")))
    }

    assert found == {name for name in ENGLISH_CONSTANTS if (SOURCE / name).exists()}


def test_an_f_string_is_found_wherever_it_comes_from() -> None:
    given = 'raise Refused(f"{a} is wrong.")'
    named = (
        'def view():\n    detail = f"{a} is wrong."\n    raise Refused(errors=(FieldError("/a", detail),))'
    )
    part = 'raise Refused("Wrong. " + (f"Use {a}." if a else ""))'
    message = 'raise Refused(Message("{a} is wrong.", a=a))'

    found = [any(f_strings(source, {"Refused"})) for source in (given, named, part, message)]

    assert found == [True, True, True, False]


def f_strings(source: str, problems: set[str]) -> Iterator[ast.JoinedStr]:
    """Yield the f-strings that become the text of a problem, a field or a page, also by a name."""
    tree = ast.parse(source)
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node.value)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        is_second = name in languages.SECOND_ARGUMENTS
        index = 1 if is_second else languages.ARGUMENTS.get(name, 0 if name in problems else None)
        if index is not None and len(node.args) > index:
            yield from within(node.args[index], assigned)


def sentences(source: str) -> Iterator[str]:
    """Yield the constants of a module that are sentences and no messages, so that no catalogue has them."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = node.value.value if isinstance(node.value, ast.Constant) else None
            if isinstance(text, str) and " " in text and text.endswith("."):
                yield text


def within(node: ast.expr, assigned: dict[str, list[ast.expr]]) -> Iterator[ast.JoinedStr]:
    match node:
        case ast.JoinedStr():
            yield node
        case ast.BinOp(left=first, right=second) | ast.IfExp(body=first, orelse=second):
            yield from within(first, assigned)
            yield from within(second, assigned)
        case ast.Name(id=name):
            for value in assigned.get(name, ()):
                yield from within(value, {})
