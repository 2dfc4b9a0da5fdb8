"""The folder from which lists are imported, opened so that no name or link leads out of it.

Every file is opened by its name in the folder's descriptor, without following links, and must be a regular
file with one name. Processed files are moved to `done` or `rejected`, folders in it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

SUFFIXES = (".csv", ".tsv", ".txt")
MAX_NAME = 200
"""The bytes of a name that the processed file keeps: with what is added to it, a name has at most 255."""
DONE: Literal["done"] = "done"
REJECTED: Literal["rejected"] = "rejected"
WORKING: Literal["working"] = "working"
Place = Literal["done", "rejected", "working"]
_BLOCK = 1 << 20
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FileUnusableError(OSError):
    """The file is missing, was changed, or is not a regular file with one name."""


@dataclass(frozen=True, slots=True, order=True)
class FoundFile:
    """A file of the folder: its name, its size in bytes, and its modification in nanoseconds (Unix time)."""

    name: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class ImportFolder:
    """An open folder with the folders for processed files, which have the mode 0700."""

    descriptor: int
    places: dict[Place, int]

    def files(self) -> list[FoundFile]:
        """Return the lists in the folder, by name; hidden files, links and folders are left out."""
        with os.scandir(self.descriptor) as entries:
            described = [self._described(entry) for entry in entries if is_list_name(entry.name)]
        return sorted(file for file in described if file is not None)

    def open(self, expected: FoundFile) -> IO[bytes]:
        """Open a file that is still as expected.

        Raises:
            FileUnusableError: it is missing, was changed, or is not a regular file with one name.

        """
        if not is_list_name(expected.name):
            raise FileUnusableError("The name of the file is not valid.")
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = os.fdopen(os.open(expected.name, flags, dir_fd=self.descriptor), "rb")
        except PermissionError as error:
            message = "The workers may not read the file. Let their user read it, and put it there again."
            raise FileUnusableError(message) from error
        except OSError as error:
            raise FileUnusableError("The file is missing, or is a link.") from error
        if not is_unchanged(file, expected):
            file.close()
            raise FileUnusableError("The file was changed or replaced. Put it into the folder again.")
        return file

    def stage(self, name: str, source: IO[bytes]) -> FoundFile:
        """Copy a file into the folder under a hidden name, until `reveal`."""
        source.seek(0)
        with self._created(self.descriptor, _hidden(name)) as file:
            while block := source.read(_BLOCK):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
            status = os.fstat(file.fileno())
        return FoundFile(name, status.st_size, status.st_mtime_ns)

    def reveal(self, name: str) -> None:
        """Rename a staged file to its final name.

        Raises:
            FileExistsError: the folder has a file of this name.

        """
        hidden = _hidden(name)
        os.link(hidden, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        os.unlink(hidden, dir_fd=self.descriptor)

    def place_of(self, name: str) -> Place | None:
        """Return where a processed file of this name is, or None."""
        for place in (DONE, REJECTED):
            try:
                os.stat(name, dir_fd=self.places[place], follow_symlinks=False)
            except FileNotFoundError:
                continue
            return place
        return None

    def move(self, name: str, place: Place, new_name: str) -> None:
        """Move a file of the folder to `done` or `rejected`; does nothing if it is gone."""
        try:
            os.rename(name, new_name, src_dir_fd=self.descriptor, dst_dir_fd=self.places[place])
        except FileNotFoundError:
            return

    def publish(self, name: str, place: Place, new_name: str) -> None:
        """Move a file that is complete from `working` to another place; does nothing if it is gone."""
        try:
            os.rename(name, new_name, src_dir_fd=self.places[WORKING], dst_dir_fd=self.places[place])
        except FileNotFoundError:
            return

    def continued(self, name: str, length: int) -> IO[bytes]:
        """Open a file in `working` to append after the first `length` bytes; the rest is cut off."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, _FILE_MODE, dir_fd=self.places[WORKING])
        os.ftruncate(descriptor, length)
        file = os.fdopen(descriptor, "r+b")
        file.seek(length)
        return file

    def cut(self, name: str, length: int) -> None:
        """Remove all but the first `length` bytes of a file in `working`; does nothing if it is gone."""
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        with suppress(FileNotFoundError):
            descriptor = os.open(name, flags, dir_fd=self.places[WORKING])
            os.ftruncate(descriptor, length)
            os.close(descriptor)

    def write(self, place: Place, name: str, content: bytes) -> None:
        """Write a small file, such as a report."""
        with self._created(self.places[place], name) as file:
            file.write(content)

    def _described(self, entry: os.DirEntry[str]) -> FoundFile | None:
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        return FoundFile(entry.name, status.st_size, status.st_mtime_ns) if _is_plain(status) else None

    @staticmethod
    def _created(folder: int, name: str) -> IO[bytes]:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.fdopen(os.open(name, flags, _FILE_MODE, dir_fd=folder), "wb")


@contextmanager
def opened(path: str) -> Iterator[ImportFolder]:
    """Open the folder, and create the folders for processed files in it.

    Raises:
        OSError: it is missing, is a link, or cannot be written.

    """
    descriptors = [os.open(Path(path), _OPEN_FOLDER)]
    try:
        places: dict[Place, int] = {}
        for place in (DONE, REJECTED, WORKING):
            with suppress(FileExistsError):
                os.mkdir(place, _FOLDER_MODE, dir_fd=descriptors[0])
            descriptors.append(os.open(place, _OPEN_FOLDER, dir_fd=descriptors[0]))
            places[place] = descriptors[-1]
        yield ImportFolder(descriptors[0], places)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def is_list_name(name: str) -> bool:
    """Return whether a file of this name is imported: not hidden, printable, and with a known ending."""
    is_plain = not name.startswith(".") and "/" not in name and name.isprintable()
    return is_plain and name.lower().endswith(SUFFIXES)


def shortened(name: str) -> str:
    """Return the name of a list with its ending, and the beginning that fits into `MAX_NAME` bytes."""
    stem, dot, ending = name.rpartition(".")
    return stem.encode()[: MAX_NAME - len(dot + ending)].decode(errors="ignore") + dot + ending


def is_unchanged(file: IO[bytes], expected: FoundFile) -> bool:
    """Return whether the open file is a regular file with one name, the expected size and modification."""
    status = os.fstat(file.fileno())
    return _is_plain(status) and (status.st_size, status.st_mtime_ns) == (expected.size, expected.modified)


def _hidden(name: str) -> str:
    return f".{name}.part"


def _is_plain(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1
