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

from app.domain.errors import InvalidValue, JournalUnwritable
from app.infra import append_log, clock
from app.infra.clock import rfc3339
from app.infra.database.session import Session

ADD, REMOVE = "add", "remove"


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


def record(session: Session, lines: Iterable[JournalLine]) -> None:
    """Write the lines to the journal of the session's database when the transaction commits.

    If the journal cannot be written, the commit raises `JournalUnwritable`, and nothing is added.
    """
    if session.settings.suppression_journal is None:
        return
    pending = session.journal_lines
    for line in lines:
        (pending.before_commit if line.action == ADD else pending.after_commit).append(line.to_json())


def read(paths: Iterable[Path], *, unreadable: list[str]) -> Iterator[JournalLine]:
    """Yield the lines of the journals in the order of their time.

    The place of a line that cannot be read is added to `unreadable`: a process was killed while it wrote the
    line, before its transaction committed, or the file was changed.
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


@event.listens_for(Session, "before_commit")
def _write_added(session: Session) -> None:
    _write(session, session.journal_lines.before_commit)


@event.listens_for(Session, "after_commit")
def _write_removed(session: Session) -> None:
    _write(session, session.journal_lines.after_commit)


@event.listens_for(Session, "after_rollback")
def _forget(session: Session) -> None:
    session.journal_lines.before_commit.clear()
    session.journal_lines.after_commit.clear()


def _write(session: Session, lines: list[str]) -> None:
    journal = session.settings.suppression_journal
    if journal is None or not lines:
        return
    try:
        append_log.append(journal, lines)
    except OSError as error:
        raise JournalUnwritable from error
    finally:
        lines.clear()


def time_of(moment: object) -> datetime:
    """Return the time that a line gets: the time of the entry, or now if the database takes it."""
    return moment if isinstance(moment, datetime) else clock.now()
