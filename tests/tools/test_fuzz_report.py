from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from fuzz.report import UNKNOWN_METHODS, Criterion, RequestStats, curl, print_report

REVEAL = "POST /reveal"


def packed(content: bytes) -> dict[str, str]:
    return {"$base64": base64.b64encode(content).decode()}


def exchange(method: str, status: int | None, **failed: str) -> dict[str, Any]:
    """Write what Schemathesis records of one request; `failed` names a check and says why."""
    request = {"method": method, "uri": "http://x/reveal", "headers": {}, "body": packed(b"it's")}
    answer = None if status is None else {"status_code": status, "content": packed(b"said")}
    checks = [{"name": "always", "status": "success"}]
    checks += [
        {"name": name, "status": "failure", "failure_info": {"failure": {"title": why}}}
        for name, why in failed.items()
    ]
    return {
        "cases": {"1": {"value": {"method": method, "path": "/reveal"}}},
        "checks": {"1": checks},
        "interactions": {"1": {"request": request, "response": answer}},
    }


def counted(folder: Path, *recorders: dict[str, Any]) -> RequestStats:
    events = folder / "events.ndjson"
    lines = [{"ScenarioFinished": {"phase": "fuzzing", "recorder": recorder}} for recorder in recorders]
    events.write_text("\n".join(json.dumps(line) for line in [{"EngineStarted": {}}, *lines]))
    tally = RequestStats(frozenset({REVEAL}))
    tally.add(events)
    return tally


def test_requests_answers_and_checks_are_counted(tmp_path: Path) -> None:
    tally = counted(tmp_path, exchange("POST", 200), exchange("POST", 422), exchange("BREW", 405))

    assert tally.requests == {(REVEAL, "fuzzing"): 2, (UNKNOWN_METHODS, "fuzzing"): 1}
    assert tally.answers == {(REVEAL, 200): 1, (REVEAL, 422): 1, (UNKNOWN_METHODS, 405): 1}
    assert (tally.total, tally.checks["always"], tally.failures) == (3, 3, {})


def test_a_failure_is_told_once_with_the_request_that_shows_it(tmp_path: Path) -> None:
    broken = exchange("POST", 500, not_a_server_error="Server error")

    tally = counted(tmp_path, broken, broken)

    ((where, text),) = tally.failures.items()
    assert where == (REVEAL, "not_a_server_error")
    assert text.startswith("Server error")
    assert "500 said" in text
    assert "curl -i -X POST" in text


def test_a_request_without_an_answer_is_counted_apart(tmp_path: Path) -> None:
    tally = counted(tmp_path, exchange("POST", None))

    assert (tally.unanswered, tally.total) == (1, 0)


def test_an_error_of_the_run_is_kept(tmp_path: Path) -> None:
    events = tmp_path / "events.ndjson"
    events.write_text(json.dumps({"NonFatalError": {"info": "it cannot sign in"}}))
    tally = RequestStats(frozenset())

    tally.add(events)

    assert tally.errors == ["it cannot sign in"]


def test_a_request_is_written_so_that_a_shell_sends_the_same() -> None:
    request = {
        "method": "POST",
        "uri": "http://x/?a=1&b",
        "headers": {"X-A": ["it's"], "User-Agent": ["x"]},
        "body": packed(b'{"a": "\'"}'),
    }

    words = curl(request)

    assert words == """curl -i -X POST -H 'X-A: it'"'"'s' --data-binary '{"a": "'"'"'"}' 'http://x/?a=1&b'"""


def test_the_report_shows_every_operation_and_every_verdict(tmp_path: Path) -> None:
    tally = counted(tmp_path, exchange("POST", 500, not_a_server_error="Server error"))
    written = io.StringIO()

    print_report(tally, [Criterion("answers of 5xx", "1", holds=False)], Console(file=written, width=120))

    assert REVEAL in written.getvalue()
    assert "Server error" in written.getvalue()
    assert "broken" in written.getvalue()
