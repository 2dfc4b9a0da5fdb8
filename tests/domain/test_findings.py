from __future__ import annotations

import dataclasses

import pytest
from jobs_support import NOW

from app.domain.callers import Caller, Scope
from app.domain.findings import (
    EmailStatus,
    FoundCompany,
    FoundContact,
    FoundEmail,
    FoundPhone,
    Source,
    SourceKind,
)

SOURCE = Source("sandbox", SourceKind.PROVIDER, NOW)
VALUES = [
    FoundEmail(email="ada@acme.com", type="work", status=EmailStatus.VALID, source=SOURCE),
    FoundPhone(e164="+12025550143", source=SOURCE),
    FoundCompany(source=SOURCE),
    FoundContact(source=SOURCE),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_finding_has_a_source_and_is_immutable(value: FoundEmail) -> None:
    assert value.source == SOURCE
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.source = SOURCE  # type: ignore[misc]


@pytest.mark.parametrize("kind", [type(value) for value in VALUES])
def test_a_finding_requires_a_source(kind: type[FoundEmail]) -> None:
    with pytest.raises(TypeError, match="source"):
        kind()  # type: ignore[call-arg]


def test_missing_values_are_none() -> None:
    known = {"source", "emails", "phones"}

    names = [f.name for f in dataclasses.fields(FoundContact) if getattr(VALUES[3], f.name) not in {None, ()}]

    assert set(names) <= known


def test_the_statuses_are_ordered_best_first() -> None:
    assert [status.value for status in EmailStatus] == ["valid", "accept_all", "risky", "invalid", "unknown"]


def test_the_scopes_are_those_of_the_contract() -> None:
    assert [scope.value for scope in Scope] == ["lookup", "reveal", "enrich", "save"]


def test_a_caller_is_immutable() -> None:
    caller = Caller("acc_1", "wks_1", "session", "ses_1", tuple(Scope), None)

    with pytest.raises(dataclasses.FrozenInstanceError):
        caller.workspace_id = "wks_2"  # type: ignore[misc]
