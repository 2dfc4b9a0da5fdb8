"""The pages as such: length, links, and the files and functions that they name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from pages import pages, text_of

from tools.state import ROOT

FOLDERS = (
    "app",
    "benchmarks",
    "chaos",
    "cli",
    "clients",
    "demo",
    "deploy",
    "docs",
    "extension",
    "fuzz",
    "mcp_server",
    "tests",
    "tools",
    "workers",
)
MAX_README_LINES = 130
_LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")
_PATH = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w./-]*\w")
_FUNCTION = re.compile(r"`([\w.]+)`\s+in\s+`((?:app|cli|workers)/[\w/]+\.py)`")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*pages(), "extension/README.md"])
def test_every_link_leads_somewhere(page: str) -> None:
    broken = []
    for match in _LINK.finditer(text_of(page)):
        target, _, anchor = (match[1] or match[2]).partition("#")
        if "://" in target:
            continue
        file = ((ROOT / page).parent / target) if target else ROOT / page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(match[0])

    assert broken == []


@pytest.mark.parametrize("page", pages())
def test_the_contents_of_a_page_are_its_sections_in_order(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)

    contents = re.findall(r"^- \[([^\]]+)\]\(#[^)]+\)$", text, re.MULTILINE)

    assert contents in ([], sections)


@pytest.mark.parametrize("page", [page for page in pages() if page != "CHANGELOG.md"])
def test_every_path_that_a_page_names_exists(page: str) -> None:
    quoted = [text for text in re.findall(r"`([^`\n]+)`", text_of(page)) if "<" not in text]
    named = {path for text in quoted for path in _PATH.findall(text)}

    missing = sorted(path for path in named if not (ROOT / path).exists())

    assert missing == []


def defined_names(file: Path) -> set[str]:
    """Return what a module defines: constants, functions, classes, and methods as `Class.method`."""
    named = (ast.FunctionDef, ast.ClassDef)
    body = ast.parse(file.read_text()).body
    top = [node for node in body if isinstance(node, named)]
    methods = {f"{node.name}.{child.name}" for node in top for child in node.body if isinstance(child, named)}
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in body if isinstance(node, ast.AnnAssign)]
    constants = {target.id for target in targets if isinstance(target, ast.Name)}
    return {node.name for node in top} | methods | constants


@pytest.mark.parametrize("page", [page for page in pages() if page != "CHANGELOG.md"])
def test_every_function_that_a_page_names_is_in_its_file(page: str) -> None:
    missing = [
        (name, file)
        for name, file in _FUNCTION.findall(text_of(page))
        if not (ROOT / file).exists() or name not in defined_names(ROOT / file)
    ]

    assert missing == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, todo = set(), ["README.md"]
    while todo:
        page = todo.pop()
        reached.add(page)
        for target in re.findall(r"\]\(([^)\s#]+)", text_of(page)):
            file = ((ROOT / page).parent / target).resolve()
            below = [file, *file.rglob("*.md")] if file.is_dir() else [file]
            found = {str(path.relative_to(ROOT)) for path in below if path.suffix == ".md" and path.exists()}
            todo += found - reached - set(todo)

    assert set(pages()) <= reached


def test_the_readme_fits_on_a_few_screens() -> None:
    assert len(text_of("README.md").splitlines()) <= MAX_README_LINES
