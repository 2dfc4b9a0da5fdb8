"""The pages of the manual: links, diagrams and navigation."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tools.manual import diagrams, pages, site

PATHS = {"README.md": "index.md", "docs/a.md": "a.md", "docs/decisions/b.md": "decisions/b.md"}


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("README.md", "[A](docs/a.md#top)", "[A](a.md#top)"),
        ("README.md", '<img src="docs/x.png" alt="X">', '<img src="x.png" alt="X">'),
        ("docs/a.md", "![X](x.png)", "![X](x.png)"),
        ("docs/a.md", "[start](../README.md#tour)", "[start](index.md#tour)"),
        ("docs/decisions/b.md", "[A](../a.md)", "[A](../a.md)"),
        ("docs/a.md", "the [code](../app/code.py) of it", "the code of it"),
        ("docs/a.md", "the [`code`](../app/code.py)", "the `code`"),
        ("docs/a.md", "[web](https://example.com/a.md) [here](#top)", None),
        ("docs/a.md", "`[A](../README.md)`\n```\n[A](../README.md)\n```", None),
    ],
)
def test_links_lead_to_pages_of_the_site_or_are_left_out(
    tmp_path: Path, source: str, text: str, expected: str | None
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/x.png").write_bytes(b"")

    assert pages.converted(text, source, PATHS, tmp_path) == (text if expected is None else expected)


def test_a_diagram_becomes_its_picture(tmp_path: Path) -> None:
    name = diagrams.file_name("flowchart\n")
    (tmp_path / "docs/pictures/diagrams").mkdir(parents=True)
    (tmp_path / "docs/pictures/diagrams" / name).write_text("<svg/>")
    text = "```mermaid\nflowchart\n```"

    for page, folder in (("docs/a.md", "pictures"), ("docs/decisions/b.md", "../pictures")):
        assert f'src="{folder}/diagrams/{name}"' in pages.converted(text, page, PATHS, tmp_path)


def test_a_changed_diagram_asks_to_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(diagrams.MissingDiagramError, match=r"dev\.py manual --diagrams"):
        pages.converted("```mermaid\nflowchart\n```", "docs/a.md", PATHS, tmp_path)


def test_every_diagram_is_drawn_and_no_picture_is_left_over() -> None:
    drawn = {path.name for path in (diagrams.ROOT / diagrams.FOLDER).glob("*.svg")}

    assert drawn == {diagrams.file_name(source) for source in diagrams.sources()}


def test_the_navigation_has_every_page_once() -> None:
    configuration = tomllib.loads(site.CONFIGURATION.read_text(encoding="utf-8"))

    assert sorted(_leaves(configuration["project"]["nav"])) == sorted(pages.site_paths().values())


def _leaves(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    children = entry if isinstance(entry, list) else entry.values()
    return [leaf for child in children for leaf in _leaves(child)]
