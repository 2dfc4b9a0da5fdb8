"""Checks of RabbitMQ: reachable, recent enough, accepting messages, and its queues of the right type."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from amqp import Connection, Message
from amqp.exceptions import AccessRefused, AMQPError, NotAllowed, NotFound, PreconditionFailed

from app.domain.kinds import Queue
from app.infra.broker import rabbitmq_broker
from cli.checks.findings import Finding, error, ok

SUBJECT = "RabbitMQ"
QUEUES = "RabbitMQ queues"
MIN_VERSION = (3, 10)
"""The first version whose quorum queues expire messages, as the scheduled tasks require."""
ANSWER_SECONDS = 5.0
_REFUSALS: tuple[tuple[type[Exception], str, str], ...] = (
    (
        AccessRefused,
        "refuses the user or the password",
        "correct BROKER_URL: amqp://user:password@host/vhost",
    ),
    (
        NotAllowed,
        "has no such virtual host, or the user may not use it",
        "rabbitmqctl add_vhost VHOST; rabbitmqctl set_permissions -p VHOST USER '.*' '.*' '.*'",
    ),
)


def findings(url: str) -> Iterator[Finding]:
    """Check the server of this URL; leaves no queue and no message behind."""
    try:
        connection = rabbitmq_broker.connect(url)
    except (AMQPError, OSError) as refusal:
        yield error(SUBJECT, *_refused(refusal))
        return
    try:
        with connection.transport.having_timeout(ANSWER_SECONDS):
            yield _version(connection.server_properties.get("version", ""))
            yield from _messages(connection)
            yield from _types(connection)
    except (AMQPError, OSError):
        yield error(SUBJECT, "does not answer in time", "see its log")
    finally:
        with suppress(AMQPError, OSError):
            connection.collect()


def _refused(refusal: Exception) -> tuple[str, str]:
    """Describe a refusal without quoting it."""
    for kind, state, remedy in _REFUSALS:
        if isinstance(refusal, kind):
            return state, remedy
    return "cannot be reached", "start it, and compare host, port and amqp:// or amqps:// in BROKER_URL"


def _version(version: str) -> Finding:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < MIN_VERSION:
        return error(SUBJECT, f"version {version or 'unknown'} is too old", "install RabbitMQ 3.10 or newer")
    return ok(SUBJECT, f"version {version}")


def _messages(connection: Connection) -> Iterator[Finding]:
    """Send a message that no queue receives; with an alarm, RabbitMQ does not confirm it."""
    try:
        connection.channel().basic_publish_confirm(
            Message(""), routing_key="contact-lookup:doctor", confirm_timeout=ANSWER_SECONDS
        )
    except TimeoutError:
        yield error(
            SUBJECT, "accepts no messages", "free memory or disk: rabbitmqctl status shows its alarms"
        )


def _types(connection: Connection) -> Iterator[Finding]:
    """Report queues that exist with another type than the service declares."""
    wrong = [queue.value for queue in Queue if not _is_declarable(connection, queue)]
    if wrong:
        yield error(
            QUEUES,
            f"of another type: {', '.join(wrong)}",
            "delete them, or use another virtual host; jobs are in the database",
        )
    else:
        yield ok(QUEUES, "quorum queues, or not declared yet")


def _is_declarable(connection: Connection, queue: Queue) -> bool:
    channel = connection.channel()  # a refusal closes it
    try:
        channel.queue_declare(queue.value, passive=True)
        rabbitmq_broker.declare(channel, queue)
    except NotFound:
        return True
    except PreconditionFailed:
        return False
    return True
