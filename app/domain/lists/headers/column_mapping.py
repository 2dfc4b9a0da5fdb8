"""Column mappings: the fields of a list's columns, from its headers and the operator's mapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from app.domain.errors import InvalidValue
from app.domain.lists.headers.header_fields import FIELDS, NAME_HEADERS, Column, column
from app.domain.lists.headers.name_headers import is_family_first
from app.domain.messages import Message
from app.domain.normal.texts.text_folding import fold

_IGNORE = frozenset({"", "-", "ignore", "skip", "none"})
_BARE_NAME = frozenset({"name", "nom", "naam", "namn", "navn", "nimi", "nama", "الاسم", "اسم"})
_NAME_OR_SURNAME = "nom"  # in Catalonia, and in France
_STATUS_OR_STATE = "estado"  # in Spanish and Portuguese
_SURNAME, _NICKNAME_OR_SURNAME = "sobrenome", "apelido"  # in Brazil, and in Portugal
_MIDDLE_NAME_OR_SURNAME = "презиме"  # in Bulgaria, and in Serbia
_OF_COMPANIES = {
    "full_name": "company_name",
    "linkedin_url": "company_linkedin_url",
    "city": "company_city",
    "state": "company_state",
    "country": "company_country",
    "location": "company_location",
}


class Entity(StrEnum):
    """The type of a list's rows."""

    CONTACTS = "contacts"
    COMPANIES = "companies"


@dataclass(frozen=True, slots=True)
class ValueColumns:
    """The columns of one e-mail or phone: `index` has the value, `attributes` have its attributes."""

    index: int
    kind: str | None
    attributes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """The columns of a list and their fields.

    `single` maps a field to the indexes of its columns, the most reliable first. `meanings` maps each header
    to its field, or to None if the column is ignored. `family_first` are the columns of names whose header
    says that the family name comes first, `unknown` those whose header names no field.
    """

    header: tuple[str, ...]
    entity: Entity
    single: Mapping[str, tuple[int, ...]]
    emails: tuple[ValueColumns, ...]
    phones: tuple[ValueColumns, ...]
    meanings: Mapping[str, str | None]
    family_first: frozenset[int] = frozenset()
    unknown: tuple[int, ...] = ()

    @property
    def known_count(self) -> int:
        """Return the number of columns with a known field."""
        value_columns = self.emails + self.phones
        indexes = {index for indexes in self.single.values() for index in indexes}
        return len(
            indexes.union(
                *({value_column.index, *value_column.attributes.values()} for value_column in value_columns)
            )
        )

    def has(self, name: str) -> bool:
        """Return whether there is a column of this name, ignoring case and punctuation."""
        return fold(name) in map(fold, self.header)

    @property
    def names_rows(self) -> bool:
        """Return whether at least one column can identify the person or company of a row."""
        if self.entity is Entity.COMPANIES:
            return not {"company_name", "company_domain", "company_linkedin_url", "url"}.isdisjoint(
                self.single
            )
        identifies_person = not {"full_name", "first_name", "last_name", "linkedin_url", "url"}.isdisjoint(
            self.single
        )
        return identifies_person or bool(self.emails or self.phones)


def map_columns(
    header: Sequence[str],
    entity: Entity,
    mapped: Mapping[str, str] | None = None,
    ignored: Collection[int] = (),
) -> ColumnMapping:
    """Return the mapping of a header; `mapped` assigns fields to header texts and takes precedence.

    The columns with the indexes in `ignored` have no field.
    """
    overrides = {fold(name): target for name, target in (mapped or {}).items()}
    columns = [None if index in ignored else _column(text, overrides) for index, text in enumerate(header)]
    if entity is Entity.COMPANIES:
        columns = [_of_company(found) for found in columns]
    else:
        columns = _with_state(header, _without_nickname(header, _with_bare_name(header, columns)))
    numbered = _disambiguate(columns)
    single: dict[str, list[int]] = {}
    for index, found in enumerate(columns):
        if found and (found.field == "email_verified_at" or not found.field.startswith(("email", "phone"))):
            single.setdefault(found.field, []).append(index)
    return ColumnMapping(
        header=tuple(header),
        entity=entity,
        single={field: _by_confidence(indexes, columns) for field, indexes in single.items()},
        emails=_value_columns("email", numbered),
        phones=_value_columns("phone", numbered),
        meanings={text: found.field if found else None for text, found in zip(header, columns, strict=True)},
        family_first=family_first_columns(header),
        unknown=unknown_columns(header, overrides),
    )


def family_first_columns(header: Sequence[str]) -> frozenset[int]:
    """Return the positions of the headers that say that the family name comes first."""
    return frozenset(index for index, text in enumerate(header) if is_family_first(text, NAME_HEADERS))


def unknown_columns(header: Sequence[str], mapped: Collection[str] = ()) -> tuple[int, ...]:
    """Return the positions of headers that name no field and, folded, are not in `mapped`."""
    return tuple(
        index for index, text in enumerate(header) if column(text) is None and fold(text) not in mapped
    )


def check_mapping(mapped: Mapping[str, str]) -> None:
    """Check that every target field exists.

    Raises:
        InvalidValue: a field does not exist; the message names it and lists the valid fields.

    """
    for target in mapped.values():
        if fold(target) not in _IGNORE and column(target) is None:
            raise InvalidValue(
                Message(
                    "'{target}' is not a field. Map a column to one of: {names}; or to ignore.",
                    target=target,
                    names=", ".join(FIELDS),
                )
            )


def explain_unknown(header: Iterable[str], entity: Entity) -> str:
    """Return the error message for a list in which no column identifies the rows."""
    found = ", ".join(repr(name) for name in header if name.strip()) or "none"
    needed = "a name, an e-mail, a phone or a LinkedIn profile"
    if entity is Entity.COMPANIES:
        needed = "a company name, a domain or a LinkedIn page"
    return (
        f"No column with {needed} was recognised. Columns found: {found}. Assign fields with "
        f"--map 'column=field', once per column. Fields: {', '.join(FIELDS)}."
    )


def _column(text: str, overrides: Mapping[str, str]) -> Column | None:
    target = overrides.get(fold(text))
    if target is None:
        return column(text)
    if fold(target) in _IGNORE:
        return None
    found = column(target)
    return replace(found, rank=-1) if found else None


def _of_company(found: Column | None) -> Column | None:
    """Return the meaning in a list of companies, where `Name` and `City` are the company's."""
    if found is None or found.field.startswith(("email", "phone", "do_not_", "marketing_")):
        return None
    return replace(found, field=_OF_COMPANIES.get(found.field, found.field))


def _with_bare_name(header: Sequence[str], columns: list[Column | None]) -> list[Column | None]:
    """Read `Name` next to a first name (`Vorname`) as the last name, and next to a last name as the first."""
    names = [fold(text) for text in header]
    fields = Counter(found.field for found in columns if found)
    if not fields["last_name"] and _MIDDLE_NAME_OR_SURNAME in names:
        return _replaced(columns, [name == _MIDDLE_NAME_OR_SURNAME for name in names], "last_name")
    is_full = [found is not None and found.field == "full_name" for found in columns]
    if fields["first_name"] and not fields["last_name"]:
        bare = [is_name and name in _BARE_NAME for is_name, name in zip(is_full, names, strict=True)]
        return _replaced(columns, bare, "last_name")
    if fields["last_name"] > names.count(_NAME_OR_SURNAME) and not fields["first_name"]:
        bare = [
            (is_name and name in _BARE_NAME) or name == _NAME_OR_SURNAME
            for is_name, name in zip(is_full, names, strict=True)
        ]
        return _replaced(columns, bare, "first_name")
    return columns


def _replaced(columns: list[Column | None], chosen: Sequence[bool], field: str) -> list[Column | None]:
    return [Column(field) if is_chosen else found for found, is_chosen in zip(columns, chosen, strict=True)]


def _without_nickname(header: Sequence[str], columns: list[Column | None]) -> list[Column | None]:
    """Leave out `Apelido` next to `Sobrenome`: it is the nickname then."""
    names = [fold(text) for text in header]
    if _SURNAME not in names:
        return columns
    return [
        None if name == _NICKNAME_OR_SURNAME else found for name, found in zip(names, columns, strict=True)
    ]


def _with_state(header: Sequence[str], columns: list[Column | None]) -> list[Column | None]:
    """Read `Estado` next to a city as the state, not as a status."""
    if all(found is None or found.field != "city" for found in columns):
        return columns
    return [
        Column("state") if fold(text) == _STATUS_OR_STATE else found
        for text, found in zip(header, columns, strict=True)
    ]


def _disambiguate(columns: Iterable[Column | None]) -> list[Column | None]:
    """Assign columns of one meaning to own groups: the second `Email` gets the second status."""
    seen: dict[tuple[str, str], int] = {}
    numbered: list[Column | None] = []
    for found in columns:
        if found is None:
            numbered.append(None)
            continue
        times = seen[found.field, found.group] = seen.get((found.field, found.group), 0) + 1
        numbered.append(found if times == 1 else replace(found, group=f"{found.group} #{times}"))
    return numbered


def _value_columns(field: str, columns: Sequence[Column | None]) -> tuple[ValueColumns, ...]:
    """Join each value with its attribute columns; attributes without a value go to the first value."""
    attributes: dict[str, dict[str, int]] = {}
    values: dict[str, tuple[int, str | None]] = {}
    for index, found in enumerate(columns):
        if found and found.field == field:
            values[found.group] = (index, found.kind)
        elif found and found.field.startswith(f"{field}_"):
            attributes.setdefault(found.group, {})[found.field.removeprefix(f"{field}_")] = index
    value_columns = [
        ValueColumns(index, kind, attributes.pop(group, {})) for group, (index, kind) in values.items()
    ]
    if value_columns:
        unassigned = {name: index for group in reversed(attributes.values()) for name, index in group.items()}
        value_columns[0] = replace(
            value_columns[0], attributes=unassigned | dict(value_columns[0].attributes)
        )
    return tuple(value_columns)


def _by_confidence(indexes: Iterable[int], columns: Sequence[Column | None]) -> tuple[int, ...]:
    return tuple(sorted(indexes, key=lambda index: found.rank if (found := columns[index]) else 0))
