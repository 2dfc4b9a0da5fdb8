from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from chaos.alerts.__main__ import Measurement
from chaos.alerts.faults import FAULTS
from chaos.alerts.prometheus import MONITORING, Alert, Prometheus
from chaos.alerts.receiver import Receiver
from tools.services.processes import Reaper, ServiceError


def test_each_fault_expects_alerts_that_exist_and_has_a_title_of_its_own() -> None:
    rules = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"][0]["rules"]

    expected = {name for fault in FAULTS for name in fault.alerts}

    assert expected <= {rule["alert"] for rule in rules}
    assert len({fault.title for fault in FAULTS}) == len(FAULTS)


def test_prometheus_runs_with_the_shipped_rules_and_intervals(tmp_path: Path) -> None:
    reaper = Reaper()
    prometheus = Prometheus(tmp_path, reaper, "http://127.0.0.1:8123")

    configuration = prometheus._configuration()  # noqa: SLF001 - what `start` writes to the file
    reaper.close()

    shipped = yaml.safe_load((MONITORING / "prometheus.yml").read_text())
    (scrape,) = configuration["scrape_configs"]
    assert configuration["global"] == shipped["global"]
    assert configuration["rule_files"] == [str(MONITORING / "alerts.yml")]
    assert (scrape["job_name"], scrape["static_configs"]) == (
        "contact-lookup",
        [{"targets": ["127.0.0.1:8123"]}],
    )


def test_without_the_program_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    reaper = Reaper()

    with pytest.raises(ServiceError, match="apt-get install prometheus"):
        Prometheus(tmp_path, reaper, "http://127.0.0.1:8123").start()
    reaper.close()


@pytest.mark.parametrize(("seconds", "holds"), [(59.9, True), (60.0, True), (60.1, False), (None, False)])
def test_an_alert_must_fire_within_a_minute(seconds: float | None, holds: bool) -> None:  # noqa: FBT001
    assert Measurement("a fault", "AnAlert", seconds, ()).holds is holds


def test_an_alert_is_shown_with_the_labels_that_distinguish_it() -> None:
    labels = (("queue", "upkeep"), ("severity", "critical"))

    assert str(Alert("QueueWithoutWorkers", labels)) == "QueueWithoutWorkers (upkeep)"
    assert str(Alert("RedisDown", (("severity", "critical"),))) == "RedisDown"


def test_the_receiver_fails_when_it_is_told_to() -> None:
    receiver = Receiver()
    receiver.start()
    with urllib.request.urlopen(urllib.request.Request(receiver.url, b"{}", method="POST")) as response:
        first = response.status
    receiver.status = 500

    with pytest.raises(urllib.error.HTTPError) as failure:
        urllib.request.urlopen(urllib.request.Request(receiver.url, b"{}", method="POST"))
    failure.value.close()
    receiver.stop()

    assert (first, failure.value.code) == (204, 500)
