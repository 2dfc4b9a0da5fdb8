"""A person as a CRM has them: what a vendor reads from a record, in normal form."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from app.engine.own_records.recorded_people import RecordedPerson, line


class RecordKind(StrEnum):
    """What a record is in its CRM."""

    CONTACT = "contact"
    LEAD = "lead"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmPerson(RecordedPerson):
    """A person in a CRM, as it has them or in normal form.

    `changed_at` is when the record was changed, by the clock of the CRM. `owner` is the name of the colleague
    who owns the record, `stage` the CRM's name of its status.
    """

    crm_id: str
    kind: RecordKind
    changed_at: datetime | None = None
    owner: str = field(default="", repr=False)
    stage: str = field(default="", repr=False)

    def normal(self) -> CrmPerson:
        """Return the person in normal form; values that are not valid are left out."""
        person = RecordedPerson.normal(self)
        return replace(person, owner=line(self.owner), stage=line(self.stage))
