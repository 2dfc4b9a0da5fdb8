from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tools.check import vulnerabilities

pytestmark = pytest.mark.slow

HASH = "--hash=sha256:" + "0" * 64


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "some.lock"
    path.write_text(f"flask==3.1.0 {HASH}\nclick==8.2.0 {HASH}\n")
    return path


def osv(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, **fixed_in: str) -> None:
    """Start a service that reports a vulnerability in these packages, in releases before the given one."""

    def respond(request: Request) -> Response:
        name = json.loads(request.data)["package"]["name"]
        events = [{"introduced": "0"}, {"fixed": fixed_in.get(name)}]
        ranges = [{"type": "ECOSYSTEM", "events": events}]
        vulnerability = {
            "id": "PYSEC-1",
            "affected": [{"package": {"name": name, "ecosystem": "PyPI"}, "ranges": ranges}],
        }
        return Response(json.dumps({"vulns": [vulnerability]} if name in fixed_in else {}))

    httpserver.expect_request("/v1/query").respond_with_handler(respond)
    monkeypatch.setenv("OSV_URL", httpserver.url_for("/v1/query"))


def test_packages_without_known_vulnerabilities_pass(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    osv(httpserver, monkeypatch, jinja2="2.10.1")

    code = vulnerabilities.main(lock)

    assert code == 0
    assert "osv lists no vulnerability for 2 locked packages." in capsys.readouterr().out


def test_a_package_with_a_known_vulnerability_fails(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    osv(httpserver, monkeypatch, jinja2="2.10.1", flask="3.1.2")

    code = vulnerabilities.main(lock)

    output = capsys.readouterr().out
    assert code == 1
    assert all(text in output for text in ("flask", "3.1.0", "PYSEC-1", "3.1.2"))


def test_a_service_that_reports_no_vulnerability_of_the_probe_is_not_used(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    osv(httpserver, monkeypatch)

    code = vulnerabilities.main(lock)

    assert code == vulnerabilities.UNAVAILABLE
    assert capsys.readouterr().out.startswith("Not audited: ")


def test_an_audit_that_is_required_and_cannot_be_made_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, lock: Path
) -> None:
    monkeypatch.setenv("OSV_URL", "http://127.0.0.1:1/v1/query")
    monkeypatch.setenv("AUDIT", "required")

    code = vulnerabilities.main(lock)

    assert code == 1
