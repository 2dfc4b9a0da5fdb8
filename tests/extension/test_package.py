"""What the Chrome Web Store is given: small, the same each time, asking for little, nothing from outside."""

from __future__ import annotations

import json
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from chromium_support import EXTENSION, LOOPBACK, unpacked

from tools import extension as packing

MOST_BYTES = 60_000
MOST_LINES = 2_500
NOT_SHIPPED = ("README.md", "store/")
PERMISSIONS = ["activeTab", "alarms", "scripting", "sidePanel", "storage"]
FORBIDDEN = {
    "code made of a text": r"\beval\(|\bnew Function\b|\bimport\(|set(?:Timeout|Interval)\(\s*[\"'`]",
    "HTML made of a text": r"(?:inner|outer|insertAdjacent)HTML|document\.write|ContextualFragment|DOMParser",
    "a script from elsewhere": r"importScripts|createElement\(\s*[\"']script",
    "what follows a person": r"chrome\.(?:cookies|history|identity|webNavigation|tabs\.on)",
    "what stays outside the store": r"sendBeacon|localStorage|document\.cookie",
}
ADDRESSES = {"https://", "http://", "https://www.linkedin.com/", "http://www.w3.org/2000/svg"}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("store") / "extension.zip"
    packing.pack(target)
    return target


@pytest.fixture(scope="module")
def files(package: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(package) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def manifest(files: dict[str, bytes]) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(files["manifest.json"])
    return read


def test_it_holds_the_extension_and_nothing_else(files: dict[str, bytes]) -> None:
    here = {path.relative_to(EXTENSION).as_posix(): path for path in EXTENSION.rglob("*") if path.is_file()}
    shipped = {name: path.read_bytes() for name, path in here.items() if not name.startswith(NOT_SHIPPED)}

    assert files == shipped
    assert {Path(name).suffix for name in files} == {".js", ".json", ".html", ".css", ".png"}


def test_it_is_the_same_each_time_and_small(package: Path, files: dict[str, bytes], tmp_path: Path) -> None:
    packing.pack(tmp_path / "again.zip")

    scripts = {name: len(text.splitlines()) for name, text in files.items() if name.endswith(".js")}
    lines = sum(len(text.splitlines()) for name, text in files.items() if not name.endswith(".png"))
    print(  # noqa: T201 -- figures to quote, with `-s`
        f"\nthe zip: {package.stat().st_size:,} bytes, {len(files)} files; "
        f"{lines:,} lines, of which {sum(scripts.values()):,} are JavaScript in {len(scripts)} modules"
    )
    assert (tmp_path / "again.zip").read_bytes() == package.read_bytes()
    assert package.stat().st_size < MOST_BYTES
    assert sum(scripts.values()) < MOST_LINES


def test_the_manifest_is_whole(manifest: dict[str, Any], files: dict[str, bytes]) -> None:
    sizes = {int(size): struct.unpack(">II", files[name][16:24]) for size, name in manifest["icons"].items()}
    named = {
        manifest["action"]["default_popup"],
        manifest["side_panel"]["default_path"].partition("?")[0],
        manifest["background"]["service_worker"],
        f"_locales/{manifest['default_locale']}/messages.json",
    }

    assert manifest["manifest_version"] == 3
    assert re.fullmatch(r"\d+(\.\d+){1,3}", manifest["version"])
    assert sizes == {size: (size, size) for size in (16, 32, 48, 128)}
    assert named <= set(files)
    assert not {
        "key",
        "update_url",
        "content_scripts",
        "web_accessible_resources",
        "externally_connectable",
    } & set(manifest)


def test_it_may_do_little(manifest: dict[str, Any], tmp_path: Path) -> None:
    policy = dict(
        part.strip().split(" ", 1)
        for part in manifest["content_security_policy"]["extension_pages"].split(";")
    )

    tested = json.loads((unpacked(tmp_path) / "manifest.json").read_text())

    assert manifest["permissions"] == PERMISSIONS
    assert "host_permissions" not in manifest
    assert manifest["optional_host_permissions"] == [
        "https://*/*",
        "http://127.0.0.1/*",
        "http://localhost/*",
    ]
    assert (policy["default-src"], policy["script-src"], policy["style-src"]) == (
        "'none'",
        "'self'",
        "'self'",
    )
    assert not re.search(
        r"unsafe|\*(?!\Z|[ ;])|data:|blob:",
        " ".join(policy[name] for name in policy if name != "connect-src"),
    )
    assert tested == manifest | {"host_permissions": [LOOPBACK]}


def test_no_code_comes_from_elsewhere_and_no_html_from_a_text(files: dict[str, bytes]) -> None:
    scripts = {name: text.decode() for name, text in files.items() if name.endswith(".js")}
    bare = {
        name: re.sub(r"(?<![:\"'`])//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
        for name, text in scripts.items()
    }
    addresses = {
        address for text in bare.values() for address in re.findall(r"https?://[^\s\"'`$)<]*", text)
    } - ADDRESSES
    page = files["panel.html"].decode()

    found = [
        (name, what, pattern)
        for name, text in bare.items()
        for what, pattern in FORBIDDEN.items()
        if re.search(pattern, text)
    ]
    imports = [target for text in bare.values() for target in re.findall(r'\bfrom "([^"]+)"', text)]

    assert not found
    assert not addresses
    assert len(imports) > 30
    assert all(target.startswith(("./", "../")) for target in imports)
    assert re.findall(r"(?:src|href)=\"([^\"]*)\"", page) == ["panel.css", "panel.js"]
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", page)
    assert not re.search(rb"@import|url\(|https?:", files["panel.css"])
