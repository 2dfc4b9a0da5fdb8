"""The columns of an uploaded list: their fields, the proposed ones, and the person that a row names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from app.domain.errors import InvalidValue
from app.domain.findings import FoundContact
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.headers.column_mapping import (
    ColumnMapping,
    Entity,
    family_first_columns,
    map_columns,
    unknown_columns,
)
from app.domain.lists.headers.column_values import fit_columns
from app.domain.lists.headers.header_fields import column
from app.domain.lists.people_rows import NO_PERSON_ERROR, person_of
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.lists.warning_kinds import SHARED_IN_LIST, WEAK_PROFILE
from app.domain.messages import Message
from app.domain.records.profile_links import urls_of
from app.domain.records.shared_identifiers import shared_identifiers, without_shared
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
    "do_not_contact",
    "marketing_consent",
)
"""The fields that name a person, as a switchboard does not, or that say that the person opted out."""
NOT_IDENTIFIED = Message(
    "Other people of the list have the same profile, address or number, so it does not identify the person. "
    "The row needs one of its own, or a full name with a company or its domain."
)
_PERSONAL_PHONES = frozenset({"mobile", "direct"})


def count_known(cells: Sequence[str]) -> int:
    """Return how many of the cells are headers of people's data, to find the header of a list."""
    return map_columns(cells, Entity.CONTACTS).known_count


def propose(
    header: Sequence[str], rows: Sequence[Sequence[str]] = (), *, has_header: bool = True
) -> list[str | None]:
    """Return the field that each column probably has, None for those without.

    `rows` are the first ones: a column whose values do not fit its header has no field, and without a header
    the values decide.
    """
    fitted = fit_columns(header, Entity.CONTACTS, rows, has_header=has_header)
    if not has_header:
        return [fitted.guessed.get(index) for index in range(len(header))]
    proposed = _proposed(["" if index in fitted.unfit else text for index, text in enumerate(header)])
    return ["full_name" if index == fitted.full_name else field for index, field in enumerate(proposed)]


def _proposed(header: Sequence[str]) -> list[str | None]:
    meanings = map_columns(header, Entity.CONTACTS).meanings
    proposed = [_field(text, meanings[text]) for text in header]
    if "linkedin_url" not in proposed and "url" in meanings.values():
        return [
            "linkedin_url" if meanings[text] == "url" else field
            for text, field in zip(header, proposed, strict=True)
        ]
    return proposed


def layout_of(fields: Sequence[str | None], header: Sequence[str] = ()) -> ColumnMapping:
    """Return the mapping of a list whose columns have these fields; its header says the order of names."""
    layout = map_columns([field or "" for field in fields], Entity.CONTACTS)
    return replace(layout, family_first=family_first_columns(header), unknown=unknown_columns(header))


def names_people(fields: Sequence[str | None]) -> bool:
    """Return whether columns with these fields can name a person."""
    layout = layout_of(fields)
    has_name = "full_name" in layout.single or {"first_name", "last_name"} <= layout.single.keys()
    has_company = not {"company_name", "company_domain"}.isdisjoint(layout.single)
    is_identified = "linkedin_url" in layout.single or bool(layout.emails or layout.phones)
    return is_identified or (has_name and has_company)


def shared_in(
    rows: Iterable[Sequence[str]], layout: ColumnMapping, defaults: ImportDefaults
) -> frozenset[str]:
    """Return the profiles, addresses and numbers that several people of these rows have."""
    return shared_identifiers(_people(rows, layout, defaults))


def subject_of(row: RowValues, layout: ColumnMapping, shared: frozenset[str] = frozenset()) -> Subject:
    """Return the person that a row names; identifiers that other people of the list have do not count.

    A phone number of unknown or shared use counts only if nothing else names the person; a weak profile never
    does, since the person it leads to would be charged for.

    Raises:
        InvalidValue: the row identifies no person; the message says what it needs.

    """
    found = person_of(row, layout).found
    own = without_shared(found, shared) if shared else found
    subject = _subject(own)
    if own != found:
        row.warn("linkedin_url" if urls_of(own) != urls_of(found) else "email", SHARED_IN_LIST)
    if own.is_profile_weak:
        row.warn("linkedin_url", WEAK_PROFILE)
    if not (subject.has_exact_key or _names_with_company(subject)):
        raise InvalidValue(NOT_IDENTIFIED if own != found else NO_PERSON_ERROR)
    return subject


def _people(
    rows: Iterable[Sequence[str]], layout: ColumnMapping, defaults: ImportDefaults
) -> Iterator[FoundContact]:
    for cells in rows:
        try:
            yield person_of(RowValues(layout, cells, defaults, CellWarnings()), layout).found
        except InvalidValue:
            continue


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
