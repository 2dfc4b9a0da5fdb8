"""What a workspace has of the people of a list: what is stored, and the records in its own systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app.domain.records.subjects import Subject
from app.engine.lookups import known_people, lookup_parts
from app.engine.lookups.field_requests import DEFAULT_FIELD_REQUESTS, ContactField
from app.engine.lookups.known_people import AssessedPerson, KnownPerson
from app.engine.lookups.lookup_parts import LookedUp, distinct
from app.engine.own_records import own_records
from app.engine.own_records.own_records import BATCH, Find, OwnRecord
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """A person of a list: what is stored of each requested field, and the records in the workspace's systems.

    Records that may be about somebody else are left out.
    """

    known: Mapping[ContactField, KnownPerson]
    records: Sequence[OwnRecord] = ()

    @property
    def suppressed(self) -> bool:
        """Return whether the person is suppressed."""
        return any(known.suppressed for known in self.known.values())

    @property
    def is_excluded(self) -> bool:
        """Return whether the workspace excludes the person."""
        return any(known.exclusion for known in self.known.values())


def read(
    session: Session,
    workspace_id: str,
    subjects: Sequence[Subject],
    fields: Sequence[ContactField],
    finds: Mapping[str, Find],
    *,
    default_max_age: timedelta,
    now: datetime,
) -> list[ListedPerson | None]:
    """Return the people, in order; None for a contact id that does not exist.

    `fields` are the requested values; without any, `known` has what is stored of the e-mail. `finds` are the
    sources to search, by name. They are searched for all that the workspace gave, also for an address about
    which it is told nothing else: its own records tell it nothing of others.
    """
    requests = [DEFAULT_FIELD_REQUESTS[name] for name in fields or (ContactField.EMAIL,)]
    people: list[ListedPerson | None] = []
    for start in range(0, len(subjects), BATCH):
        batch = subjects[start : start + BATCH]
        assessed = known_people.assess_list(
            session, workspace_id, batch, requests, default_max_age=default_max_age, now=now
        )
        looked_up = [
            _looked_up(workspace_id, subject, one) for subject, one in zip(batch, assessed, strict=True)
        ]
        found = own_records.find(session, finds, looked_up)
        people += [
            one and ListedPerson(one.fields, [record for record in records if record.is_certain])
            for one, records in zip(assessed, found, strict=True)
        ]
    return people


def _looked_up(workspace_id: str, subject: Subject, person: AssessedPerson | None) -> LookedUp:
    """Return the person for the systems of the workspace; nobody for one who is barred."""
    if person is None:
        return LookedUp(workspace_id=workspace_id)
    is_barred = any(known.is_barred for known in person.fields.values())
    found = lookup_parts.of_match(workspace_id, person.match, person.data, is_barred=is_barred)
    return found if is_barred else _with_given(found, subject)


def _with_given(found: LookedUp, subject: Subject) -> LookedUp:
    emails, phones = distinct(subject.email, *found.emails), distinct(subject.phone, *found.phones)
    return replace(found, emails=emails, phones=phones)
