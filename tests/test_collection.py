"""Test collection: every process of a test run collects the same tests in the same order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SET_METHODS = {"union", "difference", "intersection", "symmetric_difference"}
SET_OPERATORS = (ast.Sub, ast.BitAnd, ast.BitOr, ast.BitXor)


def is_set(node: ast.expr) -> bool:
    """Return whether an expression is evidently a set; `d.keys() - …` is one, too."""
    match node:
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset")):
            return True
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in SET_METHODS
        case ast.BinOp(left=left, right=right, op=operator) if isinstance(operator, SET_OPERATORS):
            return any(is_set(side) or _is_view(side) for side in (left, right))
    return False


def _is_view(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys"


def made_from_sets(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield each set whose order determines the order of a list or of the cases of a test."""
    for node in ast.walk(tree):
        match node:
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                yield from (generator.iter for generator in node.generators if is_set(generator.iter))
            case (
                ast.Call(func=ast.Attribute(attr="parametrize"))
                | ast.Call(func=ast.Name(id="list" | "tuple"))
            ):
                yield from filter(is_set, node.args)
            case ast.Starred(value=value) if is_set(value):
                yield value


def test_no_test_is_parametrized_in_the_order_of_a_set() -> None:
    """Sets have a different order in each process, and pytest-xdist aborts a run whose processes differ."""
    problems = [
        f"{path}:{node.lineno}: sort {ast.unparse(node)}"
        for path in sorted(Path(__file__).parent.rglob("*.py"))
        for node in made_from_sets(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert problems == []


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.parametrize('x', {1, 2})\ndef test(x): ...",
        "@pytest.mark.parametrize('x', set(Kind) - DONE)\ndef test(x): ...",
        "CASES = [one for one in {'a', 'b'}]",
        "CASES = [one for section in SECTIONS.keys() - {'about'} for one in SECTIONS[section]]",
        "CASES = list(frozenset(NAMES))",
        "CASES = [*A.union(B)]",
    ],
)
def test_a_set_is_detected(source: str) -> None:
    assert len(list(made_from_sets(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "CASES = [one for one in sorted({'a', 'b'})]",
        "CASES = {one for one in {'a', 'b'}}",
        "@pytest.mark.parametrize('x', sorted(set(Kind) - DONE))\ndef test(x): ...",
        "CASES = [one for one in A - 1]",
    ],
)
def test_an_ordered_collection_is_accepted(source: str) -> None:
    assert list(made_from_sets(ast.parse(source))) == []
