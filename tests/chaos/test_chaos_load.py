from __future__ import annotations

import re
from collections import Counter
from itertools import islice

from chaos.context import _REPUBLISHED
from chaos.report import percentile
from chaos.system.service import SeedData, Tenant
from chaos.workload.generator import Operation, generate, one_reveal_per_contact
from chaos.workload.history import History
from tools.state import ROOT

DATA = SeedData((Tenant("wks_1", "t1"), Tenant("wks_2", "t2")), ("con_1", "con_2", "con_3"))


def an_operation(key: str, workspace: str = "wks_1") -> Operation:
    return Operation(Tenant(workspace, "token"), "/api/ext/reveal/email", {}, key)


def test_two_job_ids_for_one_key_are_a_conflict() -> None:
    history = History()
    history.accept(an_operation("key"), "job_1")

    history.accept(an_operation("key"), "job_2")

    assert history.conflicts == ["key: job_1 and job_2"]


def test_the_same_key_in_two_workspaces_is_not_a_conflict() -> None:
    history = History()
    history.accept(an_operation("key"), "job_1")

    history.accept(an_operation("key", "wks_2"), "job_2")

    assert history.conflicts == []
    assert len(history.accepted) == 2


def test_the_same_seed_generates_the_same_operations() -> None:
    first = list(islice(generate(DATA, 7), 300))

    again = list(islice(generate(DATA, 7), 300))

    assert [operation.body for operation in first] == [operation.body for operation in again]


def test_some_keys_and_requests_are_repeated() -> None:
    operations = list(islice(generate(DATA, 7), 500))

    keys = Counter(operation.key for operation in operations)
    requests = Counter((operation.tenant, operation.path, str(operation.body)) for operation in operations)

    assert max(keys.values()) > 1
    assert len(requests) < len(keys)


def test_every_stored_contact_is_revealed_once_in_each_workspace() -> None:
    operations = list(one_reveal_per_contact(DATA))

    assert len({(operation.tenant, str(operation.body)) for operation in operations}) == len(operations) == 6


def test_a_percentile_is_between_its_neighbours() -> None:
    values = [float(value) for value in range(1, 101)]

    assert 98 <= percentile(values, 0.99) <= 100
    assert percentile([], 0.99) == 0.0
    assert percentile([3.0], 0.5) == 3.0


def test_the_sweeper_logs_what_it_has_republished_as_the_report_reads_it() -> None:
    source = (ROOT / "workers" / "jobs" / "upkeep.py").read_text()

    assert _REPUBLISHED.pattern.partition("=")[0] in re.findall(r"(\w+)=", source)
