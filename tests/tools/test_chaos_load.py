from __future__ import annotations

from collections import Counter
from itertools import islice

from chaos.generator import Operation, generate, one_reveal_per_contact
from chaos.load import History
from chaos.report import percentile
from chaos.service import SeedData, Tenant

CAST = SeedData((Tenant("wks_1", "t1"), Tenant("wks_2", "t2")), ("con_1", "con_2", "con_3"))


def asked(key: str, workspace: str = "wks_1") -> Operation:
    return Operation(Tenant(workspace, "token"), "/api/ext/reveal/email", {}, key)


def test_a_key_that_is_answered_with_two_ids_is_a_conflict() -> None:
    book = History()
    book.accept(asked("key"), "job_1")

    book.accept(asked("key"), "job_2")

    assert book.conflicts == ["key: job_1 and job_2"]


def test_the_same_key_of_two_workspaces_is_two_keys() -> None:
    book = History()
    book.accept(asked("key"), "job_1")

    book.accept(asked("key", "wks_2"), "job_2")

    assert book.conflicts == []
    assert len(book.accepted) == 2


def test_a_deck_is_dealt_again_by_the_same_seed() -> None:
    first = list(islice(generate(CAST, 7), 300))

    again = list(islice(generate(CAST, 7), 300))

    assert [one.body for one in first] == [one.body for one in again]


def test_a_deck_repeats_keys_and_questions_on_purpose() -> None:
    dealt = list(islice(generate(CAST, 7), 500))

    keys = Counter(one.key for one in dealt)
    questions = Counter((one.tenant, one.path, str(one.body)) for one in dealt)

    assert max(keys.values()) > 1
    assert len(questions) < len(keys)


def test_every_stored_contact_is_asked_for_once_in_each_workspace() -> None:
    dealt = list(one_reveal_per_contact(CAST))

    assert len({(one.tenant, str(one.body)) for one in dealt}) == len(dealt) == 6


def test_a_percentile_is_between_its_neighbours() -> None:
    values = [float(value) for value in range(1, 101)]

    assert 98 <= percentile(values, 0.99) <= 100
    assert percentile([], 0.99) == 0.0
    assert percentile([3.0], 0.5) == 3.0
