"""The service with a full disk: every write to a log fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e_stack import Stack, running
from local_servers import empty_database

FULL = Path("/dev/full")


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    for log in ("web.log", "worker0.log"):
        (tmp_path / log).symlink_to(FULL)
    with (
        empty_database(tmp_path, "full_disk") as url,
        running(tmp_path, url, WEB_CONCURRENCY="1") as stack,
    ):
        yield stack


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is always full")
def test_requests_and_jobs_succeed_while_logs_cannot_be_written(stack: Stack) -> None:
    _workspace, token = stack.create_workspace(grant=3)
    [contact_id] = stack.create_contacts(1)
    body = {"subject": {"contact_id": contact_id}}

    looked_up = stack.call("POST", "/api/ext/lookup", body, Authorization=token)
    revealed = stack.call("POST", "/api/ext/reveal/email", body, Authorization=token)
    refused = stack.call("GET", "/api/ext/session")
    metrics = stack.call("GET", "/metrics").body.decode()

    assert (looked_up.status, refused.status) == (200, 401)
    assert (revealed.status, revealed.body["job"]["outcome"]) == (200, "found")
    assert revealed.body["credits"] == {"charged": 1, "reserved": 0, "balance": 2, "already_owned": False}
    assert "ext_log_failures_total" in metrics
