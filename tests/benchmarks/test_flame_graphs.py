"""The count of a profile's samples by part."""

from __future__ import annotations

from importlib import import_module

import pytest

from benchmarks.flame_graphs import parts
from tools.state import ROOT


def test_a_sample_counts_for_the_innermost_part_that_it_is_in() -> None:
    stacks = [
        "wsgi_app (flask/app.py:1);lookup (app/api/lookup.py:2);find (app/engine/matching/x.py:3);a (b.py) 6",
        "wsgi_app (flask/app.py:1);dispatch_request (flask/app.py:2) 3",
        "run (gevent/hub.py:1) 1",
    ]

    assert parts.shares(stacks, parts.WEB) == {
        "match the subject": 0.6,
        "Flask: dispatch, hooks, headers, metrics": 0.3,
        "other": 0.1,
    }


def test_a_function_that_begins_a_part_is_found_by_its_name() -> None:
    assert list(parts.shares(["_submit_in_turn (app/web/jobs/job_requests.py:9) 1"], parts.WEB)) == [
        "admission, and the turns of a workspace"
    ]


@pytest.mark.parametrize(
    "beginning", sorted({text for table in (parts.WEB, parts.WORKER) for of in table.values() for text in of})
)
def test_what_begins_a_part_exists(beginning: str) -> None:
    if beginning.endswith(" ("):
        sources = (ROOT / "app" / "web").rglob("*.py")
        assert any(f"def {beginning[:-2]}(" in source.read_text() for source in sources)
    elif beginning.startswith(("app/", "workers/")):
        assert (ROOT / beginning).exists()
    else:
        assert import_module(beginning.removesuffix(".py").rstrip("/").replace("/", "."))
