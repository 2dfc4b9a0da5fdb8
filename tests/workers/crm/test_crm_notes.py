"""The sentences of notes that are stored with a push."""

from __future__ import annotations

from app.crm import notes
from app.crm.errors import Refusal
from app.crm.notes import Note, NoteCode


def test_a_note_says_which_property_was_refused_and_why() -> None:
    stored = Note(NoteCode.PROPERTY_REFUSED, "jobtitle", Refusal.TOO_LONG).as_json()

    assert notes.described(stored)["message"] == (
        "The CRM refused the value of this property: it is too long. The others were written."
    )


def test_a_note_of_an_earlier_release_has_a_general_sentence() -> None:
    assert notes.described({"code": "no_longer_known"}) == {
        "code": "no_longer_known",
        "property": None,
        "reason": None,
        "message": "Not everything was done as asked.",
    }


def test_a_reason_of_an_earlier_release_has_a_general_sentence() -> None:
    stored = {"code": "property_refused", "property": "jobtitle", "reason": "no_longer_known"}

    assert notes.described(stored)["message"] == (
        "The CRM refused the value of this property: it did not accept it. The others were written."
    )
