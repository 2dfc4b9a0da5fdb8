from __future__ import annotations

import pytest

from tools import test as command


def selected(*arguments: str) -> str:
    """Return the expression of markers that pytest gets, or "" for none."""
    chosen = frozenset(command.MARKERS).intersection(arguments)
    options = command._defaults(chosen, [word for word in arguments if word not in command.MARKERS])  # noqa: SLF001
    return options[options.index("-m") + 1] if "-m" in options else ""


@pytest.mark.parametrize(
    ("arguments", "expression"),
    [
        ((), "not release"),
        (("--cov=app",), "not release"),
        (("--release",), "release"),
        (("--fast",), "not slow and not database and not release"),
        (("--fast", "--postgres"), "not slow and database and not release"),
        (("--postgres",), "database and not release"),
        (("--postgres", "--release"), "database and release"),
        (("tests/e2e",), ""),
        (("--fast", "tests/engine"), "not slow"),
        (("-m", "slow"), ""),
    ],
)
def test_a_run_leaves_out_the_tests_of_a_release_unless_they_are_named(
    arguments: tuple[str, ...], expression: str
) -> None:
    assert selected(*arguments) == expression


def test_fast_and_release_exclude_each_other() -> None:
    with pytest.raises(SystemExit, match="exclude each other"):
        command.main(["--fast", "--release"])


def test_every_choice_has_an_estimate() -> None:
    choices = [set(), {"--fast"}, {"--release"}]

    assert set(command.ESTIMATES) == {
        frozenset(choice | more) for choice in choices for more in (set(), {"--postgres"})
    }
