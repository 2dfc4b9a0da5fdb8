"""What the embedded services keep between starts: the `.data` directory, its secrets, and who holds it."""

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
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PRESERVED = {"logs"}
DEMO_EMAIL = "demo@contact-lookup.example"


def default_directory() -> Path:
    """Return DEV_DATA_DIR if it is set (tests do), else `.data` in the project."""
    return Path(os.environ.get("DEV_DATA_DIR") or ROOT / ".data").resolve()


@dataclass(frozen=True, slots=True)
class State:
    """The places below one data directory, which only its owner can read."""

    directory: Path

    @classmethod
    def open(cls, directory: Path | None = None) -> State:
        """Make the directory if it is not there yet."""
        state = cls(directory or default_directory())
        state.logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.directory.chmod(0o700)
        return state

    @property
    def logs(self) -> Path:
        """Where each process writes `<name>.log`."""
        return self.directory / "logs"

    @property
    def database(self) -> Path:
        """The file of the embedded database."""
        return self.directory / "app.sqlite3"

    def path(self, name: str) -> Path:
        """Return the place of anything else."""
        return self.directory / name

    def read(self, name: str) -> dict[str, Any]:
        """Return the JSON object kept under that name, or an empty one."""
        try:
            found = json.loads(self.path(name).read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Replace the JSON object kept under that name at one stroke, readable by the owner only."""
        draft = self.path(f"{name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(content, file, indent=2)
        draft.replace(self.path(name))

    def secrets(self) -> dict[str, str]:
        """Return the secrets of this installation; make the ones that are not there yet."""
        kept = self.read("secrets.json")
        made = {
            "SECRET_KEY": _new_key(),
            "SUPPRESSION_KEY": _new_key(),
            "REDIS_PASSWORD": secrets.token_urlsafe(24),
            "FLOWER_BASIC_AUTH": f"admin:{secrets.token_urlsafe(12)}",
            "DEMO_PASSWORD": secrets.token_urlsafe(12),
        }
        if made.keys() - kept.keys():
            kept = made | kept
            self.write("secrets.json", kept)
        return {name: str(value) for name, value in kept.items()}

    def forget_seeding(self, database_url: str) -> None:
        """Forget that the samples are in this database, which is gone."""
        seeded = self.read("seeded.json")
        if seeded.pop(fingerprint(database_url), None) is not None:
            self.write("seeded.json", seeded)

    def clear(self) -> None:
        """Forget everything but the logs."""
        for entry in self.directory.iterdir():
            if entry.name in PRESERVED or entry.suffix == ".lock":
                continue
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


class Lock:
    """A lock file that the system lets go of when its last holder dies, however it dies."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def acquire(self) -> bool:
        """Take it if nobody holds it, without waiting."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Close it; it stays held while a reaper that was given the descriptor lives."""
        os.close(self.descriptor)


def fingerprint(text: str) -> str:
    """Return a short name for something that must not be written down itself."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _new_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
