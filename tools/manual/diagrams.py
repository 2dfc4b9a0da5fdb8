"""The Mermaid diagrams of the documentation as pictures, so that the manual needs no script to show them.

A picture is named after the digest of its diagram, so a changed diagram has no picture until
`python3 dev.py manual --diagrams` has drawn it with the Mermaid library, in Chromium.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools.state import ROOT

FOLDER = Path("docs/pictures/diagrams")
MERMAID = ROOT / "tools/manual/node_modules/mermaid/dist/mermaid.min.js"
_DIAGRAM = re.compile(r"^```mermaid\n(?P<source>.*?)^```$", re.MULTILINE | re.DOTALL)
_DRAW = """async source => {
    mermaid.initialize({startOnLoad: false, theme: 'neutral', flowchart: {htmlLabels: false}});
    const { svg } = await mermaid.render('diagram', source);
    return svg.replace('max-width:', 'background-color: white; max-width:');
}"""


class MissingDiagramError(ValueError):
    """A diagram has no picture, because it was added or changed."""


class DrawingError(RuntimeError):
    """Mermaid cannot be installed, or cannot draw a diagram."""


def file_name(source: str) -> str:
    """Return the name of the picture of a diagram."""
    return f"{hashlib.sha256(source.encode()).hexdigest()[:12]}.svg"


def replaced(text: str, pictures: str, root: Path = ROOT) -> str:
    """Return the Markdown text with pictures in place of its diagrams; `pictures` is their folder's path.

    Raises:
        MissingDiagramError: a diagram has no picture.

    """

    def picture(match: re.Match[str]) -> str:
        name = file_name(match["source"])
        if not (root / FOLDER / name).exists():
            raise MissingDiagramError("A diagram was changed. Draw it: python3 dev.py manual --diagrams")
        return f'<img src="{pictures}/{name}" alt="Diagram; its text is in the source of this page">'

    return _DIAGRAM.sub(picture, text)


def sources(root: Path = ROOT) -> Iterator[str]:
    """Yield the diagrams of the documentation."""
    for page in sorted((root / "docs").rglob("*.md")):
        for match in _DIAGRAM.finditer(page.read_text(encoding="utf-8")):
            yield match["source"]


def draw() -> list[Path]:
    """Draw the diagrams that have no picture, and delete pictures without a diagram; return what was drawn.

    Raises:
        DrawingError: Mermaid cannot be installed, or cannot draw a diagram.

    """
    wanted = {file_name(source): source for source in sources()}
    for picture in (ROOT / FOLDER).glob("*.svg"):
        if picture.name not in wanted:
            picture.unlink()
    missing = {name: source for name, source in wanted.items() if not (ROOT / FOLDER / name).exists()}
    if missing:
        _install_mermaid()
        _draw(missing)
    return [ROOT / FOLDER / name for name in missing]


def _install_mermaid() -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise DrawingError("Drawing needs Node 20 or newer, with npm.")
    command = [npm, "ci", "--prefix", str(MERMAID.parents[3]), "--ignore-scripts", "--no-audit", "--no-fund"]
    if subprocess.run(command, check=False).returncode:  # noqa: S603 - a fixed command
        raise DrawingError("Mermaid was not installed; see the messages of npm above.")


def _draw(missing: dict[str, str]) -> None:
    from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415 - only for drawing

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.add_script_tag(path=MERMAID)
        for name, source in missing.items():
            try:
                svg = page.evaluate(_DRAW, source)
            except Error as error:
                raise DrawingError(f"Mermaid cannot draw this diagram: {error.message}\n{source}") from None
            (ROOT / FOLDER / name).write_text(f"{svg}\n", encoding="utf-8")
