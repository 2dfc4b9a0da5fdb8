"""The fields of rows are compared with the columns of their tables, which a type checker cannot see."""

from __future__ import annotations

from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.saved.saved_profiles import SavedProfile, SavedSummary
from app.engine.contacts.stored_rows import (
    CompanyCard,
    StoredCompany,
    StoredContact,
    StoredEmail,
    StoredPhone,
)
from app.engine.jobs.claims import ClaimRow
from app.engine.jobs.jobs import Job
from app.engine.jobs.stored_jobs import StoredJob
from app.infra.database.db import Base

KNOWN_NOT_NULL = {("SavedSummary", "linkedin_url"), ("ClaimRow", "lease_token")}
"""Columns that may be null, and are not in the rows that the query selects."""


@pytest.mark.parametrize(
    ("row", "table"),
    [
        (StoredContact, Contact),
        (StoredCompany, Company),
        (CompanyCard, Company),
        (StoredEmail, Email),
        (StoredPhone, Phone),
        (SavedSummary, SavedProfile),
        (StoredJob, Job),
        (ClaimRow, Job),
    ],
)
def test_a_field_has_the_type_of_its_column(row: type, table: type[Base]) -> None:
    columns = {name: get_args(type_)[0] for name, type_ in get_type_hints(table).items() if get_args(type_)}
    fields = {name: type_ for name, type_ in get_type_hints(row).items() if name in columns}

    different = {name for name, type_ in fields.items() if _plain(type_) != _plain(columns[name])}

    assert fields
    assert {(row.__name__, name) for name in different} <= KNOWN_NOT_NULL


def _plain(type_: Any) -> frozenset[Any]:
    """Return the classes of a type, without what is in a list or a dictionary."""
    parts = get_args(type_) if NoneType in get_args(type_) else (type_,)
    return frozenset(get_origin(part) or part for part in parts)
