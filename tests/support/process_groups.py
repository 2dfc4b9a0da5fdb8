"""Which tests of a run stay in one process: those of a file, and those of all files that share a service."""

from __future__ import annotations

import re

from xdist.scheduler import LoadFileScheduling

SHARED = {
    "the service of tests/e2e": r"tests/e2e/test_\w+\.py",
    "the service of the pages": r"tests/(pages|features/\w+)/test_(contacts|pages|webhooks)_in_chromium\.py",
    "the extension's views": r"tests/extension/views/.*",
    "the rest of the extension": r"tests/extension/(?!views/).*",
}
"""The files, as a pattern, by what they share: a service or a browser takes seconds to start."""


class ProcessGroupScheduling(LoadFileScheduling):
    """Runs the files that share a service in one process, so that it is started once."""

    def _split_scope(self, nodeid: str) -> str:
        """Return the name of the group that the test belongs to."""
        file = super()._split_scope(nodeid)
        return next((name for name, pattern in SHARED.items() if re.fullmatch(pattern, file)), file)
