"""Signatures of a release's files: Ed25519 (RFC 8032), made and checked as OpenSSL does.

openssl genpkey -algorithm ed25519 -out release-key.pem
openssl pkeyutl -verify -pubin -inkey release.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SUMS = "SHA256SUMS"
PUBLIC_KEY = "release.pub"
SIGNED = (SUMS, "contact-lookup-extension.zip")


class SigningKeyError(ValueError):
    """The signing key cannot be used."""


def read_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in this PEM file.

    Raises:
        SigningKeyError: there is no such file, or no Ed25519 key without a password in it.

    """
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise SigningKeyError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise SigningKeyError(
            f"{path} has no Ed25519 key. Make one: openssl genpkey -algorithm ed25519 -out {path}"
        )
    return key


def write_sums(folder: Path) -> None:
    """Write the SHA-256 digests of all files of the folder, as `sha256sum --check` reads them."""
    files = sorted(path for path in folder.iterdir() if path.name != SUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / SUMS).write_text("".join(lines), encoding="ascii")


def sign(folder: Path, key: Ed25519PrivateKey) -> None:
    """Write the public key, and a signature beside each file of `SIGNED`."""
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (folder / PUBLIC_KEY).write_bytes(public)
    for name in SIGNED:
        (folder / f"{name}.sig").write_bytes(key.sign((folder / name).read_bytes()))
