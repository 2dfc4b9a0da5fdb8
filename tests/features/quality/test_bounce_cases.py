"""Answers of mail servers and events of mail programs from public tests and bug reports."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from app.engine.contacts.bounce_reports import FeedbackKind
from app.features.quality import bounce_lists

pytestmark = pytest.mark.any_database

CASES = Path(__file__).parent / "cases"


def answers() -> Iterator[Any]:
    expected, source = "", ""
    for line in (CASES / "answers.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            expected, _colon, source = line.removeprefix("## ").partition(": ")
        elif line and not line.startswith("# "):
            yield pytest.param(line, expected == "bounce", id=f"{source}: {line}"[:120])


def events() -> Iterator[Any]:
    for line in (CASES / "events.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        yield pytest.param(case["events"], case["reported"], id=case["case"])


def exports() -> Iterator[Any]:
    text = (CASES / "exports.txt").read_text(encoding="utf-8")
    for section in text.split("## ")[1:]:
        title, _break, body = section.rstrip("\n").partition("\n")
        lines = body.split("\n")
        expected = [line.removeprefix("> ") for line in lines if line.startswith("> ")]
        content = "\n".join(line for line in lines if not line.startswith("> "))
        yield pytest.param(content, expected, id=title)


def reported(content: bytes) -> list[tuple[str, FeedbackKind]]:
    found = bounce_lists.read(BytesIO(content))
    assert found.lines or found.left_out
    return [(line.value, line.kind) for line in found.lines.values()]


@pytest.mark.parametrize(("answer", "is_bounce"), list(answers()))
def test_an_answer_of_a_server_is_reported_if_the_address_is_undeliverable(
    answer: str, *, is_bounce: bool
) -> None:
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerows([["email", "event", "reason"], ["ada@acme.com", "", answer]])
    writer.writerow(["bob@acme.com", "bounce", answer])

    expected = ["ada@acme.com", "bob@acme.com"] if is_bounce else []
    assert reported(table.getvalue().encode()) == [(value, FeedbackKind.BOUNCE) for value in expected]


@pytest.mark.parametrize(("event", "is_reported"), list(events()))
def test_an_event_of_a_mail_program_is_reported_if_it_is_a_hard_bounce(
    event: object, *, is_reported: bool
) -> None:
    expected = [("ada@acme.com", FeedbackKind.BOUNCE)] if is_reported else []

    assert reported(json.dumps(event).encode()) == expected


@pytest.mark.parametrize(("content", "expected"), list(exports()))
def test_an_export_reports_its_undeliverable_addresses_alone(content: str, expected: list[str]) -> None:
    found = reported(content.encode())

    assert [f"{value} {kind.value}" for value, kind in found] == expected
