"""The journal of the suppression list: a file beside the database that a restored backup does not undo.

Every addition is on the disk before its transaction commits, every removal after it: a transaction that fails
in between leaves a person suppressed, never the reverse. The file contains keyed digests only. `flask
suppressions export` writes the same format.
"""

from __future__ import annotations

import heapq
import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from sqlalchemy import event
from sqlalchemy.orm import Session

from app.domain.errors import InvalidValue, JournalUnwritable
from app.infra import append_log, clock
from app.infra.clock import rfc3339

INFO = "suppression_journal"
"""The key of the journal's path in `Session.info`; without one, nothing is recorded."""
ADD, REMOVE = "add", "remove"
_ADDED, _REMOVED = "suppressions_added", "suppressions_removed"


@dataclass(frozen=True, slots=True)
class JournalLine:
    """Digests of one kind that were added to a list, or removed from it.

    `key` is the fingerprint of the SUPPRESSION_KEY that the digests were made with.
    """

    action: str
    key: str
    at: datetime
    list_name: str
    reason: str
    kind: str
    digests: Sequence[bytes]

    def to_json(self) -> str:
        """Return the line as it is written."""
        fields: dict[str, Any] = {
            "action": self.action,
            "key": self.key,
            "at": rfc3339(self.at),
            "list": self.list_name,
            "reason": self.reason,
            "kind": self.kind,
            "digests": [b64encode(digest).decode() for digest in self.digests],
        }
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the line in its written form.

        Raises:
            InvalidValue: the text is not a line of a journal.

        """
        try:
            fields = json.loads(text)
            return cls(
                action=fields["action"],
                key=fields["key"],
                at=datetime.fromisoformat(fields["at"]),
                list_name=fields["list"],
                reason=fields["reason"],
                kind=fields["kind"],
                digests=[b64decode(digest, validate=True) for digest in fields["digests"]],
            )
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidValue("This is not a line of a suppression journal.") from error


def session_info(path: str) -> dict[str, Any]:
    """Return what the sessions of a database carry so that they record in the journal at this path."""
    return {INFO: Path(path)} if path else {}


def record(session: Session, lines: Iterable[JournalLine]) -> None:
    """Write the lines to the journal of the session's database when the transaction commits.

    Raises:
        JournalUnwritable: at the commit, if the file cannot be written; then nothing is added.

    """
    if session.info.get(INFO) is None:
        return
    for line in lines:
        if line.action == ADD:
            _pending(session, _ADDED, "before_commit").append(line)
        else:
            _pending(session, _REMOVED, "after_commit").append(line)


def read(paths: Iterable[Path], *, unreadable: list[str]) -> Iterator[JournalLine]:
    """Yield the lines of the journals in the order of their time.

    The place of a line that cannot be read is added to `unreadable`: a process was killed while it wrote the
    line, before its transaction committed, or the file was changed.

    Raises:
        OSError: a file cannot be read.

    """
    return heapq.merge(*(_lines(path, unreadable) for path in paths), key=attrgetter("at"))


def _lines(path: Path, unreadable: list[str]) -> Iterator[JournalLine]:
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                yield JournalLine.parse(text)
            except InvalidValue:
                unreadable.append(f"{path.name}:{number}")


def _pending(session: Session, name: str, moment: str) -> list[JournalLine]:
    """Return the lines that this transaction will write at a moment of its commit."""
    pending: list[JournalLine] | None = session.info.get(name)
    if pending is None:
        pending = session.info[name] = []
        event.listen(session, moment, lambda committing: _write(committing, name))
        event.listen(session, "after_rollback", lambda _session: pending.clear())
    return pending


def _write(session: Session, name: str) -> None:
    pending: list[JournalLine] = session.info[name]
    if not pending:
        return
    try:
        append_log.append(session.info[INFO], [line.to_json() for line in pending])
    except OSError as error:
        raise JournalUnwritable from error
    finally:
        pending.clear()


def time_of(moment: object) -> datetime:
    """Return the time that a line gets: that of the entry, or now if the database takes it."""
    return moment if isinstance(moment, datetime) else clock.now()
