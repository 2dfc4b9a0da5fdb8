from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from apiflask import APIFlask

from app.engine.audit.audits import Audit
from app.infra import clock
from app.infra.telemetry import metrics
from tools.dashboard.__main__ import FILE, text
from tools.state import ROOT

MONITORING = ROOT / "deploy" / "monitoring"
RULES = MONITORING / "alerts.yml"
RUNBOOK = ROOT / "docs" / "runbook.md"
OF_PROMETHEUS = {"up", "ALERTS"}


def need(program: str) -> str:
    """Return the path of the program; skip the test if there is none, except in CI."""
    path = shutil.which(program)
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"There is no {program}; .ci/run installs it.")
    return path


def run(*command: str) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def loaded(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text())
    return content


def alerts() -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for group in loaded(RULES)["groups"] for rule in group["rules"]}


def panels() -> Iterator[dict[str, Any]]:
    board = json.loads(FILE.read_text())
    for panel in board["panels"]:
        yield from (panel, *panel.get("panels", ()))


def dashboard_expressions() -> list[str]:
    return [target["expr"] for panel in panels() for target in panel.get("targets", ())]


def used(expressions: list[str]) -> set[str]:
    """Return the metrics that the expressions name."""
    joined = " ".join(expressions)
    return set(re.findall(r"\bext_\w+\b", joined)) | OF_PROMETHEUS.intersection(re.findall(r"\w+", joined))


def exported(app: APIFlask) -> set[str]:
    """Return the metrics that the service describes after an audit, whether or not they have a value."""
    metrics.api_heartbeat()  # created by the first sign of life
    with app.extensions["services"].database.transaction() as session:
        session.merge(
            Audit(id="aud_x", at=clock.now(), milliseconds=3, workspaces=1, jobs=1, entries=1, faults=[])
        )
    response = app.test_client().get("/metrics").text
    found = re.findall(r"^# TYPE (\w+) (\w+)$", response, re.MULTILINE)
    suffixes = {"histogram": ("_bucket", "_sum", "_count")}
    return {name + suffix for name, kind in found for suffix in suffixes.get(kind, ("",))}


def test_the_alert_rules_are_valid_and_fire_as_their_tests_say() -> None:
    promtool = need("promtool")

    run(promtool, "check", "rules", str(RULES))
    run(promtool, "test", "rules", str(MONITORING / "alerts_test.yml"))
    run(promtool, "check", "config", "--syntax-only", str(MONITORING / "prometheus.yml"))


def test_the_configuration_of_alertmanager_is_valid() -> None:
    run(need("amtool"), "check-config", str(MONITORING / "alertmanager.yml"))


def test_each_alert_is_tested_to_fire() -> None:
    cases = [
        case for test in loaded(MONITORING / "alerts_test.yml")["tests"] for case in test["alert_rule_test"]
    ]

    fired = {case["alertname"] for case in cases if case["exp_alerts"]}
    silent = {case["alertname"] for case in cases if not case["exp_alerts"]}

    assert fired == set(alerts())
    assert silent <= set(alerts())


def test_each_alert_has_a_section_in_the_runbook_and_names_it() -> None:
    sections = re.findall(r"^## (\w+)$", RUNBOOK.read_text(), re.MULTILINE)

    links = {name: rule["annotations"]["runbook"] for name, rule in alerts().items()}

    assert sections == list(alerts())
    assert links == {name: f"docs/runbook.md#{name.lower()}" for name in alerts()}


@pytest.mark.parametrize("name", alerts())
def test_a_section_says_what_the_alert_means_what_users_notice_and_what_to_do(name: str) -> None:
    section = re.split(r"^## ", RUNBOOK.read_text().split(f"\n## {name}\n", 1)[1], flags=re.MULTILINE)[0]

    assert "**Meaning.**" in section
    assert "**Effect.**" in section
    assert re.search(r"^1\. ", section, re.MULTILINE)


def test_an_alert_fires_within_a_minute_of_a_fault_or_is_not_urgent() -> None:
    slow = {"BulkBacklog", "AuditOverdue", "BackupOverdue"}

    durations = {name: rule.get("for", "0s") for name, rule in alerts().items() if name not in slow}

    assert set(durations.values()) <= {"0s", "10s", "15s", "20s", "30s"}


def test_alerts_and_dashboard_use_metrics_that_the_service_exports(app: APIFlask) -> None:
    in_alerts = used([rule["expr"] for rule in alerts().values()])
    on_dashboard = used(dashboard_expressions())

    known = exported(app) | OF_PROMETHEUS
    assert in_alerts <= known
    assert on_dashboard <= known
    assert len(in_alerts) > 15
    assert len(on_dashboard) > 20


def test_every_metric_is_on_the_dashboard_or_has_an_alert(app: APIFlask) -> None:
    names = {re.sub(r"_(bucket|sum|count)$", "", name) for name in exported(app) if name.startswith("ext_")}
    shown = {re.sub(r"_bucket$", "", name) for name in used(dashboard_expressions())}
    alerted = used([rule["expr"] for rule in alerts().values()])

    assert {name for name in names if not name.endswith("_created")} <= shown | alerted


def test_prometheus_parses_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    promtool = need("promtool")
    rules = [{"record": f"panel:{number}", "expr": one} for number, one in enumerate(dashboard_expressions())]
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))

    run(promtool, "check", "rules", str(file))


def test_the_dashboard_is_what_the_command_writes() -> None:
    assert FILE.read_text() == text()


def test_the_panels_do_not_overlap_and_use_the_provisioned_source() -> None:
    source = loaded(MONITORING / "grafana/provisioning/datasources/prometheus.yml")["datasources"][0]
    cells = [
        (column, line)
        for panel in panels()
        for column in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for line in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]

    assert len(cells) == len(set(cells))
    assert all(0 <= column < 24 for column, _line in cells)
    assert {panel["datasource"]["uid"] for panel in panels() if "targets" in panel} == {source["uid"]}


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = loaded(MONITORING / "compose.yml")["services"]
    return found


def test_compose_includes_the_monitoring_services() -> None:
    assert loaded(ROOT / "docker-compose.yml")["include"] == ["deploy/monitoring/compose.yml"]
    assert set(services()) == {"prometheus", "alertmanager", "grafana"}


@pytest.mark.parametrize("name", services())
def test_a_monitoring_service_is_pinned_limited_optional_and_on_loopback(name: str) -> None:
    service = services()[name]

    assert re.fullmatch(r"[\w/]+:v?\d+\.\d+\.\d+", service["image"])
    assert service["profiles"] == ["monitoring"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert (service["read_only"], service["cap_drop"], service["restart"]) == (True, ["ALL"], "always")
    assert service["healthcheck"]["test"]
    assert re.fullmatch(r"\d+m", service["mem_limit"])


def test_the_files_that_compose_mounts_exist() -> None:
    mounts = [volume.split(":")[0] for one in services().values() for volume in one["volumes"]]

    assert all((MONITORING / path).exists() for path in mounts if path.startswith("./"))


def test_compose_and_prometheus_agree_on_addresses_and_the_token() -> None:
    configuration = loaded(MONITORING / "prometheus.yml")
    (scrape,) = configuration["scrape_configs"]

    assert scrape["job_name"] == "contact-lookup"
    assert scrape["static_configs"] == [{"targets": ["web:8000"]}]
    assert scrape["authorization"]["credentials_file"] == "/run/secrets/metrics_token"
    assert loaded(MONITORING / "compose.yml")["secrets"]["metrics_token"] == {"environment": "METRICS_TOKEN"}
    assert "alertmanager" in services()
    assert configuration["alerting"]["alertmanagers"][0]["static_configs"] == [
        {"targets": ["alertmanager:9093"]}
    ]
