"""What the faults work on: all processes of the service, a provider, a receiver of webhooks and a load."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from chaos.alerts.prometheus import Prometheus
from chaos.alerts.receiver import Receiver
from chaos.system.launcher import running
from chaos.system.service import SeedData, ServiceUnderTest
from chaos.system.vendor import PROFILE, Call, CannedResponse, Vendor
from chaos.workload.generator import Operation
from chaos.workload.load import Load
from tools.services.processes import Reaper
from tools.services.supervisor import procfile_commands

PER_SECOND = 3.0
CALLS_PER_SECOND = 50
ENDLESS = 10**9
CLIENTS = 8
ENRICHMENT = "enrichment"
_FORGET_LOST = text("DELETE FROM workers WHERE seen_at < now() - interval '14 seconds'")


@dataclass(slots=True)
class Testbed:
    """The running service and what surrounds it."""

    service: ServiceUnderTest
    vendor: Vendor
    receiver: Receiver
    prometheus: Prometheus
    data: SeedData

    def reveal(self, count: int) -> None:
        """Request reveals that need the provider, as fast as possible."""
        operations = (self._reveal(f"burst-{uuid.uuid4()}") for _number in range(count))
        burst = Load(self.service.base_url, operations, pace=ENDLESS, target=count, clients=CLIENTS)
        burst.start()

    def restore(self) -> None:
        """Start what was stopped, and make the provider, the receiver and the network work again."""
        self.vendor.behaviour = answer
        self.receiver.status = 204
        self.service.restore_network()
        missing = [name for name in self.service.commands() if name not in self.service.processes.names]
        self.service.start(*missing)
        self.start_enrichment()
        self.service.wait_until_ready()
        with self.service.engine.begin() as connection:
            connection.execute(_FORGET_LOST)  # they would count as lost for ten minutes

    def start_enrichment(self) -> None:
        """Start the worker of enrichments, unless it runs."""
        if ENRICHMENT not in self.service.processes.names:
            command = procfile_commands()["worker_enrichment"]
            self.service.processes.start(ENRICHMENT, command, self.service.env | self.service.settings)

    def operations(self) -> Iterator[Operation]:
        """Yield reveals and, each third time, an enrichment with a webhook, without end."""
        for number in iter(int, 1):
            del number
            yield self._reveal(f"known-{uuid.uuid4()}")
            yield self._reveal(f"unknown-{uuid.uuid4()}")
            yield self._enrichment()

    def _reveal(self, person: str) -> Operation:
        body = {"subject": {"linkedin_url": f"{PROFILE}{person}"}}
        return Operation(self.data.tenants[0], "/api/ext/reveal/email", body, str(uuid.uuid4()))

    def _enrichment(self) -> Operation:
        subject = {"linkedin_url": f"{PROFILE}known-{uuid.uuid4()}"}
        body = {
            "entity": "person",
            "items": [{"subject": subject}],
            "fields": ["email"],
            "webhook_url": self.receiver.url,
        }
        return Operation(self.data.tenants[0], "/api/ext/enrichment-request", body, str(uuid.uuid4()))


def answer(_call: Call) -> CannedResponse:
    """Respond as a provider that works."""
    return CannedResponse(delay=0.1)


@contextmanager
def loaded(folder: Path) -> Iterator[Testbed]:
    """Start the service, Prometheus and a light load; stop all of it at the end of the block."""
    with ExitStack() as stop:
        service = stop.enter_context(running(folder, sqlite=False))
        vendor, receiver = Vendor(answer), Receiver()
        settings = vendor.start(folder, rates=f"{CALLS_PER_SECOND}/second")
        stop.callback(vendor.stop)
        receiver.start()
        stop.callback(receiver.stop)
        service.up(**settings, WEBHOOK_NETWORKS="127.0.0.0/8", INTERACTIVE_CONCURRENCY="4")
        data = service.seed(workspaces=1, contacts=0)
        reaper = Reaper()
        stop.callback(reaper.close)
        prometheus = Prometheus(folder, reaper, service.base_url)
        testbed = Testbed(service, vendor, receiver, prometheus, data)
        testbed.start_enrichment()
        prometheus.start()
        load = Load(service.base_url, testbed.operations(), pace=PER_SECOND, target=ENDLESS, clients=CLIENTS)
        load.start()
        stop.callback(load.stop)
        yield testbed
