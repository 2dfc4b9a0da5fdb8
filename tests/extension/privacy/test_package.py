"""The package for the Chrome Web Store: small, reproducible, few permissions, no remote code."""

from __future__ import annotations

import graphlib
import json
import posixpath
import re
import struct
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from chromium_support import EXTENSION, LOOPBACK, copy_extension
from proxy_support import CHROMIUM_HOSTS

from tools import extension as packing

MAX_BYTES = 205_000
MAX_LINES = 7_050
VENDORED = {"vendor/ristretto255_oprf.js": "3c84b92664d87668612d379fecd3f871024a42e66d5894ef1172b7d7e0f847c9"}
"""The SHA-256 of files that others wrote; each has its source and license at its start."""
UNSHIPPED = ("README.md", "store/")
STYLES = ("tokens.css", "parts.css", "panel.css")
PERMISSIONS = ["activeTab", "alarms", "identity", "scripting", "sidePanel", "storage"]
FORBIDDEN = {
    "code from text": r"\beval\(|\bnew Function\b|\bimport\(|set(?:Timeout|Interval)\(\s*[\"'`]",
    "HTML from text": r"(?:inner|outer|insertAdjacent)HTML|document\.write|ContextualFragment|DOMParser",
    "a remote script": r"importScripts|createElement\(\s*[\"']script",
    "tracking of the user": r"chrome\.(?:cookies|history|webNavigation|tabs\.on)",
    "the user's Google account": r"chrome\.identity\.(?!launchWebAuthFlow|getRedirectURL)",
    "storage that web pages use": r"sendBeacon|localStorage|document\.cookie",
}
ALLOWED_URLS = {"https://", "http://", "https://www.linkedin.com/", "http://www.w3.org/2000/svg"}
IMPORT = re.compile(r'\b(?:from |import |import\()"(\.[^"]+)"')  # of code, and of types in JSDoc


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


def test_the_package_contains_the_extension_and_nothing_else(files: dict[str, bytes]) -> None:
    here = {path.relative_to(EXTENSION).as_posix(): path for path in EXTENSION.rglob("*") if path.is_file()}
    shipped = {name: path.read_bytes() for name, path in here.items() if not name.startswith(UNSHIPPED)}

    assert files == shipped
    assert {Path(name).suffix for name in files} == {".js", ".json", ".html", ".css", ".png"}


def test_the_package_is_reproducible_and_small(
    package: Path, files: dict[str, bytes], tmp_path: Path
) -> None:
    packing.pack(tmp_path / "again.zip")

    scripts = {name: len(text.splitlines()) for name, text in files.items() if name.endswith(".js")}
    for name in VENDORED:
        del scripts[name]
    lines = sum(len(text.splitlines()) for name, text in files.items() if not name.endswith(".png"))
    print(  # noqa: T201 -- figures for the docs, shown with -s
        f"\nthe zip: {package.stat().st_size:,} bytes, {len(files)} files; "
        f"{lines:,} lines, of which {sum(scripts.values()):,} are JavaScript in {len(scripts)} modules"
    )
    assert (tmp_path / "again.zip").read_bytes() == package.read_bytes()
    assert package.stat().st_size < MAX_BYTES
    assert sum(scripts.values()) < MAX_LINES


def test_files_of_others_are_those_that_were_reviewed(files: dict[str, bytes]) -> None:
    found = {name: sha256(text).hexdigest() for name, text in files.items() if name.startswith("vendor/")}

    assert found == VENDORED
    assert all(b"The MIT License" in files[name] for name in VENDORED)


def test_the_manifest_is_complete(manifest: dict[str, Any], files: dict[str, bytes]) -> None:
    sizes = {int(size): struct.unpack(">II", files[name][16:24]) for size, name in manifest["icons"].items()}
    named = {
        manifest["action"]["default_popup"],
        manifest["side_panel"]["default_path"].partition("?")[0],
        manifest["background"]["service_worker"],
        f"_locales/{manifest['default_locale']}/messages.json",
        manifest["storage"]["managed_schema"],
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


def test_the_manifest_requests_few_permissions(manifest: dict[str, Any], tmp_path: Path) -> None:
    policy = dict(
        part.strip().split(" ", 1)
        for part in manifest["content_security_policy"]["extension_pages"].split(";")
    )

    tested = json.loads((copy_extension(tmp_path) / "manifest.json").read_text())

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


def test_no_code_is_loaded_from_outside_and_no_html_is_created_from_text(files: dict[str, bytes]) -> None:
    scripts = {name: text.decode() for name, text in files.items() if name.endswith(".js")}
    bare = {
        name: re.sub(r"(?<![:\"'`])//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
        for name, text in scripts.items()
    }
    addresses = {
        address for text in bare.values() for address in re.findall(r"https?://[^\s\"'`$)<]*", text)
    } - ALLOWED_URLS
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
    assert re.findall(r"(?:src|href)=\"([^\"]*)\"", page) == [*STYLES, "panel.js"]
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", page)
    assert not any(re.search(rb"@import|url\(|https?:", files[name]) for name in STYLES)


def test_no_file_names_a_service_of_chromium(files: dict[str, bytes]) -> None:
    assert [name for name, content in files.items() if CHROMIUM_HOSTS.search(content.decode("latin-1"))] == []


def test_the_modules_import_each_other_without_a_circle(files: dict[str, bytes]) -> None:
    imports = {
        name: {posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) for path in paths}
        for name, paths in (
            (name, IMPORT.findall(text.decode())) for name, text in files.items() if name.endswith(".js")
        )
    }

    assert len(imports["panel.js"]) > 10
    assert set().union(*imports.values()) <= set(imports)
    graphlib.TopologicalSorter(imports).prepare()  # raises CycleError
