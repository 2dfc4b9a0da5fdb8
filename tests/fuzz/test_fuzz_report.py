from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from fuzz.__main__ import LOG_FAULTS
from fuzz.report import UNDOCUMENTED, Criterion, RequestStats, curl, print_report
from tools.state import ROOT

REVEAL = "POST /reveal"


def encoded(content: bytes) -> dict[str, str]:
    return {"$base64": base64.b64encode(content).decode()}


def exchange(method: str, status: int | None, **failed: str) -> dict[str, Any]:
    """Return what Schemathesis records of a request; `failed` has the reason of each failed check."""
    request = {"method": method, "uri": "http://x/reveal", "headers": {}, "body": encoded(b"it's")}
    response = None if status is None else {"status_code": status, "content": encoded(b"body")}
    checks = [{"name": "always", "status": "success"}]
    checks += [
        {"name": name, "status": "failure", "failure_info": {"failure": {"title": reason}}}
        for name, reason in failed.items()
    ]
    return {
        "cases": {"1": {"value": {"method": method, "path": "/reveal"}}},
        "checks": {"1": checks},
        "interactions": {"1": {"request": request, "response": response}},
    }


def stats_of(folder: Path, *recorders: dict[str, Any]) -> RequestStats:
    events = folder / "events.ndjson"
    lines = [{"ScenarioFinished": {"phase": "fuzzing", "recorder": recorder}} for recorder in recorders]
    events.write_text("\n".join(json.dumps(line) for line in [{"EngineStarted": {}}, *lines]))
    stats = RequestStats(frozenset({REVEAL}))
    stats.add(events)
    return stats


def test_requests_responses_and_checks_are_counted(tmp_path: Path) -> None:
    stats = stats_of(tmp_path, exchange("POST", 200), exchange("POST", 422), exchange("BREW", 405))

    assert stats.requests == {(REVEAL, "fuzzing"): 2, (UNDOCUMENTED, "fuzzing"): 1}
    assert stats.responses == {(REVEAL, 200): 1, (REVEAL, 422): 1, (UNDOCUMENTED, 405): 1}
    assert (stats.total, stats.checks["always"], stats.failures) == (3, 3, {})


def test_a_failure_is_reported_once_with_its_request(tmp_path: Path) -> None:
    broken = exchange("POST", 500, not_a_server_error="Server error")

    stats = stats_of(tmp_path, broken, broken)

    ((key, text),) = stats.failures.items()
    assert key == (REVEAL, "not_a_server_error")
    assert text.startswith("Server error")
    assert "500 body" in text
    assert "curl -i -X POST" in text


def test_a_request_without_a_response_is_counted_separately(tmp_path: Path) -> None:
    stats = stats_of(tmp_path, exchange("POST", None))

    assert (stats.unanswered, stats.total) == (1, 0)


def test_an_error_of_schemathesis_is_reported(tmp_path: Path) -> None:
    events = tmp_path / "events.ndjson"
    events.write_text(json.dumps({"NonFatalError": {"info": "it cannot sign in"}}))
    stats = RequestStats(frozenset())

    stats.add(events)

    assert stats.errors == ["it cannot sign in"]


def test_a_request_is_printed_as_a_shell_command() -> None:
    request = {
        "method": "POST",
        "uri": "http://x/?a=1&b",
        "headers": {"X-A": ["it's"], "User-Agent": ["x"]},
        "body": encoded(b'{"a": "\'"}'),
    }

    command = curl(request)

    assert (
        command == """curl -i -X POST -H 'X-A: it'"'"'s' --data-binary '{"a": "'"'"'"}' 'http://x/?a=1&b'"""
    )


def test_the_report_shows_every_operation_and_every_verdict(tmp_path: Path) -> None:
    stats = stats_of(tmp_path, exchange("POST", 500, not_a_server_error="Server error"))
    output = io.StringIO()

    print_report(stats, [Criterion("responses with 5xx", "1", holds=False)], Console(file=output, width=120))

    assert REVEAL in output.getvalue()
    assert "Server error" in output.getvalue()
    assert "failed" in output.getvalue()


def test_the_faults_searched_for_in_the_logs_are_events_of_the_service() -> None:
    source = "".join(path.read_text() for path in (ROOT / "app").rglob("*.py"))

    events = [fault for fault in LOG_FAULTS if fault not in {"Traceback", "level=critical"}]

    assert [event for event in events if f'"{event}"' not in source] == []
