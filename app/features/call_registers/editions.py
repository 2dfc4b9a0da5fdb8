"""Writes editions of registers: the digests of all numbers, sorted, in memory of a few megabytes.

The digests are first distributed over 256 temporary files by their first byte, and each file is sorted on its
own. The blocks are written in short transactions; then one transaction makes the register point to them.
"""

from __future__ import annotations

import struct
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any, Self

from sqlalchemy import select

from app.domain.ids import new_id
from app.engine.call_registers import blocks
from app.engine.call_registers.registers import CallRegisterBlock
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.bulk_statements import insert_all
from app.infra.database.db import Database

SHARDS = 256
BUFFER_BYTES = 1 << 16
BLOCKS_PER_TRANSACTION = 4096
"""About 5 MB of a register of 50 million numbers, and one sixty-fourth of its blocks."""
TICK_EVERY = 1 << 16


@dataclass(slots=True)
class Written:
    """An edition: its id, how many different numbers it has, and the area codes that they begin with."""

    edition: str
    numbers: int
    areas: frozenset[bytes]


@dataclass(slots=True)
class Spill:
    """The digests of numbers in temporary files, by their first byte."""

    keys: DigestKeys
    area_digits: int = 0
    areas: set[bytes] = field(default_factory=set)
    count: int = 0
    _stack: ExitStack = field(default_factory=ExitStack)
    _files: list[IO[bytes]] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Open the temporary files."""
        open_one = tempfile.TemporaryFile
        self._files = [self._stack.enter_context(open_one(buffering=BUFFER_BYTES)) for _ in range(SHARDS)]
        return self

    def __exit__(self, *_exception: object) -> None:
        """Close them, which deletes them."""
        self._stack.close()

    def add(self, numbers: Iterable[bytes], tick: Callable[[], object]) -> None:
        """Add numbers in E.164; the areas are noted if `area_digits` says how long their prefixes are."""
        digest = blocks.digester(self.keys)
        writers = [file.write for file in self._files]
        areas, length, count = self.areas, self.area_digits, self.count
        for number in numbers:
            form = digest(number)
            writers[form[0]](form)
            count += 1
            if length:
                areas.add(number[:length])
            if not count % TICK_EVERY:
                tick()
        self.count = count

    def sorted(self) -> Iterator[int]:
        """Yield the digests as numbers, in order, each once."""
        for file in self._files:
            file.seek(0)
            written = file.read()
            yield from sorted(set(struct.unpack(f">{len(written) // blocks.DIGEST_BYTES}Q", written)))


def write(database: Database, spill: Spill, tick: Callable[[], object]) -> Written:
    """Write the blocks of a new edition."""
    edition = new_id("cre")
    numbers = _write_blocks(database, edition, blocks.of_sorted(spill.sorted()), tick)
    return Written(edition, numbers, frozenset(spill.areas))


def write_changed(
    database: Database, former: str, changes: Mapping[bytes, bool], tick: Callable[[], object]
) -> Written:
    """Write a new edition with the numbers of a former one and with changes, by the digest of the number."""
    edition = new_id("cre")
    by_block: defaultdict[int, dict[bytes, bool]] = defaultdict(dict)
    for digest, is_added in changes.items():
        block, rest = blocks.place(digest)
        by_block[block][rest] = is_added
    numbers = _write_blocks(database, edition, _changed(database, former, by_block), tick)
    return Written(edition, numbers, frozenset())


def _changed(
    database: Database, former: str, changes: Mapping[int, Mapping[bytes, bool]]
) -> Iterator[tuple[int, bytes]]:
    """Yield the blocks of an edition after the changes, in order, without empty ones."""
    for start in range(0, blocks.BLOCKS, BLOCKS_PER_TRANSACTION):
        stored = _read(database, former, start)
        for block in range(start, start + BLOCKS_PER_TRANSACTION):
            digests = stored.get(block, b"")
            if block in changes:
                of_block = changes[block]
                added = {rest for rest, is_added in of_block.items() if is_added}
                digests = b"".join(sorted((blocks.rests(digests) - of_block.keys()) | added))
            if digests:
                yield block, digests


def _read(database: Database, edition: str, start: int) -> dict[int, bytes]:
    is_part = CallRegisterBlock.block.between(start, start + BLOCKS_PER_TRANSACTION - 1)
    query: Any = select(CallRegisterBlock.block, CallRegisterBlock.digests)
    with database.reading(no_deadline=True) as session:
        rows = session.execute(query.where(CallRegisterBlock.edition == edition, is_part)).all()
    return dict(map(tuple, rows))


def _write_blocks(
    database: Database, edition: str, made: Iterator[tuple[int, bytes]], tick: Callable[[], object]
) -> int:
    numbers = 0
    while part := list(islice(made, BLOCKS_PER_TRANSACTION)):
        rows = [{"edition": edition, "block": block, "digests": digests} for block, digests in part]
        with database.transaction(no_deadline=True) as session:
            insert_all(session, CallRegisterBlock, rows)
        numbers += sum(len(digests) for _block, digests in part) // blocks.REST_BYTES
        tick()
    return numbers
