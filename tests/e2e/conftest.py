"""The stack that all end-to-end tests share: the production server, a worker, a database and Redis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from e2e_stack import Stack, running
from local_servers import empty_database


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Stack]:
    """One stack for all tests; each creates its own workspace in it. Webhooks may be sent to loopback."""
    folder = tmp_path_factory.mktemp("e2e")
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(folder, f"e2e_{worker_id}"))
        yield stop.enter_context(running(folder, url, WEBHOOK_NETWORKS="127.0.0.1/32"))
