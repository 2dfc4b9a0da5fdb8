"""Notes of a receipt: what a push of one person did otherwise than asked, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from app.features.crm.vendors.errors import Refusal


class NoteCode(StrEnum):
    """What there is to say about a push of one person."""

    PROPERTY_REFUSED = "property_refused"
    COMPANY_IN_TRASH = "company_in_trash"
    COMPANY_REFUSED = "company_refused"
    EXISTING_LEAD = "existing_lead"
    CONVERTED_LEAD = "converted_lead"
    FOUND_BY_NAME = "found_by_name"
    OTHER_RECORDS = "other_records"
    OTHER_COMPANIES = "other_companies"


SENTENCES: Mapping[NoteCode, str] = {
    NoteCode.PROPERTY_REFUSED: "The CRM refused the value of this property: {reason}. "
    "The others were written.",
    NoteCode.COMPANY_IN_TRASH: "The company is in the CRM's trash. The person is not linked to it: "
    "restore it, or delete it for good, and push again.",
    NoteCode.COMPANY_REFUSED: "The CRM did not create the company. The person is not linked to it.",
    NoteCode.EXISTING_LEAD: "The person is a lead in the CRM. The lead was updated, and no contact created.",
    NoteCode.CONVERTED_LEAD: "The person was a lead in the CRM, which was converted to a contact. "
    "The contact was updated.",
    NoteCode.FOUND_BY_NAME: "No record has an address of the person. This one has the same name and company.",
    NoteCode.OTHER_RECORDS: "Other records in the CRM have an address of the person too. "
    "They were not changed.",
    NoteCode.OTHER_COMPANIES: "Several companies in the CRM fit. The first of them is linked, unless you "
    "name another.",
}
REASONS: Mapping[Refusal, str] = {
    Refusal.NOT_AN_OPTION: "it is not one of the options there",
    Refusal.TOO_LONG: "it is too long",
    Refusal.INVALID: "it is not valid there",
    Refusal.UNKNOWN_PROPERTY: "the property does not exist, or the credentials may not see it",
    Refusal.READ_ONLY: "the credentials may not write the property",
    Refusal.DUPLICATE: "another record has this value",
    Refusal.UNNAMED: "it refused all values together, and accepted the name and the address",
}


@dataclass(frozen=True, slots=True)
class Note:
    """A note, with the property that was not written and the reason of the refusal, if there are any."""

    code: NoteCode
    property: str | None = None
    reason: Refusal | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the note as it is stored, without what is empty."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def refused(properties: Mapping[str, Refusal]) -> list[Note]:
    """Return a note for each refused property."""
    return [Note(NoteCode.PROPERTY_REFUSED, name, reason) for name, reason in properties.items()]


def described(stored: Mapping[str, Any]) -> dict[str, str | None]:
    """Return a stored note with its sentence."""
    reason = stored.get("reason")
    why = REASONS[Refusal(reason)] if reason else ""
    return {
        "code": stored["code"],
        "property": stored.get("property"),
        "reason": reason,
        "message": SENTENCES[NoteCode(stored["code"])].format(reason=why),
    }
