"""/contacts/<contact id>/vcard: download a person as a vCard."""

from __future__ import annotations

from flask import Response, request

from app.domain.errors import NotFound
from app.features.vcards import downloads
from app.features.vcards.cards import VERSIONS
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.rate_limits import Policy, limited

blueprint = PageBlueprint("vcards_page", __name__, template_folder="templates")


@blueprint.get("/contacts/<contact_id>/vcard")
@signed_in
@limited(Policy.READ)
def download(contact_id: str) -> Response:
    """Download the card; version 3.0 unless another is asked for, as every address book reads it."""
    version = request.args.get("version", "3.0")
    if version not in VERSIONS:
        raise NotFound
    return downloads.download(contact_id, "4.0" if version == "4.0" else "3.0")
