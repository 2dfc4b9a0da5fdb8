from __future__ import annotations

import re
import time
import urllib.request

from e2e_stack import Stack

ALERT_SECONDS = 20
"""After so many seconds without a sign of life, the alert ApiFrozen fires."""


def test_the_heartbeat_is_that_of_the_processes_that_serve(stack: Stack) -> None:
    """The arbiter has none, and a gauge that nobody sets is 0: the least of all would be 0 for ever."""
    time.sleep(1.1)  # a process gives a sign of life each second

    with urllib.request.urlopen(f"{stack.base_url}/metrics", timeout=10) as response:
        text = response.read().decode()
    found = re.search(r"^ext_api_heartbeat_seconds (\S+)$", text, re.MULTILINE)

    assert found is not None
    assert 0 <= time.time() - float(found[1]) < ALERT_SECONDS
