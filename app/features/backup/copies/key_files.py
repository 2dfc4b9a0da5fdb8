"""Key files of backups: an age identity, which may be protected by a passphrase."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyrage
from pyrage import passphrase, x25519

from app.features.backup.copies.archive import BackupError, create_private

_AGE_HEADER = b"age-encryption.org/"


def create(file: Path, secret: str | None) -> str:
    """Write a new key to a file that only its owner can read, encrypted if there is a passphrase.

    Return the public key, for which backups are encrypted.
    """
    identity = x25519.Identity.generate()
    public = str(identity.to_public())
    content = f"# public key: {public}\n{identity}\n".encode()
    if secret is not None:
        content = passphrase.encrypt(content, secret)
    try:
        output = create_private(file)
    except FileExistsError:
        message = f"{file} exists. Name another file: earlier backups can be read only with their key."
        raise BackupError(message) from None
    except OSError as error:
        raise BackupError(f"{file} cannot be written: {error.strerror}.") from None
    try:
        with output:
            output.write(content)
            output.flush()
            os.fsync(output.fileno())
    except OSError as error:
        file.unlink()
        raise BackupError(f"{file} cannot be written: {error.strerror}.") from None
    return public


def load(file: Path, ask: Callable[[], str]) -> list[x25519.Identity]:
    """Return the keys in a file; call `ask` for the passphrase if it is protected by one."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BackupError(f"The key file {file} cannot be read: {error.strerror}.") from None
    if content.startswith(_AGE_HEADER):
        try:
            content = passphrase.decrypt(content, ask())
        except pyrage.DecryptError:
            raise BackupError(f"The passphrase is not that of the key file {file}.") from None
    lines = [line.strip() for line in content.decode(errors="replace").splitlines()]
    try:
        keys = [x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except pyrage.IdentityError:
        keys = []
    if not keys:
        message = f"{file} is not a key file. Name the file that `flask backup key` or `age-keygen` wrote."
        raise BackupError(message)
    return keys
