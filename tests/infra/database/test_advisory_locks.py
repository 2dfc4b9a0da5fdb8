from types import SimpleNamespace
from typing import cast

import pytest

from app.infra.database.advisory_locks import AdvisoryLock, try_acquire
from app.infra.database.session import Session


@pytest.mark.parametrize("is_free", [True, False])
def test_on_postgresql_a_lock_is_held_by_one_transaction(*, is_free: bool) -> None:
    postgresql = SimpleNamespace(dialect=SimpleNamespace(name="postgresql"))
    session = SimpleNamespace(get_bind=lambda: postgresql, scalar=lambda _query: is_free)

    acquired = try_acquire(cast("Session", session), AdvisoryLock.SWEEP)

    assert acquired is is_free
