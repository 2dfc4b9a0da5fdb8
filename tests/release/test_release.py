"""`dev.py release`: what it refuses, and that its signatures are those that OpenSSL checks."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from app.domain.version import VERSION
from tools.release import __main__ as release
from tools.release import changelog, signing

UNSUMMED = {signing.SUMS, signing.PUBLIC_KEY, *(f"{name}.sig" for name in signing.SIGNED)}
CHANGELOG = f"# Changelog\n\n## Unreleased\n\n## {VERSION} - 2026-01-01\n\n### Added\n\n- A thing.\n"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A file with a new signing key."""
    file = tmp_path / "key.pem"
    file.write_bytes(
        Ed25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return file


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    """A changelog with a section of this version."""
    notes = changelog.notes
    monkeypatch.setattr(changelog, "notes", lambda _, version: notes(CHANGELOG, version))


@pytest.mark.release
@pytest.mark.usefixtures("published")
def test_a_release_has_its_parts_with_checksums_and_signatures(tmp_path: Path, key: Path) -> None:
    folder = tmp_path / "release"

    assert release.main(["--key", str(key), "--out", str(folder)]) == 0

    wheel = folder / f"contact_lookup-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert {"app/manual/index.html", "app/factory.py"} <= set(archive.namelist())
    with tarfile.open(folder / f"contact_lookup-{VERSION}.tar.gz") as archive:
        assert f"contact_lookup-{VERSION}/dev.py" in archive.getnames()
    notes = (folder / "release-notes.md").read_text()
    assert notes.startswith("### Added\n\n- A thing.\n\n### How often the server guesses")
    assert re.search(
        r"^\| a prefix of 2 digits for every website \| 12\.8 \| 23\.7 \| 38\.9 \|$", notes, re.MULTILINE
    )
    components = json.loads((folder / release.SBOM).read_text())["components"]
    assert {"flask", "celery"} <= {component["name"] for component in components}
    sums = [line.split() for line in (folder / signing.SUMS).read_text().splitlines()]
    assert {name for _, name in sums} == {path.name for path in folder.iterdir()} - UNSUMMED
    for digest, name in sums:
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_a_signature_is_valid_until_a_byte_changes(tmp_path: Path, key: Path) -> None:
    for name in signing.SIGNED:
        (tmp_path / name).write_bytes(b"content")

    signing.sign(tmp_path, signing.read_key(key))

    public = serialization.load_pem_public_key((tmp_path / signing.PUBLIC_KEY).read_bytes())
    assert isinstance(public, Ed25519PublicKey)
    for name in signing.SIGNED:
        signature = (tmp_path / f"{name}.sig").read_bytes()
        public.verify(signature, b"content")
        with pytest.raises(InvalidSignature):
            public.verify(signature, b"contenT")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_accepts_the_signature_with_the_documented_command(tmp_path: Path, key: Path) -> None:
    for name in signing.SIGNED:
        (tmp_path / name).write_bytes(b"content")
    signing.sign(tmp_path, signing.read_key(key))
    command = (
        "openssl pkeyutl -verify -pubin -inkey release.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig"
    )

    done = subprocess.run(command.split(), cwd=tmp_path, check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert command in (signing.__doc__ or "")


@pytest.mark.parametrize(
    "content", [None, b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "key.pem"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(signing.SigningKeyError, match=str(file)):
        signing.read_key(file)


@pytest.mark.parametrize(
    "text", ["# Changelog\n", f"## {VERSION}\n\n## 0.0.1\n\n- Old.\n", "## Unreleased\n\n- New.\n"]
)
def test_a_version_without_entries_is_refused(text: str) -> None:
    with pytest.raises(changelog.ChangelogError, match=VERSION):
        changelog.notes(text, VERSION)
