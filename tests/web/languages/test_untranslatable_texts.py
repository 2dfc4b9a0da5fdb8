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
STILL_ENGLISH = {
    "api/company_by_hash.py",
    "domain/lists/files/xlsx_records.py",
    "features/address_books/readings.py",
    "features/address_books/work.py",
    "features/crm/credential_checks.py",
    "features/crm/schemas.py",
    "features/exclusions/changes.py",
    "features/exclusions/csv_lists.py",
    "features/quality/bounce_lists.py",
    "features/quality/schemas.py",
    "features/uploads/turn/reading.py",
    "features/uploads/uploads.py",
    "features/verifications/values.py",
    "web/jobs/waiting.py",
}
"""Modules with texts that are still English: of numbers with separators, of parts, or stored by a worker."""


def test_a_text_with_values_is_no_f_string() -> None:
    problems = {kind.__name__ for kind in languages.problem_classes()}

    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if any(f_strings(path.read_text("utf-8"), problems))
    }

    assert found == {name for name in {*ENGLISH, *STILL_ENGLISH} if (SOURCE / name).exists()}


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
