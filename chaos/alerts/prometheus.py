"""A Prometheus server with the shipped rules, which watches the service under test."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import yaml

from tools import http_client
from tools.services import ports, processes
from tools.services.processes import Reaper, ServiceError
from tools.state import ROOT

if TYPE_CHECKING:
    from pathlib import Path

MONITORING = ROOT / "deploy" / "monitoring"
START_SECONDS = 60.0
OK = 200


@dataclass(frozen=True, slots=True)
class Alert:
    """A firing alert, and the labels that distinguish it from others of the same name."""

    name: str
    labels: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        values = ", ".join(
            value for name, value in self.labels if name not in {"severity", "job", "instance"}
        )
        return f"{self.name} ({values})" if values else self.name


@dataclass(slots=True)
class Prometheus:
    """A server that scrapes and evaluates as the shipped configuration says."""

    folder: Path
    reaper: Reaper
    target: str
    base_url: str = ""

    def start(self) -> None:
        """Start the server, and return once it is ready.

        Raises:
            ServiceError: the program is not installed, or the server does not start.

        """
        program = shutil.which("prometheus")
        if program is None:
            raise ServiceError("Prometheus is not installed: apt-get install prometheus")
        port = ports.any_free()
        self.base_url = f"http://{ports.LOOPBACK}:{port}"
        file, log = self.folder / "prometheus.yml", self.folder / "prometheus.log"
        file.write_text(yaml.safe_dump(self._configuration()))
        command = [program, f"--config.file={file}", f"--storage.tsdb.path={self.folder / 'prometheus'}"]
        self.reaper.spawn([*command, f"--web.listen-address={ports.LOOPBACK}:{port}"], log)
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if time.monotonic() > deadline:
                raise ServiceError(f"Prometheus does not start:\n{processes.tail(log)}")
            time.sleep(0.2)

    def firing(self) -> set[Alert]:
        """Return the alerts that fire now."""
        response = http_client.send("GET", f"{self.base_url}/api/v1/alerts").body
        return {
            Alert(alert["labels"]["alertname"], _labels(alert["labels"]))
            for alert in response["data"]["alerts"]
            if alert["state"] == "firing"
        }

    def query_range(self, expression: str, *, start: float, end: float, step: float) -> list[dict[str, Any]]:
        """Return the series of an expression between two Unix times."""
        path = f"/api/v1/query_range?query={quote(expression)}&start={start}&end={end}&step={step}"
        found: list[dict[str, Any]] = http_client.send("GET", self.base_url + path).body["data"]["result"]
        return found

    def _configuration(self) -> dict[str, Any]:
        """Return the shipped configuration with this service as its target; on loopback it needs no token."""
        shipped: dict[str, Any] = yaml.safe_load((MONITORING / "prometheus.yml").read_text())
        (scrape,) = shipped["scrape_configs"]
        target = [{"targets": [urlsplit(self.target).netloc]}]
        return {
            "global": shipped["global"],
            "rule_files": [str(MONITORING / name) for name in shipped["rule_files"]],
            "scrape_configs": [{"job_name": scrape["job_name"], "static_configs": target}],
        }

    def _is_ready(self) -> bool:
        with suppress(OSError):
            return http_client.send("GET", f"{self.base_url}/-/ready").status == OK
        return False


def _labels(labels: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in labels.items() if name != "alertname"))
