"""The rows of a list whose person does not want to be contacted: they are refused, and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from app.domain.errors import InvalidValue
from app.domain.lists.cells.flags import is_unsubscribed, read_consent, read_opt_out
from app.domain.lists.headers.column_mapping import ColumnMapping
from app.domain.lists.row_values import RowValues
from app.domain.lists.warning_kinds import OPTED_OUT
from app.domain.messages import Message

OPTED_OUT_ERROR = Message(
    "This person does not want to be contacted. The operator can hide the person everywhere: the row can be "
    "added to the suppression list with 'flask suppressions import'."
)
_STATUSES = ("status", "word_status")
_LONGEST_STATUS = 24
"""Characters. A longer cell of a column without a field is a text, whose words do not decide."""


def refuse_opted_out(row: RowValues, layout: ColumnMapping) -> None:
    """Refuse a row that says that its person opted out, or says it in a word that is not known.

    Raises:
        InvalidValue: the person opted out.

    """
    opted_out = next(_opted_out(row, layout), None)
    if opted_out is not None:
        row.warn(opted_out[0], OPTED_OUT, opted_out[1])
        raise InvalidValue(OPTED_OUT_ERROR)


def _opted_out(row: RowValues, layout: ColumnMapping) -> Iterator[tuple[str, int]]:
    """Yield the field and column of each cell that says that the person opted out."""
    for field, refuses in _REFUSALS.items():
        for index, text in row.filled(field) if field in layout.single else ():
            if row.refuses(field, index, refuses(text)):
                yield field, index
    for column in layout.emails:
        for name in _STATUSES:
            status = column.attributes.get(name)
            word = row.cell(status)
            if status is not None and word and is_unsubscribed(word):
                yield f"email_{name}", status
    for index in layout.unknown:
        word = row.cells[index]
        if 0 < len(word) <= _LONGEST_STATUS and is_unsubscribed(word):
            yield "do_not_contact", index


def _refuses_consent(text: str) -> bool | None:
    consents = read_consent(text)
    return None if consents is None else not consents


_REFUSALS: dict[str, Callable[[str], bool | None]] = {
    "do_not_contact": read_opt_out,
    "marketing_consent": _refuses_consent,
}
"""The fields of opt-outs, and what says whether a cell refuses contact."""
