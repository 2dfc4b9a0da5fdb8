from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dev
from tools.state import ROOT

LOCKS = {
    "requirements.lock": ["embedded"],
    "requirements-dev.lock": ["embedded", "dev"],
    "requirements-bench.lock": ["embedded", "dev", "bench"],
}
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements(lock: str) -> list[str]:
    """Return the lock's requirements, each with its hashes, without comments."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / lock).read_text(), flags=re.MULTILINE)
    return text.replace("\\\n", " ").splitlines()


def pinned(lock: str) -> dict[str, str]:
    """Return the version of every package in the lock."""
    pins = [Requirement(line.partition(" --hash")[0]) for line in requirements(lock)]
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_of_a_lock_pins_one_version_by_its_hashes(lock: str) -> None:
    pattern = re.compile(r"[a-z0-9-]+==[^ ;]+(?: ; [^-]+?)?(?:\s+--hash=sha256:[0-9a-f]{64})+\s*")

    assert [line for line in requirements(lock) if not pattern.fullmatch(line)] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_dependency_is_locked_at_a_version_that_satisfies_it(lock: str) -> None:
    groups = [PROJECT["dependency-groups"][name] for name in LOCKS[lock]]
    required = [
        Requirement(text) for texts in (PROJECT["project"]["dependencies"], *groups) for text in texts
    ]

    pins = pinned(lock)

    assert [
        str(requirement)
        for requirement in required
        if not requirement.specifier.contains(pins[canonicalize_name(requirement.name)])
    ] == []


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [("requirements.lock", "requirements-dev.lock"), ("requirements-dev.lock", "requirements-bench.lock")],
)
def test_a_larger_lock_contains_the_versions_of_the_smaller(smaller: str, larger: str) -> None:
    assert pinned(smaller).items() <= pinned(larger).items()


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_index_and_no_path(lock: str) -> None:
    text = Path(ROOT / lock).read_text()

    assert not re.search(r"https?:|file:|--(?:extra-)?index|--find-links|(?:^|\s)/", text)


@pytest.mark.parametrize(
    ("arguments", "locks"),
    [
        (["run", "python", "-m", "benchmarks.growth"], ["requirements-bench.lock"]),
        (["run", "python", "benchmarks/import_contacts.py"], ["requirements-bench.lock"]),
        (
            ["run", "flask", "doctor"],
            ["requirements.lock", "requirements-dev.lock", "requirements-bench.lock"],
        ),
    ],
)
def test_a_benchmark_runs_with_its_packages(arguments: list[str], locks: list[str]) -> None:
    assert [lock.name for lock in dev._locks(arguments[0], arguments)] == locks  # noqa: SLF001 -- installs nothing
