"""What an export of contacts has: cards (vCard), or a CSV file of Google, Outlook or any other program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from itertools import chain, islice

from app.domain.errors import InvalidValue
from app.domain.findings import FoundContact
from app.domain.lists import card_rows
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.cells.list_countries import SAMPLE, list_countries
from app.domain.lists.files import vcards
from app.domain.lists.files.csv_files import is_archive
from app.domain.lists.files.csv_records import Row
from app.domain.lists.files.tables import read_table
from app.domain.lists.headers import upload_columns
from app.domain.lists.headers.column_mapping import ColumnMapping, Entity, map_columns
from app.domain.lists.headers.column_values import fit_columns
from app.domain.lists.people_rows import person_of
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.messages import Message
from app.domain.normal.companies.company_names import parse_company
from app.domain.normal.names.placeholder_names import names_several
from app.domain.normal.texts.text_folding import fold
from app.domain.records.profile_links import urls_of
from app.features.address_books.people import BookPerson
from app.infra.telemetry.log import log

SOURCE = "address_book"
NO_COLUMN = Message(
    "No column with a name, an e-mail address, a phone number or a LinkedIn profile was recognised. Give the "
    "columns headers such as Name, E-mail and Phone, and send the file again."
)
WORKBOOK = Message("This is a workbook or an archive. Save the contacts as CSV, or export them as vCard.")
NO_CARDS = Message("The file has no contact cards. Export the contacts again.")
_CARDS = map_columns(card_rows.HEADER, Entity.CONTACTS)


@dataclass(frozen=True, slots=True)
class ContactFile:
    """The rows of a file and how its people are read from them."""

    rows: Iterator[Row]
    layout: ColumnMapping
    defaults: ImportDefaults

    def person(self, row: Row) -> BookPerson | None:
        """Return the person of a row; None if it names nobody, or cannot be read.

        A row that cannot be read, because of an error of this program, must not cost the others.
        """
        if row.fault is not None:
            return None
        values = RowValues(self.layout, row.cells, self.defaults, CellWarnings(), row.line)
        try:
            found = person_of(values, self.layout).found
        except InvalidValue:
            return None
        except Exception as error:  # noqa: BLE001 -- the others are read
            log.error("contact not read", line=row.line, exc_info=error)
            return None
        return _person(found, values, self.layout)


def read(content: bytes, *, country: str | None, now: datetime) -> ContactFile:
    """Return the contacts of a file; `country` is the one of its national numbers, if it is known.

    Raises:
        InvalidValue: the file has no contacts; the message says what to do.

    """
    content = vcards.attached(content)
    rows, layout = _of_cards(content) if vcards.is_vcard(content) else _of_table(content)
    sample = list(islice(rows, SAMPLE))
    if not sample:
        raise InvalidValue(NO_CARDS)
    countries = list_countries(layout, [row.cells for row in sample if row.fault is None])
    defaults = ImportDefaults(SOURCE, now, now, country, countries)
    return ContactFile(chain(sample, rows), layout, defaults)


def _of_cards(content: bytes) -> tuple[Iterator[Row], ColumnMapping]:
    return map(card_rows.row_of, vcards.read_cards(content)), _CARDS


def _of_table(content: bytes) -> tuple[Iterator[Row], ColumnMapping]:
    file = BytesIO(content)
    if is_archive(file):
        raise InvalidValue(WORKBOOK)
    table = read_table(file, upload_columns.count_known)
    sample = list(islice(table.rows, SAMPLE))
    cells = [row.cells for row in sample if row.fault is None]
    layout = fit_columns(table.header, Entity.CONTACTS, cells, has_header=table.has_header).layout
    if not layout.names_rows:
        raise InvalidValue(NO_COLUMN)
    return chain(sample, table.rows), layout


def _person(found: FoundContact, values: RowValues, layout: ColumnMapping) -> BookPerson | None:
    """Return the person of a row; None if what it has may be a company's, or that of several people."""
    company = found.company
    employer = (company.name if company else None) or ""
    name = "" if _is_company(employer, values) else found.full_name or ""
    is_shared = not name and bool(employer or names_several(_written_name(values)))
    person = BookPerson(
        name=name,
        emails=[] if is_shared and found.emails[1:] else [email.email for email in found.emails],
        phones=[] if is_shared else _phones(found, employer, values, layout),
        profiles=_profiles(found),
        company=employer,
        domain=(company.domain if company else None) or "",
        changed_at=values.first_time("updated_at"),
    )
    return person if name or person.emails or person.phones or person.profiles else None


def _is_company(employer: str, values: RowValues) -> bool:
    """Return whether the name is the company's, as programs write it that must give each contact a name.

    One in two parts is a person's who works under it, unless it has a legal form.
    """
    name = _written_name(values)
    if fold(name) != fold(employer):
        return False
    is_in_parts = values.text("first_name") and values.text("last_name")
    return not is_in_parts or bool(parse_company(name).form_classes)


def _written_name(values: RowValues) -> str:
    parts = (values.text("first_name"), values.text("last_name"))
    return values.text("full_name") or " ".join(filter(None, parts))


def _phones(found: FoundContact, employer: str, values: RowValues, layout: ColumnMapping) -> Sequence[str]:
    """Return the numbers without those of a whole company, which many people have.

    The main number of a person without a company is the person's.
    """
    labels = (values.cell(column.attributes.get("type")) for column in layout.phones)
    is_main = not employer and any(label and fold(label) == "main" for label in labels)
    return [phone.e164 for phone in found.phones if phone.type != "hq" or is_main]


def _profiles(found: FoundContact) -> Sequence[str]:
    return [] if found.is_profile_weak else sorted(urls_of(found))
