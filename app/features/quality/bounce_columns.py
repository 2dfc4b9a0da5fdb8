"""The columns of a bounce list: where the addresses are, and which cells say what happened.

The names are those of the exports in tests/features/quality/cases/exports.txt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.domain.lists.cells.flags import is_unsubscribed, read_opt_out
from app.domain.lists.files.csv_records import Row
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.normal.texts.text_folding import fold, split_camel
from app.engine.contacts.bounce_reports import FeedbackKind
from app.features.quality import bounce_words
from app.features.quality.no_bounces import NoBounce

_ADDRESSES = frozenset({"recipient", "address", "to", "email address", "emailaddress", "rcpt", "rcpt to"})
"""Headers of addresses in bounce lists that other lists use for something else."""
_WHAT = (
    *("kind", "report", "type", "bounce type", "bouncetype", "bounce category", "bounce cat", "severity"),
    *("category", "suppression reason", "suppressionreason", "event", "st text", "mailerror", "result"),
    *("status", "status code", "code", "error code", "bounce code", "dsn status"),
)
"""Headers of what happened, the surest first; a word below them that is not known is not guessed."""
_WHY = (
    *("reason", "bounce reason", "hard bounce reason", "error", "details", "description", "message"),
    *("diagnostic", "dsn diag", "response"),
)
"""Headers of what a server answered, or of notes."""
_KINDS = re.compile(
    r"(?:status|result|event|outcome|verdict|statut|estado|bounce reason)$"
    r"|(?:bounce|rebond|rebote|rimbalzo) ?(?:typ|art)"
    r"|\b(?:typ|tipo)[a-z]* (?:de |di |des )?(?:bounce|rebond|rebote|rimbalzo)"
)
_BOUNCED = re.compile(r"(?:(?:is|has|emails?) )*(?:hard )?bounced?(?: at| on| date| count| time)?|clean time")
_INVALID = re.compile(r"(?:is )?invalid(?: e ?mail)?(?: address)?")
_HARD = "hard"
_UNWANTED = re.compile(r"unsub|opt(?:ed)? ?out|complain|spam report|desabonn|abgemeldet|abmeld")
_SENDERS = re.compile(r"\b(?:sender|from|return path|reply to)\b")
_RECIPIENTS = re.compile(r"\b(?:recipient|rcpt)\b")
_SUBSCRIBED = frozenset({"optin time", "confirm time", "member rating"})
"""Columns of Mailchimp's members of all kinds; those that are cleaned have a time of it."""
_BODY = frozenset({"body", "message body", "nachrichtentext", "corps du message", "cuerpo"})
_QUOTED = re.compile(r"original message headers|^received: from", re.IGNORECASE | re.MULTILINE)
_ADDRESS = re.compile(r"(?<![\w.+'-])[\w.+'-]++@[\w-]+(?:\.[\w-]+)+")
_SAMPLE = 20
_STATE = "state"  # of a subscriber, or a part of a country
_BOUNCE = "bounce"


class Columns(NamedTuple):
    """The indexes of columns: of addresses, numbers, what happened, and of answers yes and no.

    Below `kinds`, an unknown word is not guessed. `hard` are those of `bounced` about hard bounces alone,
    `bodies` have the text of mails of programs, and `is_of_members` says that the list has all kinds of
    subscribers.
    """

    emails: tuple[int, ...]
    phones: tuple[int, ...]
    kinds: tuple[int, ...]
    why: tuple[int, ...]
    bounced: tuple[int, ...]
    hard: tuple[int, ...]
    unwanted: tuple[int, ...]
    bodies: tuple[int, ...] = ()
    is_of_members: bool = False


def count_known(cells: Sequence[str]) -> int:
    """Return how many cells are headers of a bounce list."""
    own = sum(_name(cell) in {*_ADDRESSES, *_WHAT, *_WHY} for cell in cells)
    return own + map_columns(list(cells), Entity.CONTACTS).known_count


def of_list(header: Sequence[str], rows: Sequence[Row]) -> Columns:
    """Return the columns of a list with these rows."""
    layout = map_columns(list(header), Entity.CONTACTS)
    names = [_name(each) for each in header]
    phones = tuple(slot.index for slot in layout.phones)
    emails = tuple(slot.index for slot in layout.emails if not _SENDERS.search(names[slot.index]))
    bodies = tuple(index for index, name in enumerate(names) if name in _BODY)
    if not emails and not phones:
        emails = _addresses(names, rows)
    taken = {*emails, *phones}
    free = {index: name for index, name in enumerate(names) if index not in taken}
    states = tuple(index for index, name in free.items() if name == _STATE and _says_something(index, rows))
    bounced = tuple(index for index, name in free.items() if _BOUNCED.fullmatch(name))
    return Columns(
        emails=emails,
        phones=phones,
        kinds=(*_ranked(free, _WHAT, _KINDS), *states),
        why=tuple(_ranked(free, _WHY, None) if _is_named(names) else free),
        bounced=bounced + tuple(index for index, name in free.items() if _INVALID.fullmatch(name)),
        hard=tuple(index for index in bounced if _HARD in names[index]),
        unwanted=tuple(index for index, name in free.items() if _UNWANTED.search(name)),
        bodies=bodies if any(map(_SENDERS.search, names)) else (),
        is_of_members=not _SUBSCRIBED.isdisjoint(names),
    )


def is_of_unwanted(file_name: str) -> bool:
    """Return whether a file is called after people who do not want mail: `unsubscribes.csv`."""
    name = _name(file_name)
    return _UNWANTED.search(name) is not None and _BOUNCE not in name


def said(cells: Sequence[str], columns: Columns) -> FeedbackKind | NoBounce | None:
    """Return what a row says happened; None if it says nothing."""
    if any(read_opt_out(cells[index]) or is_unsubscribed(cells[index]) for index in columns.unwanted):
        return NoBounce.UNWANTED
    words = [cells[index] for index in (*columns.kinds, *columns.why)]
    words += [_QUOTED.split(cells[index])[0] for index in columns.bodies]
    answers = {index: read_opt_out(cells[index]) for index in columns.bounced}
    other = [cells[index] for index, answer in answers.items() if answer is None]
    found = bounce_words.meaning([*other, *words])
    if any(answers.values()):
        return bounce_words.meaning([_BOUNCE, *words])
    if found is FeedbackKind.BOUNCE and any(answers[index] is False for index in columns.hard):
        return NoBounce.TEMPORARY
    if found is None and columns.bounced:
        return NoBounce.OTHER
    if found is None and (columns.is_of_members or any(fold(cells[index]) for index in columns.kinds)):
        return NoBounce.UNCLEAR
    return found


def failed(cells: Sequence[str], columns: Columns) -> str:
    """Return the address that the mail of a program is about: the first in its text, of neither side."""
    sides = {text for index, cell in enumerate(cells) if index not in columns.bodies for text in _found(cell)}
    named = (text for index in columns.bodies for text in _found(cells[index]) if text not in sides)
    return next(named, "")


def _found(text: str) -> list[str]:
    return [found.lower().rstrip(".") for found in _ADDRESS.findall(text)]


def _name(header: str) -> str:
    return fold(split_camel(header))


def _ranked(names: dict[int, str], known: Sequence[str], others: re.Pattern[str] | None) -> Iterator[int]:
    """Yield the columns with the known names in their order, then those with names like it."""
    for wanted in known:
        yield from (index for index, name in names.items() if name == wanted)
    if others is not None:
        yield from (index for index, name in names.items() if name not in known and others.search(name))


def _addresses(names: Sequence[str], rows: Sequence[Row]) -> tuple[int, ...]:
    """Return the columns of recipients, else the one with most addresses that is not of senders.

    Without a header, all columns are returned in which most cells are addresses.
    """
    named = tuple(index for index, name in enumerate(names) if name in _ADDRESSES)
    recipients = tuple(index for index, name in enumerate(names) if _RECIPIENTS.search(name))
    if named or recipients:
        return named or recipients
    sample = [row.cells for row in rows[:_SAMPLE] if row.fault is None]
    if not _is_named(names):
        return tuple(index for index in range(len(names)) if _is_of_addresses([row[index] for row in sample]))
    counts = [
        sum("@" in cells[index] for cells in sample) if not _SENDERS.search(name) else 0
        for index, name in enumerate(names)
    ]
    most = max(counts, default=0)
    return (counts.index(most),) if most else ()


def _says_something(index: int, rows: Sequence[Row]) -> bool:
    sample = (row.cells[index] for row in rows[:_SAMPLE] if row.fault is None)
    return any(bounce_words.meaning([cell]) is not None for cell in sample)


def _is_named(names: Sequence[str]) -> bool:
    """Return whether the list has a header."""
    return any(name != f"column {number}" for number, name in enumerate(names, 1))


def _is_of_addresses(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and sum("@" in cell for cell in filled) * 2 >= len(filled)
