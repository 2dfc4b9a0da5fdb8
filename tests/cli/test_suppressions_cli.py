from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from apiflask import APIFlask
from click.testing import Result

from app.cli import suppressions

Run = Callable[..., Result]


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *words: runner.invoke(suppressions.group, [str(word) for word in words])


def answer(result: Result) -> Any:
    return json.loads(result.stdout)


def test_values_are_suppressed_once(run: Run) -> None:
    values = (
        "--email",
        "Ada@Acme.example",
        "--phone",
        "+1 617 555 0101",
        "--linkedin-url",
        "linkedin.com/in/ada-demo",
    )

    first, again = run("add", *values, "--json"), run("add", *values, "--reason", "asked")

    assert answer(first) == {"given": 3, "added": 3}
    assert again.stdout == "Added 0 of 3.\n"
    assert answer(run("count", "--json")) == {
        "total": 3,
        "by_kind": {"email": 1, "linkedin_url": 1, "phone": 1},
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Give --email, --phone or --linkedin-url."),
        (("--email", "ada"), "This is not an e-mail address"),
        (("--linkedin-url", "https://example.com/in/ada"), "linkedin.com"),
    ],
)
def test_wrong_values_are_explained(run: Run, words: tuple[str, ...], sentence: str) -> None:
    result = run("add", *words)

    assert result.exit_code != 0
    assert sentence in result.stderr


def test_a_list_is_suppressed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(
        "Email;Phone;LinkedIn URL\n"
        "ada@acme.example;+1 617 555 0101;\n"
        "ada@acme.example;12;linkedin.com/in/ada-demo\n",
        encoding="utf-8",
    )

    result = run("import", path, "--json")

    assert answer(result) == {"given": 3, "added": 3, "rejected": 1}
    assert run("count").stdout == "3 values are suppressed.\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("name\nAda\n", "Columns seen: 'name'"), ("email\nada\n", "No value could be read.")],
)
def test_a_list_without_values_is_explained(run: Run, tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "list.csv"
    path.write_text(content, encoding="utf-8")

    result = run("import", path)

    assert result.exit_code == 1
    assert sentence in " ".join(result.stderr.split())
