"""Every sentence of a problem says what to do next."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from app.domain import errors
from app.domain.errors import Problem

pytestmark = pytest.mark.any_database

ROOT = Path(errors.__file__).parents[2]
NEXT_STEPS = frozenset(Path(__file__).with_name("next_steps.txt").read_text().split())
"""The verbs with which a sentence begins that says what to do."""
STATED = re.compile(r"(?:^|[.:;,] |\} )(?:then |so )?(\w+)")
"""The first words of sentences and of clauses."""
_LISTS = re.compile(r"(?:GET /\S+|/\S+) (?:lists|returns|has)|must be|must have|is temporarily")


def problems(kind: type[Problem] = Problem) -> Iterator[type[Problem]]:
    yield kind
    for each in kind.__subclasses__():
        yield from problems(each)


NAMES = {each.__name__ for each in problems()}


def texts(node: ast.expr, constants: Mapping[str, ast.expr]) -> list[str]:
    """Return the texts that an expression may be; none if only running it tells."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Call(func=ast.Name(id="Message"), args=[first, *_]):
            return texts(first, constants)
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in constants:
            return texts(constants[name], {})
        case ast.IfExp(body=body, orelse=other):
            return texts(body, constants) + texts(other, constants)
        case ast.BoolOp(values=values):
            return [text for value in values for text in texts(value, constants)]
    return []


def details() -> dict[str, str]:
    """Return the constant details of problems, with the place of each."""
    found = {}
    for folder in ("app", "workers"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text())
            constants = {
                target.id: node.value
                for node in tree.body
                if isinstance(node, ast.Assign)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            for node in ast.walk(tree):
                match node:
                    case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, *_]) if (
                        name in NAMES
                    ):
                        place = f"{path.relative_to(ROOT)}:{node.lineno}"
                        found |= dict.fromkeys(texts(first, constants), place)
    return found | {each.help: each.__name__ for each in problems() if "help" in vars(each)}


def says_what_to_do(text: str) -> bool:
    return bool(NEXT_STEPS & {word.lower() for word in STATED.findall(text)} or _LISTS.search(text))


def test_each_detail_of_a_problem_says_what_to_do() -> None:
    found = details()

    assert len(found) > 120
    assert {place: text for text, place in found.items() if not says_what_to_do(text)} == {}
