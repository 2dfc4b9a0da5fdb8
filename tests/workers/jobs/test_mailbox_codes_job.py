from __future__ import annotations

from app.domain.kinds import MAIL_CODE, Queue
from app.engine.privacy import mailbox_codes
from app.infra.broker.job_notifications import JobNotifier
from app.infra.broker.queue import JobPublisher
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.settings import Settings
from workers.execution import due_messages
from workers.execution.worker_services import WorkerServices
from workers.jobs.mailbox_codes import send_due

NOWHERE = "redis://127.0.0.1:1/0"


class Messages(JobPublisher):
    """A publisher whose queue keeps all messages, because no worker takes any."""

    def __init__(self) -> None:
        super().__init__(NOWHERE)
        self.queued: list[str] = []

    def push(self, task: str, queue: str, ids: list[str]) -> bool:
        assert (task, queue) == (MAIL_CODE, Queue.UPKEEP)
        self.queued += ids
        return True

    def depth(self, queue: Queue) -> int:
        assert queue is Queue.UPKEEP
        return len(self.queued)


def test_codes_that_no_worker_sends_do_not_fill_the_queue_without_end(
    settings: Settings, database: Database
) -> None:
    messages = Messages()
    services = WorkerServices(settings, database, messages, JobNotifier(NOWHERE))
    with database.transaction() as session:
        code_id = mailbox_codes.request(session, "ada@acme.com", now=database_clock.now())

    for _sweep in range(2 * due_messages.FULL_QUEUE):
        send_due(services)

    assert messages.queued == [code_id] * (due_messages.FULL_QUEUE + 1)
