from __future__ import annotations

import pytest

from app.features.call_registers import editions
from app.features.call_registers.register_files import MAX_NAMED, Report
from app.infra.crypto.digest_keys import DigestKeys


def test_only_the_first_lines_that_cannot_be_read_are_named() -> None:
    report = Report()

    for line in range(MAX_NAMED + 5):
        report.reject("tps.csv", line)

    assert (report.rejected, len(report.rejected_lines)) == (MAX_NAMED + 5, MAX_NAMED)


def test_the_progress_is_told_while_numbers_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editions, "TICK_EVERY", 2)
    told: list[int] = []

    with editions.Spill(DigestKeys(b"a key", b"a suppression key")) as spill:
        spill.add([b"+442071838750", b"+442071838751", b"+442071838752"], lambda: told.append(1))

    assert (spill.count, told) == (3, [1])
