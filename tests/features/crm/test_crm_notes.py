"""The sentences of notes that are stored with a push."""

from __future__ import annotations

from app.features.crm.vendors import notes
from app.features.crm.vendors.errors import Refusal
from app.features.crm.vendors.notes import Note, NoteCode


def test_a_note_says_which_property_was_refused_and_why() -> None:
    stored = Note(NoteCode.PROPERTY_REFUSED, "jobtitle", Refusal.TOO_LONG).as_json()

    assert notes.described(stored)["message"] == (
        "The CRM refused the value of this property: it is too long. The others were written."
    )


def test_a_note_without_a_property_is_its_sentence() -> None:
    stored = Note(NoteCode.EXISTING_LEAD).as_json()

    assert notes.described(stored) == {
        "code": "existing_lead",
        "property": None,
        "reason": None,
        "message": notes.SENTENCES[NoteCode.EXISTING_LEAD],
    }
