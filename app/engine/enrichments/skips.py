"""Skipping: an enrichment leaves out people whom the workspace has already, and asks and charges nothing.

A person is skipped who is in one of the named sources: `owned`, the values that the workspace owns, or a kind
of system of its own, such as `crm`. With `has_field`, only fields that a source has are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from app import feature_registry
from app.domain.messages import Message
from app.engine.enrichments.listed_people import ListedPerson
from app.engine.lookups.field_requests import ContactField
from app.engine.own_records.own_records import OwnRecord

OWNED = "owned"
"""The source for people of whom the workspace owns all requested values."""
SKIP, SKIP_WHEN = "skip", "skip_when"
"""Keys in the request of an enrichment: the sources whose people are skipped, and when."""
_HAS = {
    frozenset({ContactField.EMAIL}): Message(
        "{title} has the e-mail address of this person, so no other was bought."
    ),
    frozenset({ContactField.PHONE}): Message(
        "{title} has the phone number of this person, so no other was bought."
    ),
    frozenset(ContactField): Message(
        "{title} has the e-mail address and the phone number of this person, so no other was bought."
    ),
}
"""What is said of the fields of a person that are skipped."""


class SkipWhen(StrEnum):
    """When a person is skipped: who is in a source, or only for the fields that the source has."""

    IN_SOURCE = "in_source"
    HAS_FIELD = "has_field"


@dataclass(frozen=True, slots=True)
class SkipRule:
    """Which people of a list are skipped; without sources nobody is."""

    sources: tuple[str, ...] = ()
    when: SkipWhen = SkipWhen.IN_SOURCE

    @classmethod
    def parse(cls, request: Mapping[str, Any]) -> SkipRule:
        """Parse the request of a job."""
        return cls(tuple(request.get(SKIP, ())), SkipWhen(request.get(SKIP_WHEN, SkipWhen.IN_SOURCE)))

    def to_request(self) -> dict[str, Any]:
        """Return what the request of a job has of the rule; nothing if nobody is skipped."""
        return {SKIP: list(self.sources), SKIP_WHEN: self.when.value} if self.sources else {}


NOBODY = SkipRule()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """Why a person is skipped, or only some `fields` of one who is not skipped as a whole.

    `record` is the person's in the source; None if the workspace owns the values.
    """

    source: str
    record: OwnRecord | None
    fields: tuple[ContactField, ...]
    is_whole: bool

    def to_json(self) -> dict[str, Any]:
        """Return what the result of the item has of it."""
        return {
            "source": self.source,
            "system": self.record.system if self.record else None,
            "title": self.record.title if self.record else None,
            "url": self.record.url if self.record else None,
            "fields": [field.value for field in self.fields],
        }


class _Has(NamedTuple):
    """The fields of a person that a source has; `record` is None if the workspace owns the values."""

    source: str
    record: OwnRecord | None
    fields: frozenset[ContactField]


@cache
def source_names() -> tuple[str, ...]:
    """Return the sources whose people can be skipped."""
    return (*(module.OWN_RECORDS.name for module in feature_registry.parts("own_records")), OWNED)


def decide(rule: SkipRule, person: ListedPerson, fields: Sequence[ContactField]) -> Skip | None:
    """Return why the person is skipped, None if not; `fields` are the requested values.

    Whoever is suppressed or excluded is not skipped: that comes first.
    """
    if not rule.sources or person.suppressed or person.is_excluded:
        return None
    found = [has for source in rule.sources for has in _found(source, person)]
    if rule.when is SkipWhen.HAS_FIELD:
        return _skip_fields(found, fields)
    known = (has for has in found if has.record or (fields and has.fields.issuperset(fields)))
    return next((_skip(has, fields) for has in known), None)


def _found(source: str, person: ListedPerson) -> Iterator[_Has]:
    if source != OWNED:
        for record in person.records:
            if record.source == source:
                yield _Has(source, record, fields_of(record))
    elif owned := frozenset(field for field, known in person.known.items() if known.owned):
        yield _Has(OWNED, None, owned)


def fields_of(record: OwnRecord) -> frozenset[ContactField]:
    """Return the fields of which the record has values."""
    values = {ContactField.EMAIL: record.emails, ContactField.PHONE: record.phones}
    return frozenset(field for field, of_field in values.items() if of_field)


def _skip_fields(found: Sequence[_Has], fields: Sequence[ContactField]) -> Skip | None:
    """Return which fields are skipped; owned ones count for the whole only, because they are free anyway."""
    covered = frozenset().union(*(has.fields for has in found))
    if not fields or not found:
        return None
    if covered.issuperset(fields):
        return _skip(next(has for has in found if has.fields.intersection(fields)), fields)
    in_records = [has for has in found if has.record and has.fields.intersection(fields)]
    if not in_records:
        return None
    skipped = [field for field in fields if any(field in has.fields for has in in_records)]
    return _skip(in_records[0], skipped, is_whole=False)


def _skip(has: _Has, fields: Sequence[ContactField], *, is_whole: bool = True) -> Skip:
    return Skip(source=has.source, record=has.record, fields=tuple(fields), is_whole=is_whole)


def sentence(skipped: Mapping[str, Any], *, is_whole: bool) -> str:
    """Return what the result of an item says of a skip."""
    if not is_whole:
        return _HAS[frozenset(map(ContactField, skipped["fields"]))].format(title=skipped["title"])
    if skipped["title"]:
        return Message(
            "This person is in {title}, and the request skips such people, so nobody was asked and nothing "
            "was charged.",
            title=skipped["title"],
        )
    return Message(
        "Your workspace owns these values, and the request skips such people, so nobody was asked and "
        "nothing was charged."
    )
