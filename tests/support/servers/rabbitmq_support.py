"""A RabbitMQ server for tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tools.services import rabbitmq
from tools.services.rabbitmq import RabbitMq


@contextmanager
def rabbitmq_server() -> Iterator[RabbitMq]:
    """Run a server as long as the block. Without the program the test is skipped; in CI it fails."""
    if rabbitmq.program() is None:
        if os.environ.get("CI"):
            pytest.fail(rabbitmq.NOT_FOUND)
        pytest.skip(rabbitmq.NOT_FOUND)
    with rabbitmq.server() as started:
        yield started
