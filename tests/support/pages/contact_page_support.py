"""Contacts of a workspace, and what the pages show of them."""

from __future__ import annotations

import re
from typing import Any

from stored_support import ADA_URL, a_company, a_contact, a_phone, an_email, own
from users_support import SignedInUser

from app.domain.ids import new_id
from app.engine.contacts.contacts import Contact


def reveal(user: SignedInUser, name: str = "Ada Lovelace", **changes: Any) -> Contact:
    """Store a contact of which the workspace owns e-mail and phone."""
    with user.database.transaction() as session:
        contact = a_contact(
            session, a_company(session, domain=f"{new_id('com')[4:]}.example"), name, **changes
        )
        an_email(session, contact, f"{name.split(maxsplit=1)[0].lower()}@acme.com")
        a_phone(session, contact, "+12025550143")
        for field in ("email", "phone"):
            own(session, user.workspace_id, contact, field)
        return contact


def save(user: SignedInUser, **body: Any) -> str:
    profile = {"linkedin_url": ADA_URL, "full_name": "Ada Lovelace"}
    answer = user.client.post(
        "/api/ext/linkedin-save", json={"profile": profile} | body, headers=user.headers
    )
    return str(answer.get_json()["saved_profile"]["id"])


def names(text: str) -> list[str]:
    return re.findall(r'<a dir="auto" href="/contacts/[^"]+">([^<]+)</a>', text)


def link(text: str, label: str) -> str:
    """Return the address of the link with this text."""
    found = re.search(rf'href="([^"]+)"[^>]*>{label}</a>', text)
    assert found, label
    return found[1].replace("&amp;", "&")
