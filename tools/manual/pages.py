"""The pages of the manual: the Markdown files of the project, with links that work on the site.

The files keep the links that work in a checkout. On the site, a link to another page points to that page; a
link to any other file of the project keeps only its text.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from pathlib import Path

from tools.manual import diagrams
from tools.state import ROOT

PAGES_OUTSIDE_DOCS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "extension/README.md": "extension.md",
    "extension/store/privacy_policy.md": "extension-privacy-policy.md",
    "clients/python/README.md": "python-client.md",
    "clients/typescript/README.md": "typescript-client.md",
}
"""Files of the project and their names on the site; all files in docs/ keep theirs."""

_LINK_OR_CODE = re.compile(
    r"^```.*?^```$"
    r"|(?P<open>!?\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\()(?P<target>[^)\s]+)\)"
    r'|(?P<picture><img src=")(?P<file>[^"]+)'
    r"|`[^`\n]+`",
    re.MULTILINE | re.DOTALL,
)


def site_paths(root: Path = ROOT) -> dict[str, str]:
    """Return the path on the site of each Markdown file of the manual, by its path in the project."""
    docs = sorted(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))
    return PAGES_OUTSIDE_DOCS | {path: path.removeprefix("docs/") for path in docs}


def write(target: Path, root: Path = ROOT) -> int:
    """Write all pages and the files in docs/ that they show into the directory; return the number of pages.

    Raises:
        diagrams.MissingDiagramError: a diagram has no picture.

    """
    shutil.copytree(root / "docs", target, ignore=shutil.ignore_patterns("*.md"))
    paths = site_paths(root)
    for source, site_path in paths.items():
        page = target / site_path
        page.parent.mkdir(parents=True, exist_ok=True)
        text = (root / source).read_text(encoding="utf-8")
        page.write_text(converted(text, source, paths, root), encoding="utf-8")
    return len(paths)


def converted(text: str, source: str, paths: dict[str, str], root: Path = ROOT) -> str:
    """Return the text of a page as it is on the site: diagrams as pictures, links to pages of the site."""
    text = diagrams.replaced(
        text, posixpath.relpath("pictures/diagrams", posixpath.dirname(paths[source]) or "."), root
    )

    def on_site(match: re.Match[str]) -> str:
        if match["picture"]:
            return f"{match['picture']}{_target(match['file'], source, paths, root)}"
        if match["target"] is None:
            return match[0]  # code
        target = _target(match["target"], source, paths, root)
        return match["text"] if target is None else f"{match['open']}{target})"

    return _LINK_OR_CODE.sub(on_site, text)


def _target(target: str, source: str, paths: dict[str, str], root: Path) -> str | None:
    """Return the target on the site; None for a file of the project that is not on it."""
    path, separator, anchor = target.partition("#")
    if not path or "://" in path or path.startswith("mailto:"):
        return target
    file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    is_copied = file.startswith("docs/") and (root / file).is_file()
    on_site = paths.get(file) or (file.removeprefix("docs/") if is_copied else None)
    if on_site is None:
        return None
    return os.path.relpath(on_site, posixpath.dirname(paths[source]) or ".") + separator + anchor
