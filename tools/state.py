"""The data directory `.data`: the embedded database, secrets, logs and locks that stay between starts."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PRESERVED = {"logs"}  # by `--fresh`
DEMO_EMAIL = "demo@contact-lookup.example"


def default_directory() -> Path:
    """Return DEV_DATA_DIR if it is set, as tests do, otherwise `.data` in the project."""
    return Path(os.environ.get("DEV_DATA_DIR") or ROOT / ".data").resolve()


@dataclass(frozen=True, slots=True)
class State:
    """A data directory and the files in it, which only the owner can read."""

    directory: Path

    @classmethod
    def open(cls, directory: Path | None = None) -> State:
        """Return the state in this directory, which is created if it does not exist.

        Raises:
            SystemExit: it cannot be created or written; the message says why.

        """
        state = cls(directory or default_directory())
        try:
            state.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
            state.directory.chmod(0o700)
            with TemporaryFile(dir=state.directory), TemporaryFile(dir=state.logs):
                pass
        except OSError as error:
            raise SystemExit(
                f"The data directory {state.directory} cannot be written: {error.strerror}."
                " Name another one in DEV_DATA_DIR."
            ) from None
        return state

    @property
    def logs(self) -> Path:
        """The directory in which each process writes `<name>.log`."""
        return self.directory / "logs"

    @property
    def database(self) -> Path:
        """The file of the embedded database."""
        return self.directory / "app.sqlite3"

    def path(self, name: str) -> Path:
        """Return the path of any other file."""
        return self.directory / name

    def read(self, name: str) -> dict[str, Any]:
        """Return the JSON object in this file, or an empty one."""
        try:
            content = json.loads(self.path(name).read_text())
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Replace this file with a JSON object atomically, readable by the owner only."""
        draft = self.path(f"{name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(content, file, indent=2)
        draft.replace(self.path(name))

    def secrets(self) -> dict[str, str]:
        """Return the secrets of this installation; missing ones are generated and stored."""
        stored = self.read("secrets.json")
        generated = {
            "SECRET_KEY": _new_key(),
            "SUPPRESSION_KEY": _new_key(),
            "REDIS_PASSWORD": secrets.token_urlsafe(24),
            "FLOWER_BASIC_AUTH": f"admin:{secrets.token_urlsafe(12)}",
            "DEMO_PASSWORD": secrets.token_urlsafe(12),
        }
        if generated.keys() - stored.keys():
            stored = generated | stored
            self.write("secrets.json", stored)
        return {name: str(value) for name, value in stored.items()}

    def forget_seeding(self, database_url: str) -> None:
        """Delete the record of what was seeded into this database, which no longer exists."""
        seeded = self.read("seeded.json")
        if seeded.pop(fingerprint(database_url), None) is not None:
            self.write("seeded.json", seeded)

    def delete_database(self) -> None:
        """Delete the embedded database, with its write-ahead log."""
        for suffix in ("", "-wal", "-shm"):
            self.path(self.database.name + suffix).unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete everything but the logs and the lock files."""
        for entry in self.directory.iterdir():
            if entry.name in PRESERVED or entry.suffix == ".lock":
                continue
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


class Lock:
    """A lock file that the operating system releases when its last holder exits, even by SIGKILL."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def acquire(self) -> bool:
        """Acquire the lock without waiting; return whether that succeeded."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Close the file; the lock stays held while a reaper that inherited the descriptor runs."""
        os.close(self.descriptor)


def fingerprint(text: str) -> str:
    """Return a short digest that stands for a text which must not be stored itself."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _new_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
