from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from local_servers import empty_database
from sqlalchemy import Connection, create_engine, text

from app.domain.email_patterns.company_forms import OTHER
from cli.database import _config

CONTACT = text(
    "INSERT INTO contacts (id, first_name, last_name, full_name, provenance, created_at, updated_at)"
    " VALUES (:id, :first, :last, :full, '{}', :now, :now)"
)
EMAIL = text(
    "INSERT INTO emails (id, contact_id, email, domain, type, status, status_reasons, form, first_seen_at,"
    " last_seen_at, sources) VALUES (:id, :contact, :email, 'acme.com', :type, 'valid', '[]', :form, :now,"
    " :now, :sources)"
)
NOW = "2026-01-01 00:00:00+00:00"
IMPORTED, GUESSED = '[{"kind": "import"}]', '[{"kind": "pattern"}]'
PEOPLE = [
    ("Ada", "Lovelace", "Ada Lovelace"),
    ("Rafael", "Wysocki", "Rafael J. Wysocki"),
    (None, None, None),
]
ADDRESSES = [
    (0, "boss@acme.com", "work", None, IMPORTED, OTHER),
    (0, "queen@acme.com", "work", None, GUESSED, None),
    (0, "ada@home.com", "personal", None, IMPORTED, None),
    (0, "ada.lovelace@acme.com", "work", "{first}.{last}", IMPORTED, "{first}.{last}"),
    (1, "rafael.j.wysocki@acme.com", "work", None, IMPORTED, "{first}.{last} middle:initial"),
    (2, "nobody@acme.com", "work", None, IMPORTED, None),
]


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A database of the version before the migration."""
    with empty_database(tmp_path, "old_version") as url:
        engine = create_engine(url)
        with engine.connect() as connection:
            command.upgrade(_config(connection), "0018")
            yield connection
        engine.dispose()


def test_stored_addresses_without_a_form_get_the_form_that_new_ones_have(connection: Connection) -> None:
    for index, (first, last, full) in enumerate(PEOPLE):
        person = {"id": f"con_{index}", "first": first, "last": last, "full": full, "now": NOW}
        connection.execute(CONTACT, person)
    for index, (contact, email, kind, form, sources, _expected) in enumerate(ADDRESSES):
        values = {"contact": f"con_{contact}", "email": email, "type": kind, "form": form}
        connection.execute(EMAIL, {"id": f"eml_{index}", "sources": sources, "now": NOW, **values})

    command.upgrade(_config(connection), "0019")

    forms = connection.execute(text("SELECT form FROM emails ORDER BY id")).scalars().all()
    assert forms == [expected for *_values, expected in ADDRESSES]
