"""The columns of an uploaded list: their fields, the proposed ones, and the person that a row names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.domain.errors import InvalidValue
from app.domain.findings import FoundContact
from app.domain.lists.cell_warnings import CellWarnings
from app.domain.lists.column_mapping import ColumnMapping, Entity, map_columns
from app.domain.lists.header_fields import column
from app.domain.lists.people_rows import NO_PERSON_ERROR, person_of
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.records.subjects import Subject

UPLOAD_FIELDS = (
    "full_name",
    "first_name",
    "middle_name",
    "last_name",
    "linkedin_url",
    "email",
    "work_email",
    "personal_email",
    "phone",
    "mobile_phone",
    "direct_phone",
    "work_phone",
    "company_name",
    "company_domain",
    "country",
    "company_country",
)
"""The fields that help to name a person; a company's switchboard does not."""
_PERSONAL_PHONES = frozenset({"mobile", "direct"})


def count_known(cells: Sequence[str]) -> int:
    """Return how many of the cells are headers of people's data, to find the header of a list."""
    return map_columns(cells, Entity.CONTACTS).known_count


def propose(header: Sequence[str]) -> list[str | None]:
    """Return the field that each column probably has, None for those without."""
    meanings = map_columns(header, Entity.CONTACTS).meanings
    proposed = [_field(text, meanings[text]) for text in header]
    if "linkedin_url" not in proposed and "url" in meanings.values():
        return [
            "linkedin_url" if meanings[text] == "url" else field
            for text, field in zip(header, proposed, strict=True)
        ]
    return proposed


def layout_of(fields: Sequence[str | None]) -> ColumnMapping:
    """Return the mapping of a list whose columns have these fields."""
    return map_columns([field or "" for field in fields], Entity.CONTACTS)


def names_people(fields: Sequence[str | None]) -> bool:
    """Return whether columns with these fields can name a person."""
    layout = layout_of(fields)
    has_name = "full_name" in layout.single or {"first_name", "last_name"} <= layout.single.keys()
    has_company = not {"company_name", "company_domain"}.isdisjoint(layout.single)
    is_identified = "linkedin_url" in layout.single or bool(layout.emails or layout.phones)
    return is_identified or (has_name and has_company)


def subject_of(cells: Sequence[str], layout: ColumnMapping, defaults: ImportDefaults) -> Subject:
    """Return the person that a row names.

    A phone number of unknown or shared use counts only if nothing else names the person; a weak profile never
    does, since the person it leads to would be charged for.

    Raises:
        InvalidValue: the row identifies no person; the message says what it needs.

    """
    row = RowValues(layout, cells, defaults, CellWarnings())
    subject = _subject(person_of(row, layout).found)
    if not (subject.has_exact_key or _names_with_company(subject)):  # a weak profile was the only identifier
        raise InvalidValue(NO_PERSON_ERROR)
    return subject


def _subject(found: FoundContact) -> Subject:
    subject = Subject(
        linkedin_url=None if found.is_profile_weak else found.linkedin_url,
        member_url=found.member_url,
        email=found.emails[0].email if found.emails else None,
        full_name=found.full_name,
        first_name=found.first_name,
        last_name=found.last_name,
        company_domain=found.company.domain if found.company else None,
        company_name=found.company.name if found.company else None,
    )
    own = [phone.e164 for phone in found.phones if phone.type in _PERSONAL_PHONES]
    if found.phones and not (subject.has_exact_key or _names_with_company(subject)):
        own = own or [found.phones[0].e164]
    return replace(subject, phone=own[0]) if own else subject


def _names_with_company(subject: Subject) -> bool:
    return bool(subject.name and (subject.company_domain or subject.company_name))


def _field(text: str, meaning: str | None) -> str | None:
    """Return the field of an upload for the meaning of a header; None if it has none."""
    found = column(text)
    if meaning is None or found is None:
        return None
    if found.kind in {"hq", "other"}:
        return None
    specific = f"{found.kind}_{meaning}" if found.kind else meaning
    return next((field for field in (specific, meaning) if field in UPLOAD_FIELDS), None)
