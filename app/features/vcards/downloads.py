"""The download of a card, for the API and the pages."""

from __future__ import annotations

from flask import Response

from app.domain.audit_actions import Action
from app.engine.owned import owned_contacts
from app.features.vcards import cards
from app.features.vcards.cards import Version
from app.web.bodies.downloads import as_file
from app.web.export_records import record_export
from app.web.owned.owned_pages import may_see_values
from app.web.services import services
from app.web.sign_in.admins import acts_as_admin
from app.web.sign_in.auth import caller

TYPE = "text/vcard"


def download(person_id: str, version: Version) -> Response:
    """Return the card of a person whom the workspace revealed or saved.

    Raises:
        ContactNotFound: the workspace has no such person.

    """
    with services().database.reading() as session:
        person = owned_contacts.get(
            session, caller().workspace_id, person_id, as_admin=acts_as_admin(session, caller())
        )
    shown = person.public(with_values=may_see_values())
    record_export(Action.EXPORT_CONTACTS, person_id)
    response = Response(cards.vcard(shown, version), content_type=f"{TYPE}; charset=utf-8")
    return as_file(response, cards.file_name([shown["full_name"]]))
