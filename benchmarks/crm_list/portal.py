"""A HubSpot that keeps contacts, as far as readings and pushes ask it."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from benchmarks._json_server import JsonServer

_CONTACT = re.compile(r"/crm/v3/objects/contacts/(\d+)$")


class Portal(JsonServer):
    """A portal with contacts by id, beginning with those it is given."""

    def __init__(self, contacts: Iterable[Mapping[str, str]]) -> None:
        super().__init__()
        self.contacts: dict[int, dict[str, str]] = {}
        self._by_email: dict[str, int] = {}
        self._lock = threading.Lock()
        for contact in contacts:
            self._store(len(self.contacts) + 1, dict(contact))

    def duplicates(self) -> list[str]:
        """Return the profiles that more than one contact has."""
        counts = Counter(contact["hs_linkedin_url"] for contact in self.contacts.values())
        return [profile for profile, count in counts.items() if count > 1]

    def answer(
        self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any]
    ) -> tuple[HTTPStatus, object]:
        """Return what is asked for; a search finds nobody by a secondary address, and no changes."""
        with self._lock:
            if found := _CONTACT.search(path):
                number = int(found.group(1))
                self._store(number, self.contacts[number] | body["properties"])
                return HTTPStatus.OK, self._shown(number)
            if path.endswith("/batch/read"):
                return HTTPStatus.OK, {"results": [self._shown(number) for number in self._read(body)]}
            if path.endswith("/contacts"):
                is_new = method == "POST"
                return self._create(body["properties"]) if is_new else (HTTPStatus.OK, self._listed(query))
        return HTTPStatus.OK, {"results": [], "portalId": 4242}

    def _create(self, properties: dict[str, str]) -> tuple[HTTPStatus, object]:
        if known := self._by_email.get(properties.get("email", "")):
            return HTTPStatus.CONFLICT, {"category": "CONFLICT", "message": f"Existing ID: {known}"}
        number = len(self.contacts) + 1
        self._store(number, properties)
        return HTTPStatus.CREATED, self._shown(number)

    def _read(self, body: Mapping[str, Any]) -> list[int]:
        wanted = [one["id"] for one in body["inputs"]]
        if body.get("idProperty") == "email":
            return [self._by_email[email] for email in wanted if email in self._by_email]
        return [int(number) for number in wanted if int(number) in self.contacts]

    def _listed(self, query: Mapping[str, str]) -> dict[str, Any]:
        after = int(query.get("after", 0))
        last = min(after + int(query.get("limit", 100)), len(self.contacts))
        more = {"paging": {"next": {"after": str(last)}}} if last < len(self.contacts) else {}
        return {"results": [self._shown(number) for number in range(after + 1, last + 1)]} | more

    def _store(self, number: int, properties: dict[str, str]) -> None:
        changed = {"lastmodifieddate": datetime.now(UTC).isoformat(timespec="milliseconds")}
        self.contacts[number] = properties | changed
        if email := properties.get("email"):
            self._by_email[email] = number

    def _shown(self, number: int) -> dict[str, Any]:
        return {"id": str(number), "properties": self.contacts[number]}
