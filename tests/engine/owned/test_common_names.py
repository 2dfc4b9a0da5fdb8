"""People with a very common name are the same ones in the same order as by the index of names."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from local_servers import POSTGRES
from sqlalchemy import text, update
from stored_support import NOW, statements
from test_owned_contacts import DAY, a_revealed_contact, save

from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.owned import common_names, owned_contacts
from app.engine.owned.owned_filters import Cursor, Order, Selection, Sort
from app.infra.database.session import Session

URL = "https://www.linkedin.com/in/person-{}"
NAMES = ("Ann Lee", "Ana Bell", "Bob Anders", "Cy Ray", "Dan Roe")


@pytest.fixture
def expected(session: Session, workspace_id: str) -> list[str]:
    """Insert people; return the ids of those who are found by "an", the earliest first.

    Of each nine, four are revealed with a name that is found, one by the name that was saved, and one is
    saved only. Some have the same time.
    """
    found: list[str] = []
    for number in range(4):
        day = []
        for name in NAMES:
            contact = a_revealed_contact(
                session, workspace_id, name, number, linkedin_url=URL.format(f"{number}-{name[:3]}")
            )
            if name == "Cy Ray":
                save(session, workspace_id, url=contact.linkedin_url or "", full_name="Andrea Ray")
            if name != "Dan Roe":
                day.append(contact.id)
        found += sorted(day)
        row = save(session, workspace_id, url=URL.format(f"{number}-only"), full_name="Antonia Only")
        made_at = NOW + number * DAY + DAY / 2
        profile_id = row.profile.id
        session.execute(update(SavedProfile).where(SavedProfile.id == profile_id).values(created_at=made_at))
        found.append(profile_id)
    return found


def pages(session: Session, workspace_id: str, selection: Selection, limit: int) -> list[str]:
    """Return the ids on all pages of so many people."""
    found: list[str] = []
    after: Cursor | None = None
    while True:
        page = owned_contacts.page(session, workspace_id, selection, after=after, limit=limit)
        found += [person.id for person in page.contacts]
        after = page.next_cursor
        if after is None:
            return found


@pytest.mark.parametrize("limit", [1, 2, 5, 100])
def test_all_pages_have_everybody_once_in_order(
    session: Session, workspace_id: str, expected: list[str], limit: int
) -> None:
    ascending = Selection(name="an", order=Order.ASCENDING)

    assert pages(session, workspace_id, ascending, limit) == expected
    assert pages(session, workspace_id, Selection(name="an"), limit) == expected[::-1]


def test_places_are_in_order_and_end_with_the_last(
    session: Session, workspace_id: str, expected: list[str]
) -> None:
    selection = Selection(name="an", order=Order.ASCENDING)

    places = owned_contacts.places(session, workspace_id, selection, after=None, limit=5)
    others = owned_contacts.places(session, workspace_id, selection, after=places[-1], limit=100)

    assert [place.person_id for place in (*places, *others)] == expected
    assert all(earlier.key <= later.key for earlier, later in pairwise([*places, *others]))  # type: ignore[operator]


@pytest.mark.parametrize(("days", "limit"), [(-1, 5), (1, 5), (1, 100), (9, 5)])
def test_nobody_is_missing_if_there_are_fewer_up_to_the_time_than_a_moment_ago(
    session: Session,
    workspace_id: str,
    expected: list[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    days: int,
    limit: int,
) -> None:
    monkeypatch.setattr(common_names, "end_of", lambda *_arguments, **_named: NOW + days * DAY)

    for order, ids in ((Order.ASCENDING, expected), (Order.DESCENDING, expected[::-1])):
        selection = Selection(name="an", order=order)
        places = owned_contacts.places(session, workspace_id, selection, after=None, limit=limit)
        assert pages(session, workspace_id, selection, limit) == ids
        assert [place.person_id for place in places] == ids[:limit]


@pytest.mark.usefixtures("expected")
@pytest.mark.skipif(POSTGRES is None, reason="PostgreSQL has the index")
@pytest.mark.parametrize(
    ("filters", "is_in_order"),
    [
        ({"name": "an"}, True),
        ({"name": "an", "order": Order.ASCENDING}, True),
        ({"name": "an", "revealed_since": NOW}, True),
        ({"name": "an", "company": "Acme"}, False),
        ({"name": "an", "tag": "vip"}, False),
        ({"name": "an", "sort": Sort.NAME}, False),
        ({"name": "anton"}, False),
    ],
)
def test_only_common_names_in_the_order_of_time_are_found_without_the_index(
    session: Session, workspace_id: str, *, filters: dict[str, Any], is_in_order: bool
) -> None:
    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        owned_contacts.page(session, workspace_id, Selection(**filters), limit=3)

    read = next(statement for statement, _values in seen if "owner_name" in statement)
    assert ("array_to_tsvector" not in read) is is_in_order


@pytest.mark.skipif(POSTGRES is None, reason="PostgreSQL has the index")
def test_so_many_people_are_wanted_that_the_index_is_faster(
    session: Session, workspace_id: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(common_names, "MAX_READ", 6)
    selection = Selection(name="an")
    end = common_names.end_of(session, workspace_id, selection, after=None, limit=6)

    assert end is None
    assert pages(session, workspace_id, selection, 5) == expected[::-1]


@pytest.mark.usefixtures("expected")
@pytest.mark.skipif(POSTGRES is None, reason="PostgreSQL has the index")
def test_a_name_is_common_where_many_people_are_revealed_and_some_of_the_latest_have_it(
    session: Session, workspace_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_common(name: str, limit: int) -> bool:
        found = common_names.first_people(session, workspace_id, name, limit=limit)
        assert (found.name, found.sort is Sort.NAME) == (name, found.end is None)
        return found.end is not None

    assert not is_common("an", 15)

    monkeypatch.setattr(common_names, "MANY", 19)

    assert is_common("an", 15)
    assert not is_common("an", 16)
    assert not is_common("bob", 1)
    monkeypatch.setattr(common_names, "MANY", 20)
    assert not is_common("an", 15)


@pytest.mark.skipif(POSTGRES is None, reason="PostgreSQL has the index")
def test_the_latest_with_a_common_name_are_read_without_looking_for_their_end_again(
    session: Session, workspace_id: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(common_names, "MANY", 0)
    selection = common_names.first_people(session, workspace_id, "an", limit=5)

    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        page = owned_contacts.page(session, workspace_id, selection, limit=5)

    assert [person.id for person in page.contacts] == expected[::-1][:5]
    assert not any("is_found" in statement for statement, _values in seen)
    assert sum("owner_name" in statement for statement, _values in seen) == 1


_MANY_SAVED = (
    """
    INSERT INTO contacts (id, linkedin_url, provenance, created_at, updated_at)
    SELECT 'con_' || lpad(to_hex(n), 24, '0'), 'https://www.linkedin.com/in/person-' || n, '{}', now(), now()
    FROM generate_series(1, 5000) n
    """,
    """
    INSERT INTO reveals (workspace_id, contact_id, field, job_id, credits, created_at)
    SELECT :workspace_id, 'con_' || lpad(to_hex(n), 24, '0'), 'email', 'job_' || n, 1,
           now() - n * interval '1 second'
    FROM generate_series(1, 5000) n
    """,
    """
    INSERT INTO saved_profiles (id, workspace_id, linkedin_url, tags, captured, created_at, updated_at)
    SELECT 'prf_' || lpad(to_hex(n), 24, '0'), :workspace_id, 'https://www.linkedin.com/in/' ||
               CASE WHEN n % 2 = 0 THEN 'person-' ELSE 'saved-' END || n,
           '[]', '{}', now() - n * interval '1 second', now()
    FROM generate_series(1, 5000) n
    """,
    "ANALYZE contacts, reveals, saved_profiles",
)


@pytest.mark.skipif(POSTGRES is None, reason="PostgreSQL has the planner")
@pytest.mark.parametrize("order", list(Order))
def test_the_first_of_everybody_are_read_without_sorting_all_saved_people(
    session: Session, workspace_id: str, order: Order
) -> None:
    session.execute(text("SET LOCAL session_replication_role = replica"))
    for sql in _MANY_SAVED:
        session.execute(text(sql), {"workspace_id": workspace_id} if ":workspace_id" in sql else {})

    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        owned_contacts.places(session, workspace_id, Selection(order=order), after=None, limit=50)

    [(statement, values)] = [one for one in seen if "sort_key" in one[0]]
    plan = "\n".join(session.connection().exec_driver_sql(f"EXPLAIN {statement}", values).scalars())
    assert "ix_saved_profiles_workspace_id_created_at" in plan
    assert "Seq Scan" not in plan
